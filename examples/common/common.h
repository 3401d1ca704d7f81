/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the examples share: messages, finding the device, connecting, waiting. All functions return
 * 0, or something else after a message to stderr, so that steps can be chained by ||.
 */
#ifndef EXAMPLES_COMMON_H
#define EXAMPLES_COMMON_H

#include <librpma.h>

#define TIMEOUT_MS 10000 /* of each step that needs the other side's program */

/* Prints "program: what: why". */
int fail(const char* what, const char* why);

/* `result` of a function of librpma: 0, or the failure of `what`; the library's log has the
 * details. */
int check(int result, const char* what);

/* The number that `text` is, or 0 if it is none. */
size_t number(const char* text);

/* Shows the library's warnings on stderr and opens the device of an address: for a server its own
 * address, for a client the server's. */
int open_peer(const char* address, enum rpma_util_ibv_context_type type, struct rpma_peer** peer);

/* Server: listens and says so; takes the next request; accepts it, waits until it is established.
 */
int listen_on(struct rpma_peer* peer, const char* address, const char* port, struct rpma_ep** ep);
int next_request(struct rpma_ep* ep, const struct rpma_conn_cfg* cfg, struct rpma_conn_req** req);
int establish(struct rpma_conn_req** req, const struct rpma_conn_private_data* pdata,
              struct rpma_conn** conn);

/* Client: prepares a connection, connects, waits until it is established. */
int connect_to(struct rpma_peer* peer, const char* address, const char* port,
               const struct rpma_conn_private_data* pdata, struct rpma_conn** conn);

/* Waits for an event; another one, or none in time (-1: no limit), is a failure. */
int wait_event(struct rpma_conn* conn, enum rpma_conn_event wanted, int timeout_ms);

/* Disconnects, waits for the end, deletes. */
int disconnect(struct rpma_conn** conn);

/*
 * Waits for the next completion of a queue of `conn`. 0: *wc holds a successful one. 1: the other
 * side has closed the connection, no message. -1: failure, reported; the connection is of no use.
 */
int next_completion(struct rpma_conn* conn, struct rpma_cq* cq, struct ibv_wc* wc, int timeout_ms);

/* The same of the connection's completion queue, where anything but a completion is a failure. */
int wait_completion(struct rpma_conn* conn, struct ibv_wc* wc);

#endif
