/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * own_read FILE [BYTES [fork]]: reads from a peer (itself) into a mapped file, and persists what it
 * has got, or forgets to. The file has BYTES bytes when it is registered, and grows then. With fork
 * a child does it, whose parent has registered the file before.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"

enum { SIZE = 4096 };

static char source[SIZE];
static int fd;

static char* map(const char* name, const char* bytes) {
    fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || ftruncate(fd, bytes ? strtol(bytes, NULL, 10) : SIZE) != 0)
        return NULL;
    char* memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static int remote_of(const struct rpma_mr_local* mr, struct rpma_mr_remote** remote) {
    char descriptor[64];
    size_t size = 0;
    return check(rpma_mr_get_descriptor_size(mr, &size), "descriptor") ||
           size > sizeof(descriptor) ||
           check(rpma_mr_get_descriptor(mr, descriptor), "descriptor") ||
           check(rpma_mr_remote_from_descriptor(descriptor, size, remote), "descriptor");
}

/* Both ends of a connection are here. */
static int connect_both(struct rpma_peer* peer, struct rpma_conn** out, struct rpma_conn** in) {
    struct rpma_ep* ep = NULL;
    struct rpma_conn_req *outgoing = NULL, *incoming = NULL;
    char port[8];
    int ret = -1;
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD, RPMA_LOG_DISABLED);
    for (int tries = 0; tries < 100 && ret != 0; tries++) {
        snprintf(port, sizeof(port), "%d", 10000 + (getpid() * 7 + tries * 31) % 20000);
        ret = rpma_ep_listen(peer, "127.0.0.1", port, &ep);
    }
    ret = ret || rpma_conn_req_new(peer, "127.0.0.1", port, NULL, &outgoing) ||
          rpma_conn_req_connect(&outgoing, NULL, out) ||
          rpma_ep_next_conn_req(ep, NULL, &incoming) ||
          rpma_conn_req_connect(&incoming, NULL, in) ||
          wait_event(*in, RPMA_CONN_ESTABLISHED, TIMEOUT_MS) ||
          wait_event(*out, RPMA_CONN_ESTABLISHED, TIMEOUT_MS);
    rpma_ep_shutdown(&ep);
    return ret;
}

static int fetch(struct rpma_peer* peer, char* memory) {
    struct rpma_mr_local *from = NULL, *to = NULL;
    struct rpma_mr_remote* remote = NULL;
    struct rpma_conn *out = NULL, *in = NULL;
    struct ibv_wc wc;
    int ret =
        check(rpma_mr_reg(peer, source, SIZE, RPMA_MR_USAGE_READ_SRC, &from), "registration") ||
        check(rpma_mr_reg(peer, memory, SIZE, RPMA_MR_USAGE_READ_DST, &to), "registration") ||
        ftruncate(fd, SIZE) != 0 || remote_of(from, &remote) || connect_both(peer, &out, &in) ||
        check(rpma_read(out, to, 0, remote, 0, SIZE, RPMA_F_COMPLETION_ALWAYS, NULL), "read") ||
        wait_completion(out, &wc);
#ifndef MISTAKE
    ret = ret || msync(memory, SIZE, MS_SYNC) != 0;
#endif
    rpma_mr_remote_delete(&remote);
    rpma_conn_disconnect(out);
    rpma_conn_delete(&out);
    rpma_conn_delete(&in);
    rpma_mr_dereg(&from);
    rpma_mr_dereg(&to);
    return ret;
}

static int fetch_by_new_peer(char* memory) {
    struct rpma_peer* peer = NULL;
    int ret = open_peer("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) || fetch(peer, memory);
    rpma_peer_delete(&peer);
    return ret ? 1 : 0;
}

static int fetch_in_child(char* memory) {
    struct rpma_peer* peer = NULL;
    struct rpma_mr_local* mr = NULL;
    int status = 0;
    if (open_peer("127.0.0.1", RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) ||
        rpma_mr_reg(peer, memory, SIZE, RPMA_MR_USAGE_READ_DST, &mr))
        return 1;
    pid_t child = fork();
    if (child == 0)
        exit(fetch_by_new_peer(memory));
    int ret = child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status);
    rpma_mr_dereg(&mr);
    rpma_peer_delete(&peer);
    return ret ? 1 : WEXITSTATUS(status);
}

static void say_bye(void) {
    puts("bye");
}

int main(int argc, char* argv[]) {
    char* memory = argc >= 2 ? map(argv[1], argv[2]) : NULL;
    if (memory == NULL || atexit(say_bye) != 0)
        return 2;
    memset(source, 'r', SIZE);
    return argc == 4 ? fetch_in_child(memory) : fetch_by_new_peer(memory);
}
