/* SPDX-License-Identifier: BSD-3-Clause */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/common.h"

/* Reserves the blocks now: with a full disk a store into the mapping would end the process. */
static int grow(int fd, const char* path, off_t size) {
    struct stat now;
    if (fstat(fd, &now))
        return fail(path, strerror(errno));
    if (size == 0 && now.st_size == 0 && S_ISREG(now.st_mode)) /* device DAX has no size here */
        return fail(path, "the file is empty: give a size");
    if (size <= now.st_size)
        return 0;
    int error = posix_fallocate(fd, 0, size);
    if (error && ftruncate(fd, now.st_size))
        fail(path, strerror(errno));
    return error ? fail(path, strerror(error)) : 0;
}

static int map_fd(int fd, struct target* target) {
    struct pmem2_config* config = NULL;
    struct pmem2_source* source = NULL;
    struct pmem2_map* map = NULL; /* lives as long as the process, like the mapping */
    int ret = pmem2_config_new(&config);
    if (!ret)
        ret = pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE);
    if (!ret)
        ret = pmem2_source_from_fd(&source, fd);
    if (!ret)
        ret = pmem2_map_new(&map, config, source);
    if (!ret) {
        target->address = pmem2_map_get_address(map);
        target->size = pmem2_map_get_size(map);
        target->granularity = pmem2_map_get_store_granularity(map);
        target->persist = pmem2_get_persist_fn(map);
    }
    pmem2_source_delete(&source);
    pmem2_config_delete(&config);
    return ret;
}

int open_target(struct rpma_peer* peer, const char* path, off_t size, struct target* target) {
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(path, strerror(errno));
    int ret = grow(fd, path, size);
    if (ret == 0 && map_fd(fd, target))
        ret = fail(path, pmem2_errormsg());
    close(fd); /* the mapping stays */
    if (ret)
        return ret;
    int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY;
    if (target->granularity != PMEM2_GRANULARITY_PAGE)
        usage |= RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT; /* some devices refuse it for other memory */
    return check(rpma_mr_reg(peer, target->address, target->size, usage, &target->mr), path);
}
