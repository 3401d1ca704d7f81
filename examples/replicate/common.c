/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

int fail(const char* what, const char* why) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, why);
    return -1;
}

int fail_rpma(const char* what, int result) {
    return fail(what, rpma_err_2str(result));
}

struct rpma_peer* open_peer(const char* address, enum rpma_util_ibv_context_type type) {
    rpma_log_set_threshold(RPMA_LOG_THRESHOLD_AUX, RPMA_LOG_LEVEL_WARNING);

    struct ibv_context* device = NULL;
    struct rpma_peer* peer = NULL;
    int ret = rpma_utils_get_ibv_context(address, type, &device);
    if (ret) {
        fail_rpma(address, ret); /* without any device the library's log line has said what to do */
        return NULL;
    }
    ret = rpma_peer_new(device, &peer);
    if (ret)
        fail_rpma("cannot use the device", ret);
    return peer;
}

/* 1: `fd` can be read, 0: not in time, or a signal came. */
static int readable(int fd, int timeout_ms) {
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return poll(&one, 1, timeout_ms) > 0;
}

static int next_event(struct rpma_conn* conn, enum rpma_conn_event* event, int timeout_ms) {
    int fd;
    int ret = rpma_conn_get_event_fd(conn, &fd);
    if (ret == 0 && !readable(fd, timeout_ms))
        return fail("connection", "nothing heard from the other side in time");
    if (ret == 0)
        ret = rpma_conn_next_event(conn, event);
    return ret ? fail_rpma("connection", ret) : 0;
}

int wait_event(struct rpma_conn* conn, enum rpma_conn_event wanted, int timeout_ms) {
    enum rpma_conn_event event;
    if (next_event(conn, &event, timeout_ms))
        return -1;
    return event == wanted ? 0 : fail("connection", rpma_utils_conn_event_2str(event));
}

/* Something happened to the connection; nothing else is expected now than its end. */
static int connection_ended(struct rpma_conn* conn) {
    enum rpma_conn_event event;
    if (next_event(conn, &event, SETUP_TIMEOUT_MS))
        return -1;
    return event == RPMA_CONN_CLOSED ? 1 : fail("connection", rpma_utils_conn_event_2str(event));
}

/* Sleeps until the queue or the connection has news. 0: look into the queue again. */
static int sleep_on(struct rpma_conn* conn, struct rpma_cq* cq, int timeout_ms) {
    struct pollfd fds[2] = {{.events = POLLIN}, {.events = POLLIN}};
    int ret = rpma_cq_get_fd(cq, &fds[0].fd);
    if (ret == 0)
        ret = rpma_conn_get_event_fd(conn, &fds[1].fd);
    if (ret)
        return fail_rpma("descriptors to wait on", ret);
    int ready = poll(fds, 2, timeout_ms);
    if (ready == 0)
        return fail("completion", "none in time");
    if (ready < 0)
        return errno == EINTR ? 0 : fail("poll", strerror(errno));
    if (fds[0].revents == 0)
        return connection_ended(conn);
    ret = rpma_cq_wait(cq); /* does not sleep now; arms the queue again */
    return ret && ret != RPMA_E_NO_COMPLETION ? fail_rpma("completion queue", ret) : 0;
}

int wait_completion(struct rpma_conn* conn, struct ibv_wc* wc, int timeout_ms) {
    struct rpma_cq* cq = NULL;
    int ret = rpma_conn_get_cq(conn, &cq);
    if (ret)
        return fail_rpma("completion queue", ret);
    /* The queue first: its descriptor tells only of what comes after the last rpma_cq_wait(). */
    while ((ret = rpma_cq_get_wc(cq, 1, wc, NULL)) == RPMA_E_NO_COMPLETION) {
        ret = sleep_on(conn, cq, timeout_ms);
        if (ret)
            return ret;
    }
    if (ret)
        return fail_rpma("completion queue", ret);
    if (wc->status ==
        IBV_WC_WR_FLUSH_ERR) /* thrown out of the queue: the connection is at its end */
        return connection_ended(conn);
    return wc->status == IBV_WC_SUCCESS ? 0
                                        : fail("operation failed", ibv_wc_status_str(wc->status));
}
