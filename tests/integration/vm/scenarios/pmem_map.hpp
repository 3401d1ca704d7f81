// SPDX-License-Identifier: BSD-3-Clause
// Persistent memory mapped by libpmem2: device DAX, or a file of a DAX file system.
#pragma once

#include <libpmem2.h>

#include <memory>
#include <string>

#include "common/rpma.hpp"

namespace it {

class PmemMap {
public:
    // The first `size` bytes; a file is made that long. Fails unless stores are persistent without
    // a system call, as they are on real persistent memory only.
    PmemMap(const std::string& path, std::size_t size);

    Bytes bytes() const { return bytes_; }
    void persist() const;

private:
    struct Unmap {
        void operator()(pmem2_map* map) const { CHECK(pmem2_map_delete(&map) == 0); }
    };
    std::unique_ptr<pmem2_map, Unmap> map_;
    Bytes bytes_;
};

}  // namespace it
