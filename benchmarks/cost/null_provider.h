/* SPDX-License-Identifier: BSD-3-Clause */
/* A provider whose posting and polling do nothing, behind the unit tests' libibverbs and librdmacm
 * without a device. */
#ifndef NULL_PROVIDER_H
#define NULL_PROVIDER_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Posting on context succeeds, polling tells of one completion; neither looks at its arguments. */
void null_provider_take(struct ibv_context* context);

#ifdef __cplusplus
}
#endif
#endif
