// SPDX-License-Identifier: BSD-3-Clause
#include "cq.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>

#include "api.hpp"
#include "arithmetic.hpp"
#include "err.hpp"
#include "hints.hpp"

using rpma::Origin;
using rpma::Status;
using rpma::Where;

namespace {

/// One event from the channel of cq.
int wait_for(rpma_cq* cq, const Where& where) {
    ibv_cq* source = nullptr;
    if (const int none = rpma::take_cq_event(cq->channel, source, where)) {
        return none;
    }
    return rpma::finish(cq->arm(), where, Origin::data_path);
}

RPMA_COLD int refuse_get_wc(const rpma_cq* cq, int num_entries, const ibv_wc* wc,
                            const Where& where) {
    if (const int bad = rpma::refuse_null({{"cq", cq}, {"wc", wc}}, where, Origin::data_path)) {
        return bad;
    }
    return rpma::finish(
        Status::failure(RPMA_E_INVAL, "num_entries %d: below 1, or above 1 without num_entries_got",
                        num_entries),
        where, Origin::data_path);
}

RPMA_COLD int poll_failure(int result, int num_entries, const Where& where) {
    if (result == 0) {
        return RPMA_E_NO_COMPLETION;
    }
    if (result < 0) {
        // Many providers answer with a code of their own, -1 or -2, and do not set errno: what that
        // holds then is of another call.
        const int err = result < -2 ? -result : 0;
        Status status = Status::system(RPMA_E_PROVIDER, err, "ibv_poll_cq gave %d", result);
        status.append("; the queue is lost: delete its connections and make new ones");
        return rpma::finish(status, where, Origin::data_path);
    }
    return rpma::finish(
        Status::failure(RPMA_E_UNKNOWN, "ibv_poll_cq gave %d completions of %d asked for", result,
                        num_entries),
        where, Origin::data_path);
}

/// Whether it is the plain call: one entry, and the caller does not want to be told that it is one.
RPMA_INLINE bool asks_for_one(int num_entries, const int* num_entries_got) {
    const auto others = rpma::opaque<std::uintptr_t>(static_cast<unsigned>(num_entries) - 1U);
    return (others | reinterpret_cast<std::uintptr_t>(num_entries_got)) == 0;
}

/// For what the faster ways passed on: bad arguments, and pointers that seemed to be missing.
RPMA_COLD int check_and_get(rpma_cq* cq, int num_entries, ibv_wc* wc, int* num_entries_got,
                            const Where& where) {
    if (cq == nullptr || wc == nullptr || num_entries < 1 ||
        (num_entries_got == nullptr && num_entries > 1)) {
        return refuse_get_wc(cq, num_entries, wc, where);
    }
    const int result = ibv_poll_cq(cq->verbs, num_entries, wc);
    if (result <= 0 || result > num_entries) {
        return poll_failure(result, num_entries, where);
    }
    if (num_entries_got != nullptr) {
        *num_entries_got = result;
    }
    return 0;
}

RPMA_APART int get_several(rpma_cq* cq, int num_entries, ibv_wc* wc, int* num_entries_got,
                           const Where& where) {
    if (RPMA_UNLIKELY(!rpma::surely_given(cq, num_entries_got) || wc == nullptr ||
                      num_entries < 1)) {
        return check_and_get(cq, num_entries, wc, num_entries_got, where);
    }
    const int result = ibv_poll_cq(cq->verbs, num_entries, wc);
    if (RPMA_UNLIKELY(static_cast<unsigned>(result) - 1 >= static_cast<unsigned>(num_entries))) {
        return poll_failure(result, num_entries, where);
    }
    *num_entries_got = result;
    return 0;
}

}  // namespace

Status rpma::open_comp_channel(ibv_context* context, CompChannel& out) {
    errno = 0;
    out = CompChannel(ibv_create_comp_channel(context));
    return out ? Status()
               : Status::system(RPMA_E_PROVIDER, errno, "ibv_create_comp_channel failed");
}

