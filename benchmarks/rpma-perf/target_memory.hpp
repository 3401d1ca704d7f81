// SPDX-License-Identifier: BSD-3-Clause
// What clients write into: anonymous memory, a file, or device DAX, mapped by libpmem2.
#pragma once

#include <libpmem2.h>

#include <cstddef>
#include <memory>
#include <string>

namespace perf {

struct MemoryOptions {
    std::string path;           // empty: DRAM
    std::size_t size = 0;       // of DRAM and of files; device DAX has its own
    bool direct_write = false;  // the adapter writes into the persistence domain without the CPU
};

class TargetMemory {
public:
    // Creates or grows a file to the size. Throws Error.
    explicit TargetMemory(const MemoryOptions& options);

    [[nodiscard]] char* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool direct_write() const { return direct_write_; }
    // "DRAM", "device DAX", "persistent memory" or "file".
    [[nodiscard]] std::string kind() const { return kind_; }
    // Makes a range durable as far as this kind of memory can.
    void persist(std::size_t offset, std::size_t size) const { persist_(data_ + offset, size); }

private:
    struct Unmap {
        void operator()(pmem2_map* map) const { (void)pmem2_map_delete(&map); }
    };
    void map(pmem2_source* source, std::size_t size);

    std::unique_ptr<pmem2_map, Unmap> map_;
    pmem2_persist_fn persist_ = nullptr;
    char* data_ = nullptr;
    std::size_t size_ = 0;
    bool direct_write_ = false;
    std::string kind_;
};

}  // namespace perf
