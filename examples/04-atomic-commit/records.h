/* SPDX-License-Identifier: BSD-3-Clause */
/* The file: how many bytes of records are valid, then the records. A power failure at any time
 * leaves a number whose records are complete. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>

struct records {
    uint64_t used; /* in host order: both sides are of one kind */
    char unused[56];
    char bytes[4032];
};

#endif
