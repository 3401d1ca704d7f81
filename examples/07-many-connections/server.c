/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves any number of clients from one thread: all that can happen is a descriptor in epoll(7). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../common/common.h"

#define SIZE 64

struct client {
    char message[SIZE];
    struct rpma_mr_local* mr;
    struct rpma_conn* conn;
    struct rpma_cq* cq;
};

struct server {
    struct rpma_peer* peer;
    struct rpma_ep* ep;
    int epoll;
    int clients, done; /* now connected; have gone */
};

static int add(int epoll, int fd, struct client* client, bool is_cq) {
    struct epoll_event event = {.events = EPOLLIN};
    /* A pointer has its lowest bit free: it says which of the client's two descriptors it is. */
    event.data.u64 = (uintptr_t)client | is_cq;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? fail("epoll", strerror(errno)) : 0;
}

static void drop(struct server* s, struct client* c) {
    rpma_conn_delete(&c->conn); /* closes the descriptors, so epoll forgets them */
    rpma_mr_dereg(&c->mr);
    free(c);
    s->clients--;
    s->done++;
}

static int accept_client(struct server* s, struct client* c) {
    struct rpma_conn_req* req = NULL;
    int event_fd = -1;
    int cq_fd = -1;
    if (check(
            rpma_mr_reg(s->peer, c->message, SIZE, RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND, &c->mr),
            "registration") ||
        next_request(s->ep, NULL, &req))
        return -1;
    if (check(rpma_conn_req_recv(req, c->mr, 0, SIZE, NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    /* Not establish(): nobody waits here, the event comes through epoll. */
    return check(rpma_conn_req_connect(&req, NULL, &c->conn), "accept") ||
           check(rpma_conn_get_cq(c->conn, &c->cq), "queue") ||
           check(rpma_conn_get_event_fd(c->conn, &event_fd), "descriptor") ||
           check(rpma_cq_get_fd(c->cq, &cq_fd), "descriptor") ||
           add(s->epoll, event_fd, c, false) || add(s->epoll, cq_fd, c, true);
}

static int new_client(struct server* s) {
    struct client* c = calloc(1, sizeof(*c));
    if (c == NULL)
        return fail("memory", "none left");
    s->clients++;
    if (accept_client(s, c) == 0)
        return 0;
    drop(s, c); /* that client's trouble; the others are served */
    return 0;
}

static void connection_event(struct server* s, struct client* c) {
    enum rpma_conn_event event;
    int ret = rpma_conn_next_event(c->conn, &event);
    if (ret == RPMA_E_NO_EVENT)
        return;
    if (ret == 0 && event == RPMA_CONN_ESTABLISHED) {
        printf("%d connected\n", s->clients);
        return;
    }
    drop(s, c);
}

/* Sends back what came, and posts the next receive when that has gone: one buffer is enough. */
static int answer(struct client* c, const struct ibv_wc* wc) {
    if (wc->status != IBV_WC_SUCCESS)
        return 0; /* the connection's event follows */
    if (wc->opcode == IBV_WC_RECV)
        return check(rpma_send(c->conn, c->mr, 0, wc->byte_len, RPMA_F_COMPLETION_ALWAYS, NULL),
                     "send");
    return check(rpma_recv(c->conn, c->mr, 0, SIZE, NULL), "receive");
}

static int completions(struct client* c) {
    struct ibv_wc wc;
    int ret = rpma_cq_wait(c->cq);
    if (ret != 0 && ret != RPMA_E_NO_COMPLETION)
        return check(ret, "completion queue");
    while ((ret = rpma_cq_get_wc(c->cq, 1, &wc, NULL)) == 0)
        if (answer(c, &wc))
            return -1;
    return ret == RPMA_E_NO_COMPLETION ? 0 : check(ret, "completion queue");
}

/* One event at a time: a client may be gone by its next one. */
static int serve_one_event(struct server* s) {
    struct epoll_event event;
    int count = epoll_wait(s->epoll, &event, 1, -1);
    if (count < 0)
        return errno == EINTR ? 0 : fail("epoll", strerror(errno));
    struct client* c = (void*)(uintptr_t)(event.data.u64 & ~UINT64_C(1));
    if (c == NULL)
        return new_client(s);
    if (!(event.data.u64 & 1))
        connection_event(s, c);
    else if (completions(c))
        drop(s, c);
    return 0;
}

int main(int argc, char* argv[]) {
    struct server s = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    int fd = -1;
    if (argc != 4 || atoi(argv[3]) < 1) {
        fputs("usage: many-connections-server ADDRESS PORT CLIENTS_TO_SERVE\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &s.peer) ||
              listen_on(s.peer, argv[1], argv[2], &s.ep) ||
              check(rpma_ep_get_fd(s.ep, &fd), "descriptor") || add(s.epoll, fd, NULL, false);
    while (ret == 0 && s.done < atoi(argv[3]))
        ret = serve_one_event(&s);
    printf("%d clients served\n", s.done);
    rpma_ep_shutdown(&s.ep);
    rpma_peer_delete(&s.peer);
    close(s.epoll);
    return ret ? 1 : 0;
}
