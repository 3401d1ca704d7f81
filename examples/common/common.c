/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fail(const char* what, const char* why) {
    fflush(stdout);
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    return -1;
}

int check(int result, const char* what) {
    return result ? fail(what, rpma_err_2str(result)) : 0;
}

size_t number(const char* text) {
    char* end = NULL;
    unsigned long value = strtoul(text, &end, 10);
    return *end == '\0' && text[0] != '-' ? value : 0;
}

int open_peer(const char* address, enum rpma_util_ibv_context_type type, struct rpma_peer** peer) {
    struct ibv_context* device = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING);
    return check(rpma_utils_get_ibv_context(address, type, &device), address) ||
           check(rpma_peer_new(device, peer), "cannot use the device");
}

int listen_on(struct rpma_peer* peer, const char* address, const char* port, struct rpma_ep** ep) {
    if (check(rpma_ep_listen(peer, address, port, ep), "cannot listen (is the port taken?)"))
        return -1;
    printf("listening on %s port %s\n", address, port);
    return 0;
}

int next_request(struct rpma_ep* ep, const struct rpma_conn_cfg* cfg, struct rpma_conn_req** req) {
    int ret;
    do
        ret = rpma_ep_next_conn_req(ep, cfg, req);         /* sleeps until somebody connects */
    while (ret == RPMA_E_NO_EVENT || ret == RPMA_E_INVAL); /* a signal; a client that gave up */
    return check(ret, "connection request");
}

int establish(struct rpma_conn_req** req, const struct rpma_conn_private_data* pdata,
              struct rpma_conn** conn) {
    return check(rpma_conn_req_connect(req, pdata, conn), "connecting") ||
           wait_event(*conn, RPMA_CONN_ESTABLISHED, TIMEOUT_MS);
}

int connect_to(struct rpma_peer* peer, const char* address, const char* port,
               const struct rpma_conn_private_data* pdata, struct rpma_conn** conn) {
    struct rpma_conn_req* req = NULL;
    return check(rpma_conn_req_new(peer, address, port, NULL, &req), address) ||
           establish(&req, pdata, conn);
}

/* 1: `fd` can be read, 0: not in time, or a signal came. */
static int readable(int fd, int timeout_ms) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout_ms) > 0;
}

static int next_event(struct rpma_conn* conn, enum rpma_conn_event* event, int timeout_ms) {
    int fd;
    if (check(rpma_conn_get_event_fd(conn, &fd), "event descriptor"))
        return -1;
    if (!readable(fd, timeout_ms))
        return fail("connection", "nothing heard from the other side in time");
    return check(rpma_conn_next_event(conn, event), "connection");
}

int wait_event(struct rpma_conn* conn, enum rpma_conn_event wanted, int timeout_ms) {
    enum rpma_conn_event event;
    if (next_event(conn, &event, timeout_ms))
        return -1;
    return event == wanted ? 0 : fail("connection", rpma_utils_conn_event_2str(event));
}

int disconnect(struct rpma_conn** conn) {
    int ret = check(rpma_conn_disconnect(*conn), "disconnect") ||
              wait_event(*conn, RPMA_CONN_CLOSED, TIMEOUT_MS);
    return check(rpma_conn_delete(conn), "delete connection") || ret;
}

/* Something happened to the connection; nothing else is expected now than its end. */
static int connection_ended(struct rpma_conn* conn) {
    enum rpma_conn_event event;
    if (next_event(conn, &event, TIMEOUT_MS))
        return -1;
    return event == RPMA_CONN_CLOSED ? 1 : fail("connection", rpma_utils_conn_event_2str(event));
}

/* Sleeps until the queue or the connection has news. 0: look into the queue again. */
static int sleep_on(struct rpma_conn* conn, struct rpma_cq* cq, int timeout_ms) {
    struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
    if (check(rpma_cq_get_fd(cq, &fds[0].fd), "descriptor of the queue") ||
        check(rpma_conn_get_event_fd(conn, &fds[1].fd), "event descriptor"))
        return -1;
    int ready = poll(fds, 2, timeout_ms);
    if (ready == 0)
        return fail("completion", "none in time");
    if (ready < 0)
        return errno == EINTR ? 0 : fail("poll", strerror(errno));
    if (fds[0].revents == 0)
        return connection_ended(conn);
    int ret = rpma_cq_wait(cq); /* does not sleep now; arms the queue again */
    return ret == RPMA_E_NO_COMPLETION ? 0 : check(ret, "completion queue");
}

int next_completion(struct rpma_conn* conn, struct rpma_cq* cq, struct ibv_wc* wc, int timeout_ms) {
    int ret;
    /* The queue first: its descriptor tells only of what comes after the last rpma_cq_wait(). */
    while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION)
        if ((ret = sleep_on(conn, cq, timeout_ms)) != 0)
            return ret;
    if (check(ret, "completion queue"))
        return -1;
    if (wc->status == IBV_WC_WR_FLUSH_ERR) /* thrown out of the queue: the connection has ended */
        return connection_ended(conn);
    return wc->status == IBV_WC_SUCCESS ? 0 : fail("operation", ibv_wc_status_str(wc->status));
}

int wait_completion(struct rpma_conn* conn, struct ibv_wc* wc) {
    struct rpma_cq* cq = NULL;
    if (check(rpma_conn_get_cq(conn, &cq), "completion queue"))
        return -1;
    int ret = next_completion(conn, cq, wc, TIMEOUT_MS);
    return ret == 1 ? fail("connection", "closed by the other side") : ret;
}
