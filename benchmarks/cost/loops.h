/* SPDX-License-Identifier: BSD-3-Clause */
/* One loop for each kind of call; set-up fills the objects. */
#ifndef LOOPS_H
#define LOOPS_H

#include <infiniband/verbs.h>
#include <librpma.h>

struct objects {
    struct rpma_conn* conn;
    struct rpma_cq* cq;
    struct rpma_srq* srq;
    struct rpma_mr_local* local;
    struct rpma_mr_remote* remote;
    struct ibv_qp qp; /* for calling the verbs themselves: only the context is filled */
    struct ibv_cq verbs_cq;
    struct ibv_send_wr send;
    struct ibv_recv_wr recv;
};

extern struct objects objects;

struct loop {
    const char* name;
    int (*run)(long iterations); /* 0, or what calls returned, OR-ed */
};

/* The first is the empty loop, the last has no name. */
extern const struct loop loops[];

#endif
