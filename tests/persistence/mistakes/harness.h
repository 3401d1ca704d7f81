/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the programs share. Each is one file that is built twice: with MISTAKE defined, and without.
 * It is server, client and check in one:
 *
 *   program server ADDRESS PORT FILE
 *   program client ADDRESS PORT       prints "acked N" when it relies on records 1 to N
 *   program check FILE OUTPUT         of the client
 *
 * The server has a file of FILE_SIZE bytes. The client has a buffer of the same size, and writes
 * pieces of it to the same place of the file.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <libpmem2.h>
#include <librpma.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/common.h"

enum {
    FILE_SIZE = 4096,
    RECORDS = 2,
    RECORD_SIZE = 192, /* three lines */
    FIRST_RECORD = 1024,
};

#define RECORD(number) ((size_t)FIRST_RECORD + ((size_t)(number)-1) * RECORD_SIZE)

/* A message to the server, and its answer. */
struct message {
    uint64_t offset;
    uint64_t length;
};

struct client {
    const char* address;
    const char* port;
    struct rpma_peer* peer;
    struct rpma_conn* conn;
    struct rpma_mr_local *buffer_mr, *message_mr;
    struct rpma_mr_remote* remote;
    char* buffer;
    struct message* message;
};

struct server {
    char* memory; /* the file */
    struct pmem2_map* map;
    struct message* message;
    struct rpma_mr_local *file_mr, *message_mr;
    struct rpma_conn* conn;
};

/* --- of each program --- */
extern const bool declares_direct_write;
int work(struct client* c);
/* A message has come. */
int on_message(struct server* s, struct message* message);
/* 0 if `memory` is what a client that relies on `acked` records can live with. */
int check_memory(const char* memory, unsigned acked);

/* --- for clients; 0, or something else after a message --- */
int join(struct client* c);  /* connects */
int leave(struct client* c); /* disconnects */
/* Fills a piece of the buffer, and posts its write. */
int put(struct client* c, size_t offset, size_t length, char value);
int put_record(struct client* c, unsigned number);
int put_and_wait(struct client* c, size_t offset, size_t length, char value);
/* Posts the write of what the buffer holds. */
int put_buffer(struct client* c, size_t offset, size_t length);
int post_flush(struct client* c, enum rpma_flush_type type);
int wait_one(struct client* c);
int flush(struct client* c, enum rpma_flush_type type); /* both */
int put_atomically(struct client* c, size_t offset, uint64_t value);
int tell_server(struct client* c, size_t offset, size_t length); /* wait_one gets its answer */
int ask_server(struct client* c, size_t offset, size_t length);  /* both */
int acked(unsigned number);                                      /* 0 */

/* --- for servers --- */
int answer(struct server* s);
int persist(struct server* s, const struct message* range);

/* --- for checks --- */
int check_record(const char* memory, unsigned number);
/* All records up to `count`. */
int check_records(const char* memory, unsigned count);
/* The number at the beginning of the file says how many records there are. */
int check_committed(const char* memory, unsigned acked);

#endif
