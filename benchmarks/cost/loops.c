/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The callers. A caller passes its arguments and counts failures, as every program does. The empty
 * loop counts them too, so that what is left when it is taken off is: passing the arguments, the
 * call, the library, the provider.
 */
#include "loops.h"

#include <stddef.h>

struct objects objects;

/* Each loop is a function of its own, so that the compiler keeps nothing from one call to the next.
 */
#define LOOP(name, call)                                         \
    static __attribute__((noinline)) int name(long iterations) { \
        int failed = 0;                                          \
        for (long i = 0; i < iterations; i++) {                  \
            failed |= (call);                                    \
            __asm__ volatile("" ::: "memory");                   \
        }                                                        \
        return failed;                                           \
    }

#define CONTEXT ((const void*)0x1234)
#define ALWAYS RPMA_F_COMPLETION_ALWAYS

static struct ibv_wc completions[16];
static int got;
static struct ibv_send_wr* bad_send;
static struct ibv_recv_wr* bad_recv;
static const char eight_bytes[8] = "12345678";

/* A result from nowhere. */
static inline int no_call(void) {
    int result = 0;
    __asm__ volatile("" : "+r"(result));
    return result;
}

LOOP(empty, no_call())
LOOP(write_, rpma_write(objects.conn, objects.remote, 64, objects.local, 128, 512, ALWAYS, CONTEXT))
LOOP(read_, rpma_read(objects.conn, objects.local, 64, objects.remote, 128, 512, ALWAYS, CONTEXT))
LOOP(send_, rpma_send(objects.conn, objects.local, 64, 512, ALWAYS, CONTEXT))
LOOP(recv_, rpma_recv(objects.conn, objects.local, 64, 512, CONTEXT))
LOOP(srq_recv, rpma_srq_recv(objects.srq, objects.local, 64, 512, CONTEXT))
LOOP(flush_visible,
     rpma_flush(objects.conn, objects.remote, 64, 512, RPMA_FLUSH_TYPE_VISIBILITY, ALWAYS, CONTEXT))
LOOP(flush_persistent,
     rpma_flush(objects.conn, objects.remote, 64, 512, RPMA_FLUSH_TYPE_PERSISTENT, ALWAYS, CONTEXT))
LOOP(atomic_write,
     rpma_atomic_write(objects.conn, objects.remote, 64, eight_bytes, ALWAYS, CONTEXT))
LOOP(write_with_imm, rpma_write_with_imm(objects.conn, objects.remote, 64, objects.local, 128, 512,
                                         ALWAYS, 7, CONTEXT))
LOOP(send_with_imm, rpma_send_with_imm(objects.conn, objects.local, 64, 512, ALWAYS, 7, CONTEXT))
LOOP(completion, rpma_cq_get_wc(objects.cq, 1, completions, NULL))
LOOP(completions_of_16, rpma_cq_get_wc(objects.cq, 16, completions, &got))
/* What no library can do without: the work request stands ready, only the verb is called. */
LOOP(post_send, ibv_post_send(&objects.qp, &objects.send, &bad_send))
LOOP(post_recv, ibv_post_recv(&objects.qp, &objects.recv, &bad_recv))
LOOP(poll_cq, ibv_poll_cq(&objects.verbs_cq, 1, completions) != 1)

const struct loop loops[] = {
    {"empty", empty},
    {"write", write_},
    {"read", read_},
    {"send", send_},
    {"recv", recv_},
    {"flush", flush_persistent},
    {"atomic_write", atomic_write},
    {"completion", completion},
    {"flush_visible", flush_visible},
    {"srq_recv", srq_recv},
    {"write_with_imm", write_with_imm},
    {"send_with_imm", send_with_imm},
    {"completions_of_16", completions_of_16},
    {"ibv_post_send", post_send},
    {"ibv_post_recv", post_recv},
    {"ibv_poll_cq", poll_cq},
    {NULL, NULL},
};
