/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of the General Purpose method: make this range durable; done. */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdint.h>

/* In host order: both sides are of one kind. The answer is the request it belongs to. */
struct request {
    uint64_t offset;
    uint64_t length; /* bytes */
};

#endif
