/* SPDX-License-Identifier: BSD-3-Clause */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

/* Reserves the blocks now: with a full disk a store into the mapping would end the process. */
static int grow(int fd, const char* path, size_t size) {
    struct stat now;
    if (fstat(fd, &now))
        return fail(path, strerror(errno));
    int error = now.st_size < (off_t)size ? posix_fallocate(fd, 0, (off_t)size) : 0;
    return error ? fail(path, strerror(error)) : 0;
}

static int map(int fd, const char* path, struct file* file) {
    struct pmem2_config* config = NULL;
    struct pmem2_source* source = NULL;
    struct pmem2_map* map = NULL; /* lives as long as the process, like the mapping */
    int ret = pmem2_config_new(&config) ||
              pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) ||
              pmem2_source_from_fd(&source, fd) || pmem2_map_new(&map, config, source);
    if (ret) {
        fail(path, pmem2_errormsg());
    } else {
        file->address = pmem2_map_get_address(map);
        file->size = pmem2_map_get_size(map);
        file->on_pmem = pmem2_map_get_store_granularity(map) != PMEM2_GRANULARITY_PAGE;
        file->persist = pmem2_get_persist_fn(map);
    }
    pmem2_source_delete(&source);
    pmem2_config_delete(&config);
    return ret;
}

int map_file(const char* path, size_t size, struct file* file) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(path, strerror(errno));
    int ret = grow(fd, path, size) || map(fd, path, file);
    close(fd); /* the mapping stays */
    return ret;
}
