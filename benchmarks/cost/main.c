/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpma-cost ITERATIONS: runs every loop. Under callgrind each leaves a dump of its own, named after
 * the loop; else the nanoseconds per call are printed. `cost` starts it, with the null provider and
 * the library to measure preloaded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "loops.h"
#include "null_provider.h"

#define REGION_SIZE 65536
#define EVERY_USAGE 0xff

static void require(int result, const char* what) {
    if (result != 0) {
        fprintf(stderr, "rpma-cost: %s failed: %s\n", what, rpma_err_2str(result));
        exit(1);
    }
}

#define REQUIRE(call) require((call), #call)

static void make_regions(struct rpma_peer* peer) {
    char descriptor[64];
    size_t size = 0;
    void* memory =
        mmap(NULL, REGION_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("rpma-cost: mmap");
        exit(1);
    }
    REQUIRE(rpma_mr_reg(peer, memory, REGION_SIZE, EVERY_USAGE, &objects.local));
    REQUIRE(rpma_mr_get_descriptor_size(objects.local, &size));
    if (size > sizeof(descriptor)) {
        fprintf(stderr, "rpma-cost: descriptors of %zu bytes\n", size);
        exit(1);
    }
    REQUIRE(rpma_mr_get_descriptor(objects.local, descriptor));
    REQUIRE(rpma_mr_remote_from_descriptor(descriptor, size, &objects.remote));
}

static void connect_to_nobody(struct rpma_peer* peer) {
    struct rpma_conn_req* request;
    struct rpma_peer_cfg* cfg;
    REQUIRE(rpma_conn_req_new(peer, "192.0.2.1", "7204", NULL, &request));
    REQUIRE(rpma_conn_req_connect(&request, NULL, &objects.conn));
    REQUIRE(rpma_peer_cfg_new(&cfg));
    REQUIRE(rpma_peer_cfg_set_direct_write_to_pmem(cfg, true));
    REQUIRE(rpma_conn_apply_remote_peer_cfg(objects.conn, cfg));
    REQUIRE(rpma_peer_cfg_delete(&cfg));
    REQUIRE(rpma_conn_get_cq(objects.conn, &objects.cq));
    REQUIRE(rpma_srq_new(peer, NULL, &objects.srq));
}

static void set_up(void) {
    struct ibv_context* context = NULL;
    struct rpma_peer* peer = NULL;
    REQUIRE(rpma_utils_get_ibv_context("192.0.2.1", RPMA_UTIL_IBV_CONTEXT_REMOTE, &context));
    REQUIRE(rpma_peer_new(context, &peer));
    make_regions(peer);
    connect_to_nobody(peer);
    null_provider_take(context);
    objects.qp.context = context;
    objects.verbs_cq.context = context;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void measure(const struct loop* loop, long iterations) {
    require(loop->run(1), loop->name); /* dynamic linking is done with */
    CALLGRIND_ZERO_STATS;
    const double begin = now();
    const int failed = loop->run(iterations);
    const double end = now();
    CALLGRIND_DUMP_STATS_AT(loop->name);
    require(failed, loop->name);
    printf("%s %.3f\n", loop->name, (end - begin) / (double)iterations);
}

int main(int argc, char** argv) {
    const long iterations = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
    if (iterations < 1) {
        fprintf(stderr, "usage: rpma-cost ITERATIONS\n");
        return 2;
    }
    set_up();
    for (const struct loop* loop = loops; loop->name != NULL; loop++) {
        measure(loop, iterations);
    }
    return 0;
}
