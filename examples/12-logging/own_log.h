/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OWN_LOG_H
#define OWN_LOG_H

/* From now on the library's lines, events of connections included, go to stdout by a function of
 * this program. */
int use_own_log(void);

#endif
