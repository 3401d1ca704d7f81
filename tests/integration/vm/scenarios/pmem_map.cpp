// SPDX-License-Identifier: BSD-3-Clause
#include "vm/scenarios/pmem_map.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace it {
namespace {

int open_path(const std::string& path, std::size_t size) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    struct stat info {};
    CHECK(fstat(fd, &info) == 0);
    if (S_ISREG(info.st_mode)) {
        CHECK(posix_fallocate(fd, 0, static_cast<off_t>(size)) == 0);
    }
    return fd;
}

pmem2_map* map_fd(int fd) {
    pmem2_config* config = nullptr;
    pmem2_source* source = nullptr;
    pmem2_map* map = nullptr;
    CHECK(pmem2_config_new(&config) == 0);
    CHECK(pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_CACHE_LINE) == 0);
    CHECK(pmem2_source_from_fd(&source, fd) == 0);
    if (pmem2_map_new(&map, config, source) != 0) {
        FAIL("libpmem2: %s", pmem2_errormsg());
    }
    CHECK(pmem2_source_delete(&source) == 0);
    CHECK(pmem2_config_delete(&config) == 0);
    return map;
}

}  // namespace

PmemMap::PmemMap(const std::string& path, std::size_t size) {
    const int fd = open_path(path, size);
    map_.reset(map_fd(fd));
    CHECK(close(fd) == 0);
    CHECK(pmem2_map_get_size(map_.get()) >= size);
    bytes_ = {static_cast<std::byte*>(pmem2_map_get_address(map_.get())), size};
}

void PmemMap::persist() const {
    pmem2_get_persist_fn(map_.get())(bytes_.data(), bytes_.size());
}

}  // namespace it
