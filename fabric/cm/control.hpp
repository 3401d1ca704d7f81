// SPDX-License-Identifier: BSD-3-Clause
// From a link to the id it belongs to: what arrives is queued on the id's strand, since a link may
// call with its own locks held.
#pragma once

#include <memory>
#include <mutex>

#include "carrier/link.hpp"

namespace fabric::cm {

struct Id;

class Control final : public carrier::ControlHandler {
public:
    explicit Control(std::shared_ptr<Id> id) : id_(std::move(id)) {}
    // The id is not called (and not kept alive) any more.
    void detach();

    void connected() override;
    void datagram(std::span<const std::byte> mad) override;
    void lost(int error) override;

private:
    std::shared_ptr<Id> target();

    std::mutex lock_;
    std::shared_ptr<Id> id_;
};

}  // namespace fabric::cm