void rpma::explain_refused_queue(Status& status) {
    if (status.error_number() == EINVAL) {
        status.append("; ask for no more, and no fewer, than the device takes (`ibv_devinfo -v`)");
    } else if (status.error_number() == ENOMEM) {
        status.append("; ask for fewer, or raise the limit of locked memory (`ulimit -l`)");
    }
}

int rpma::take_cq_event(ibv_comp_channel* channel, ibv_cq*& source, const Where& where) {
    void* context = nullptr;
    if (ibv_get_cq_event(channel, &source, &context) == 0) {
        ibv_ack_cq_events(source, 1);
        return 0;
    }
    const int err = errno;
    return means_nothing_yet(err)
               ? RPMA_E_NO_COMPLETION
               : finish(Status::system(RPMA_E_NO_COMPLETION, err, "ibv_get_cq_event failed"), where,
                        Origin::data_path);
}

Status rpma_cq::open(ibv_context* context, std::uint32_t size, ibv_comp_channel* shared_channel,
                     rpma::Owned<rpma_cq>& out) {
    rpma::Owned<rpma_cq> queue(rpma::create<rpma_cq>());
    if (queue == nullptr) {
        return Status::out_of_memory();
    }
    queue->channel = shared_channel;
    if (shared_channel == nullptr) {
        const Status status = rpma::open_comp_channel(context, queue->own_channel);
        if (!status.ok()) {
            return status;
        }
        queue->channel = queue->own_channel.get();
    }
    const int entries = static_cast<int>(std::min<std::uint32_t>(size, INT_MAX));
    errno = 0;
    queue->cq = rpma::Cq(ibv_create_cq(context, entries, nullptr, queue->channel, 0));
    if (!queue->cq) {
        Status status =
            Status::system(RPMA_E_PROVIDER, errno, "ibv_create_cq of %d entries failed", entries);
        rpma::explain_refused_queue(status);
        return status;
    }
    queue->verbs = queue->cq.get();
    const Status status = queue->arm();
    if (status.ok()) {
        out = std::move(queue);
    }
    return status;
}

Status rpma_cq::arm() {
    const int result = ibv_req_notify_cq(verbs, 0);
    return result == 0 ? Status()
                       : Status::system(RPMA_E_PROVIDER, rpma::errno_of(result),
                                        "ibv_req_notify_cq failed");
}

Status rpma_cq::close() {
    Status status = cq.close();
    status.keep_first(own_channel.close());
    return status;
}

int rpma_cq_get_fd(const struct rpma_cq* cq, int* fd) {
    if (const int bad = rpma::refuse_null({{"cq", cq}, {"fd", fd}})) {
        return bad;
    }
    *fd = cq->channel->fd;
    return 0;
}

int rpma_cq_wait(struct rpma_cq* cq) {
    if (const int bad = rpma::refuse_null({{"cq", cq}}, Where::here(), Origin::data_path)) {
        return bad;
    }
    if (cq->uses_shared_channel()) {
        return rpma::finish(
            Status::failure(RPMA_E_SHARED_CHANNEL,
                            "the completion channel is shared: wait by rpma_conn_wait()"),
            Where::here(), Origin::data_path);
    }
    return wait_for(cq, Where::here());
}

int rpma_cq_get_wc(struct rpma_cq* cq, int num_entries, struct ibv_wc* wc, int* num_entries_got) {
    static constexpr Where here = Where::here();
    if (RPMA_LIKELY(asks_for_one(num_entries, num_entries_got) && rpma::surely_given(cq, wc))) {
        int result = ibv_poll_cq(cq->verbs, num_entries, wc);
        return RPMA_LIKELY(rpma::take_last(result)) ? result : poll_failure(result + 1, 1, here);
    }
    return get_several(cq, num_entries, wc, num_entries_got, here);
}
