/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef GREETING_H
#define GREETING_H

/* 56 bytes, the most that fits in a request on InfiniBand and RoCE. The receiver sees zeros behind
 * what was sent, and zeros only if nothing was sent: hence the magic. */
struct greeting {
    char magic[8];
    char text[48]; /* ends with a 0 */
};
#define GREETING_MAGIC "greeting"

#endif
