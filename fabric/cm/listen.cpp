// SPDX-License-Identifier: BSD-3-Clause
// rdma_listen.
#include <netinet/in.h>

#include "cm/api.hpp"
#include "cm/bind.hpp"
#include "cm/id.hpp"
#include "cm/incoming.hpp"
#include "cm/limits.hpp"

namespace fabric::cm {
namespace {

// The kernel takes its maximum for 0, for negative numbers and for too large ones.
int backlog_of(int asked) {
    return asked > 0 && asked < kMaxBacklog ? asked : kMaxBacklog;
}

int bind_to_any(Id& id) {
    sockaddr_in any{};
    any.sin_family = AF_INET;
    return bind_id(id, *static_cast<sockaddr*>(static_cast<void*>(&any)));
}

int listen_under_strand(Id& id, int backlog) {
    if (!id.connected_type())
        return EOPNOTSUPP;
    if (id.state == State::Idle) {
        if (const int error = bind_to_any(id); error != 0)
            return error;
    }
    if (id.state != State::Bound)
        return EINVAL;
    id.backlog.store(backlog_of(backlog));
    const auto on_link = [weak = id.weak_from_this()](std::shared_ptr<carrier::Link> link) {
        if (const auto listening = weak.lock())
            receive_link(listening, std::move(link));
    };
    if (const int error = carrier::listen(id.route.addr.src_storage, kMaxBacklog, on_link,
                                          &id.listener, id.options.only_family);
        error != 0)
        return error;
    id.state = State::Listening;
    id.reservation.release();
    return 0;
}

}  // namespace
}  // namespace fabric::cm

using namespace fabric::cm;

RDMACM_API int rdma_listen(rdma_cm_id* id, int backlog) {
    const auto target = Id::of(id);
    if (target == nullptr)
        return result(EINVAL);
    const Turn turn(target);
    return result(listen_under_strand(*target, backlog));
}
