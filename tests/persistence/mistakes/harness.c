/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/offer.h"

enum { WRITE_TYPES = RPMA_MR_USAGE_FLUSH_TYPE_VISIBILITY | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT };

static char record_value(unsigned number) {
    return (char)('A' + number - 1);
}

/* --- clients --- */

static int prepare(struct client* c) {
    c->buffer = aligned_alloc(FILE_SIZE, FILE_SIZE);
    c->message = calloc(1, sizeof(*c->message));
    if (c->buffer == NULL || c->message == NULL)
        return fail("memory", "none left");
    memset(c->buffer, 0, FILE_SIZE);
    return open_peer(c->address, RPMA_UTIL_IBV_CONTEXT_REMOTE, &c->peer) ||
           check(rpma_mr_reg(c->peer, c->buffer, FILE_SIZE, RPMA_MR_USAGE_WRITE_SRC, &c->buffer_mr),
                 "registration") ||
           check(rpma_mr_reg(c->peer, c->message, sizeof(*c->message),
                             RPMA_MR_USAGE_SEND | RPMA_MR_USAGE_RECV, &c->message_mr),
                 "registration");
}

int join(struct client* c) {
    return connect_to(c->peer, c->address, c->port, NULL, &c->conn) ||
           take_offer(c->conn, &c->remote, NULL, NULL);
}

int leave(struct client* c) {
    rpma_mr_remote_delete(&c->remote);
    return disconnect(&c->conn);
}

static int post_write(struct client* c, size_t offset, size_t length, int flags) {
    return check(rpma_write(c->conn, c->remote, offset, c->buffer_mr, offset, length, flags, NULL),
                 "write");
}

int put_buffer(struct client* c, size_t offset, size_t length) {
    return post_write(c, offset, length, RPMA_F_COMPLETION_ON_ERROR);
}

int put(struct client* c, size_t offset, size_t length, char value) {
    memset(c->buffer + offset, value, length);
    return put_buffer(c, offset, length);
}

int put_record(struct client* c, unsigned number) {
    return put(c, RECORD(number), RECORD_SIZE, record_value(number));
}

int put_and_wait(struct client* c, size_t offset, size_t length, char value) {
    memset(c->buffer + offset, value, length);
    return post_write(c, offset, length, RPMA_F_COMPLETION_ALWAYS) || wait_one(c);
}

int post_flush(struct client* c, enum rpma_flush_type type) {
    return check(rpma_flush(c->conn, c->remote, 0, FILE_SIZE, type, RPMA_F_COMPLETION_ALWAYS, NULL),
                 "flush");
}

int wait_one(struct client* c) {
    struct ibv_wc wc;
    return wait_completion(c->conn, &wc);
}

int flush(struct client* c, enum rpma_flush_type type) {
    return post_flush(c, type) || wait_one(c);
}

int put_atomically(struct client* c, size_t offset, uint64_t value) {
    char word[8];
    memcpy(word, &value, sizeof(word));
    return check(
        rpma_atomic_write(c->conn, c->remote, offset, word, RPMA_F_COMPLETION_ON_ERROR, NULL),
        "atomic write");
}

int tell_server(struct client* c, size_t offset, size_t length) {
    c->message->offset = offset;
    c->message->length = length;
    return check(rpma_recv(c->conn, c->message_mr, 0, sizeof(*c->message), NULL), "receive") ||
           check(rpma_send(c->conn, c->message_mr, 0, sizeof(*c->message),
                           RPMA_F_COMPLETION_ON_ERROR, NULL),
                 "send");
}

int ask_server(struct client* c, size_t offset, size_t length) {
    return tell_server(c, offset, length) || wait_one(c);
}

int acked(unsigned number) {
    printf("acked %u\n", number);
    return 0;
}

static int run_client(char* argv[]) {
    struct client c = {.address = argv[2], .port = argv[3]};
    int ret = prepare(&c) || join(&c) || work(&c) || leave(&c);
    rpma_conn_delete(&c.conn);
    rpma_mr_dereg(&c.buffer_mr);
    rpma_mr_dereg(&c.message_mr);
    rpma_peer_delete(&c.peer);
    free(c.buffer);
    free(c.message);
    return ret;
}

/* --- servers --- */

int answer(struct server* s) {
    return check(
        rpma_send(s->conn, s->message_mr, 0, sizeof(*s->message), RPMA_F_COMPLETION_ON_ERROR, NULL),
        "send");
}

int persist(struct server* s, const struct message* range) {
    pmem2_get_persist_fn(s->map)(s->memory + range->offset, range->length);
    return 0;
}

