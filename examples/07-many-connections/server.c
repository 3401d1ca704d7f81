/* SPDX-License-Identifier: BSD-3-Clause */
/* Serves any number of clients from one thread: all that can happen is a descriptor in epoll(7). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "../common/common.h"

#define SIZE 64

struct server;
struct client;

/* What epoll hands out: what to do when a descriptor is readable, and for whom. */
struct watch {
    void (*ready)(struct server*, struct client*);
    struct client* client;
};

struct client {
    struct watch event, completion;
    char message[SIZE];
    struct rpma_mr_local* mr;
    struct rpma_conn* conn;
    struct rpma_cq* cq;
};

struct server {
    struct rpma_peer* peer;
    struct rpma_ep* ep;
    int epoll;
    int met, done; /* clients that have connected; that have gone */
};

static int add(int epoll, int fd, struct watch* watch) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
    /* What epoll has seen may be gone when it is taken; waiting for more would hold up all. */
    int ret = fcntl(fd, F_SETFL, O_NONBLOCK) || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    return ret ? fail("epoll", strerror(errno)) : 0;
}

static void drop(struct server* s, struct client* c) {
    rpma_conn_delete(&c->conn); /* closes the descriptors, so epoll forgets them */
    rpma_mr_dereg(&c->mr);
    free(c);
    s->done++;
}

static int accept_client(struct server* s, struct client* c, struct rpma_conn_req* req) {
    const int usage = RPMA_MR_USAGE_RECV | RPMA_MR_USAGE_SEND;
    int event_fd = -1, cq_fd = -1;
    if (check(rpma_mr_reg(s->peer, c->message, SIZE, usage, &c->mr), "registration") ||
        check(rpma_conn_req_recv(req, c->mr, 0, SIZE, NULL), "receive")) {
        rpma_conn_req_delete(&req);
        return -1;
    }
    /* Not establish(): nobody waits here, the event comes through epoll. */
    return check(rpma_conn_req_connect(&req, NULL, &c->conn), "accept") ||
           check(rpma_conn_get_cq(c->conn, &c->cq), "queue") ||
           check(rpma_conn_get_event_fd(c->conn, &event_fd), "descriptor") ||
           check(rpma_cq_get_fd(c->cq, &cq_fd), "descriptor") ||
           add(s->epoll, event_fd, &c->event) || add(s->epoll, cq_fd, &c->completion);
}

static void connection_event(struct server* s, struct client* c) {
    enum rpma_conn_event event;
    int ret = rpma_conn_next_event(c->conn, &event);
    if (ret == RPMA_E_NO_EVENT)
        return;
    if (ret == 0 && event == RPMA_CONN_ESTABLISHED) {
        printf("client %d connected\n", ++s->met);
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

static void completions(struct server* s, struct client* c) {
    struct ibv_wc wc;
    int ret = rpma_cq_wait(c->cq);
    if (ret == RPMA_E_NO_COMPLETION)
        return;
    while (ret == 0 && (ret = rpma_cq_get_wc(c->cq, 1, &wc, NULL)) == 0)
        ret = answer(c, &wc);
    if (ret != RPMA_E_NO_COMPLETION)
        drop(s, c);
}

static void new_client(struct server* s, struct client* none) {
    struct rpma_conn_req* req = NULL;
    struct client* c = calloc(1, sizeof(*c));
    int ret = rpma_ep_next_conn_req(s->ep, NULL, &req);
    (void)none;
    if (ret || c == NULL) {
        if (ret != RPMA_E_NO_EVENT) /* which comes of a client that has given up */
            fail("new client", ret ? rpma_err_2str(ret) : "no memory");
        rpma_conn_req_delete(&req);
        free(c);
        return;
    }
    c->event = (struct watch){connection_event, c};
    c->completion = (struct watch){completions, c};
    if (accept_client(s, c, req))
        drop(s, c); /* that client's trouble; the others are served */
}

/* One event at a time: a client may be gone by its next one. */
static int serve_one_event(struct server* s) {
    struct epoll_event event;
    int count = epoll_wait(s->epoll, &event, 1, -1);
    if (count < 0)
        return errno == EINTR ? 0 : fail("epoll", strerror(errno));
    const struct watch* watch = event.data.ptr;
    watch->ready(s, watch->client);
    return 0;
}

int main(int argc, char* argv[]) {
    struct server s = {.epoll = epoll_create1(EPOLL_CLOEXEC)};
    struct watch requests = {.ready = new_client};
    int to_serve = argc == 4 ? (int)number(argv[3]) : 0;
    int fd = -1;
    if (to_serve < 1) {
        fputs("usage: many-connections-server ADDRESS PORT CLIENTS_TO_SERVE\n", stderr);
        return 2;
    }
    int ret = open_peer(argv[1], RPMA_UTIL_IBV_CONTEXT_LOCAL, &s.peer) ||
              listen_on(s.peer, argv[1], argv[2], &s.ep) ||
              check(rpma_ep_get_fd(s.ep, &fd), "descriptor") || add(s.epoll, fd, &requests);
    while (ret == 0 && s.done < to_serve)
        ret = serve_one_event(&s);
    printf("%d clients served\n", s.done);
    rpma_ep_shutdown(&s.ep);
    rpma_peer_delete(&s.peer);
    close(s.epoll);
    return ret ? 1 : 0;
}
