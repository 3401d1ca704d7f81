/* SPDX-License-Identifier: BSD-3-Clause */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../common/common.h"

int open_source(const char* path, struct source* source) {
    struct stat info;
    source->fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: do not hang on a FIFO */
    if (source->fd < 0 || fstat(source->fd, &info))
        return fail(path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return fail(path, "not a regular file");
    if (info.st_size == 0)
        return fail(path, "the file is empty, there is nothing to replicate");
    source->size = (size_t)info.st_size;
    return 0;
}

int read_source(const struct source* source, char* to, size_t offset, size_t length) {
    while (length > 0) {
        ssize_t got = pread(source->fd, to, length, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail("reading the source", got < 0 ? strerror(errno) : "it has become shorter");
        to += got;
        offset += (size_t)got;
        length -= (size_t)got;
    }
    return 0;
}