/* The mapping lives as long as the process. */
static int map_memory(const char* path, struct server* s) {
    struct pmem2_config* config = NULL;
    struct pmem2_source* source = NULL;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || posix_fallocate(fd, 0, FILE_SIZE) != 0)
        return fail(path, strerror(errno));
    int ret = pmem2_config_new(&config) ||
              pmem2_config_set_required_store_granularity(config, PMEM2_GRANULARITY_PAGE) ||
              pmem2_source_from_fd(&source, fd) || pmem2_map_new(&s->map, config, source);
    if (ret)
        fail(path, pmem2_errormsg());
    else
        s->memory = pmem2_map_get_address(s->map);
    pmem2_source_delete(&source);
    pmem2_config_delete(&config);
    close(fd);
    return ret;
}

static int register_all(struct rpma_peer* peer, struct server* s) {
    s->message = calloc(1, sizeof(*s->message));
    if (s->message == NULL)
        return fail("memory", "none left");
    return check(rpma_mr_reg(peer, s->memory, FILE_SIZE,
                             RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC | (int)WRITE_TYPES,
                             &s->file_mr),
                 "registration") ||
           check(rpma_mr_reg(peer, s->message, sizeof(*s->message),
                             RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND, &s->message_mr),
                 "registration");
}

static int next_message(struct server* s) {
    return check(rpma_recv(s->conn, s->message_mr, 0, sizeof(*s->message), NULL), "receive");
}

static int accept_client(struct rpma_conn_req* req, struct server* s) {
    struct offer offer;
    const struct rpma_conn_private_data pdata = {.ptr = &offer, .len = sizeof(offer)};
    if (make_offer(s->file_mr, declares_direct_write, &offer) ||
        check(rpma_conn_req_recv(req, s->message_mr, 0, sizeof(*s->message), NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    return establish(&req, &pdata, &s->conn);
}

/* Until the client leaves. */
static int serve(struct rpma_ep* ep, struct server* s) {
    struct rpma_conn_req* req = NULL;
    struct rpma_cq* cq = NULL;
    struct ibv_wc wc;
    if (next_request(ep, NULL, &req))
        return -1;
    int ret = accept_client(req, s) || check(rpma_conn_get_cq(s->conn, &cq), "completion queue");
    while (ret == 0) {
        ret = next_completion(s->conn, cq, &wc, -1);
        if (ret == 0)
            ret = on_message(s, s->message) || next_message(s);
    }
    rpma_conn_delete(&s->conn);
    return 0;
}

static int run_server(char* argv[]) {
    struct server s = {.conn = NULL};
    struct rpma_peer* peer = NULL;
    struct rpma_ep* ep = NULL;
    int ret = open_peer(argv[2], RPMA_UTIL_IBV_CONTEXT_LOCAL, &peer) || map_memory(argv[4], &s) ||
              register_all(peer, &s) || listen_on(peer, argv[2], argv[3], &ep);
    while (ret == 0)
        ret = serve(ep, &s); /* until it is killed */
    rpma_ep_shutdown(&ep);
    rpma_mr_dereg(&s.file_mr);
    rpma_mr_dereg(&s.message_mr);
    rpma_peer_delete(&peer);
    free(s.message);
    return ret;
}

/* --- checks --- */

int check_record(const char* memory, unsigned number) {
    for (size_t i = 0; i < RECORD_SIZE; i++)
        if (memory[RECORD(number) + i] != record_value(number)) {
            printf("record %u is not there from its byte %zu on\n", number, i);
            return 1;
        }
    return 0;
}

int check_records(const char* memory, unsigned count) {
    int ret = 0;
    for (unsigned number = 1; number <= count; number++)
        ret = ret || check_record(memory, number);
    return ret;
}

int check_committed(const char* memory, unsigned acked) {
    uint64_t count;
    memcpy(&count, memory, sizeof(count));
    if (count > RECORDS || count < acked) {
        printf("%u records were acknowledged, %llu are committed\n", acked,
               (unsigned long long)count);
        return 1;
    }
    return check_records(memory, (unsigned)count);
}

static unsigned last_acked(const char* name) {
    unsigned number = 0;
    char line[64];
    FILE* file = fopen(name, "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL)
        if (strncmp(line, "acked ", 6) == 0)
            number = (unsigned)strtoul(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return number;
}

/* A file that is not there yet has nothing in it. */
static int run_check(char* argv[]) {
    static char memory[FILE_SIZE];
    FILE* file = fopen(argv[2], "r");
    size_t got = file != NULL ? fread(memory, 1, FILE_SIZE, file) : 0;
    if (file != NULL)
        fclose(file);
    printf("%zu bytes\n", got);
    return check_memory(memory, last_acked(argv[3]));
}

int main(int argc, char* argv[]) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 5 && strcmp(argv[1], "server") == 0)
        return run_server(argv) ? 1 : 0;
    if (argc == 4 && strcmp(argv[1], "client") == 0)
        return run_client(argv) ? 1 : 0;
    if (argc == 4 && strcmp(argv[1], "check") == 0)
        return run_check(argv) ? 1 : 0;
    fputs("usage: program server ADDRESS PORT FILE | client ADDRESS PORT | check FILE OUTPUT\n",
          stderr);
    return 2;
}
