// SPDX-License-Identifier: BSD-3-Clause
#include "target_memory.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "error.hpp"
#include "unique_fd.hpp"
#include "units.hpp"

namespace perf {
namespace {

constexpr mode_t kFileMode = 0666;  // less the umask

struct DeleteSource {
    void operator()(pmem2_source* source) const { (void)pmem2_source_delete(&source); }
};
using Source = std::unique_ptr<pmem2_source, DeleteSource>;

struct DeleteConfig {
    void operator()(pmem2_config* config) const { (void)pmem2_config_delete(&config); }
};
using Config = std::unique_ptr<pmem2_config, DeleteConfig>;

void require(int result, const std::string& what) {
    if (result != 0) {
        fail("{}: {}", what, pmem2_errormsg());
    }
}

// Reserves the blocks now: with a full disk a store into the mapping would end the process.
void grow(int fd, const std::string& path, std::size_t size) {
    struct stat now {};
    if (fstat(fd, &now) != 0) {
        fail("{}: {}", path, errno_text());
    }
    if (!S_ISREG(now.st_mode) || static_cast<std::size_t>(now.st_size) >= size) {
        return;
    }
    if (const int error = posix_fallocate(fd, 0, static_cast<off_t>(size)); error != 0) {
        const char* const rest = ftruncate(fd, now.st_size) == 0 ? "" : "; a part of it is left";
        fail("{}: cannot make it {} large: {}{}", path, format_size(size), errno_text(error), rest);
    }
}

Source source_of(int fd, const std::string& path) {
    pmem2_source* raw = nullptr;
    require(pmem2_source_from_fd(&raw, fd), path);
    return Source(raw);
}

}  // namespace

TargetMemory::TargetMemory(const MemoryOptions& options) : direct_write_(options.direct_write) {
    if (options.path.empty()) {
        pmem2_source* raw = nullptr;
        require(pmem2_source_from_anon(&raw, options.size), "target memory");
        const Source source(raw);
        map(raw, options.size);
        kind_ = "DRAM";
        return;
    }
    const UniqueFd fd(open(options.path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
    if (!fd) {
        fail("{}: {}", options.path, errno_text());
    }
    grow(fd.get(), options.path, options.size);
    const Source source = source_of(fd.get(), options.path);
    std::size_t size = 0;
    require(pmem2_source_size(source.get(), &size), options.path);
    struct stat about {};
    (void)fstat(fd.get(), &about);
    map(source.get(), S_ISREG(about.st_mode) ? options.size : size);
    if (S_ISCHR(about.st_mode)) {
        kind_ = "device DAX";
    } else {
        const bool pmem = pmem2_map_get_store_granularity(map_.get()) != PMEM2_GRANULARITY_PAGE;
        kind_ = pmem ? "persistent memory" : "file";
    }
}

void TargetMemory::map(pmem2_source* source, std::size_t size) {
    pmem2_config* raw = nullptr;
    require(pmem2_config_new(&raw), "target memory");
    const Config config(raw);
    require(pmem2_config_set_required_store_granularity(raw, PMEM2_GRANULARITY_PAGE),
            "target memory");
    require(pmem2_config_set_length(raw, size), "target memory");
    pmem2_map* map = nullptr;
    require(pmem2_map_new(&map, raw, source), "target memory");
    map_.reset(map);
    data_ = static_cast<char*>(pmem2_map_get_address(map));
    size_ = pmem2_map_get_size(map);
    persist_ = pmem2_get_persist_fn(map);
}

}  // namespace perf
