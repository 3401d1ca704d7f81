// SPDX-License-Identifier: BSD-3-Clause
#include "cm/control.hpp"

#include <cerrno>
#include <utility>

#include "cm/handshake.hpp"
#include "cm/id.hpp"

namespace fabric::cm {
namespace {

void received(Id& id, const wire::CmMessage& message) {
    std::visit([&](const auto& body) { on_message(id, message.transaction, body); }, message.body);
}

}  // namespace

void Control::detach() {
    std::shared_ptr<Id> dropped;
    const std::lock_guard guard(lock_);
    dropped.swap(id_);
}

std::shared_ptr<Id> Control::target() {
    const std::lock_guard guard(lock_);
    return id_;
}

void Control::connected() {
    if (const auto id = target())
        id->later([id] { on_link_up(*id); });
}

void Control::datagram(std::span<const std::byte> mad) {
    const auto id = target();
    if (id == nullptr)
        return;
    const auto message = wire::decode_cm(mad);
    if (!message) {
        id->later([id] { on_link_lost(*id, EPROTO); });
        return;
    }
    id->later([id, message] { received(*id, *message); });
}

void Control::lost(int error) {
    if (const auto id = target())
        id->later([id, error] { on_link_lost(*id, error); });
}

}  // namespace fabric::cm
