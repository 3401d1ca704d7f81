// SPDX-License-Identifier: BSD-3-Clause
// One connection of the client with its batches, for the loop in drive.hpp. The link and the
// workload are template parameters: see link.hpp.
#pragma once

#include <infiniband/verbs.h>
#include <poll.h>

#include <array>
#include <string>

#include "error.hpp"
#include "link.hpp"
#include "slots.hpp"

namespace perf {

// What has ended: a batch, or the reading back of one for --verify.
struct Done {
    std::uint32_t slot;
    bool was_check;
};
inline constexpr int kPollCapacity = 32;
using DoneList = std::array<Done, kPollCapacity>;

inline QueueSizes client_queues(const Case& point, const Shape& shape) {
    const std::uint32_t sends = point.slots() * (point.batch + shape.extra_sends + 1);
    std::uint32_t receives = 1;
    if (shape.reply_per_operation) {
        receives = point.queue_depth;
    } else if (shape.reply_per_batch) {
        receives = point.slots();
    }
    return {sends, receives};
}

template <typename Link, typename Workload>
class RdmaInitiator {
public:
    static constexpr Shape shape = Workload::shape;

    RdmaInitiator(const typename Link::Device& device, const Endpoint& to,
                  const RemoteAccess& access, const Case& point, std::size_t connection)
        : slots_(point, connection),
          link_(device, to, client_queues(point, shape), slots_.memory().data(),
                slots_.memory().size(), access),
          completions_(1 + (shape.reply_per_operation ? point.batch : 0) +
                       (shape.reply_per_batch ? 1 : 0)) {}

    SlotTable& slots() { return slots_; }
    [[nodiscard]] int fd() const { return link_.fd(); }
    [[nodiscard]] short events() const { return POLLIN; }
    void take_event() { link_.take_event(); }
    // Why post(), poll() or begin_check() has failed.
    [[nodiscard]] const std::string& failure() const { return failure_; }

    bool post(std::uint32_t index) {
        slots_.begin(index);
        slots_[index].pending = completions_;
        return succeeded(Workload::post(link_, slots_.batch(index)), "posting");
    }

    // How many have ended, or -1.
    int poll(DoneList& done) {
        std::array<ibv_wc, kPollCapacity> completions;  // NOLINT: filled by the poll
        const int got = link_.poll(completions.data(), kPollCapacity);
        int count = 0;
        for (int i = 0; i < got; i++) {
            const ibv_wc& completion = completions[static_cast<std::size_t>(i)];
            if (completion.status != IBV_WC_SUCCESS) {
                failure_ = ibv_wc_status_str(completion.status);
                return -1;
            }
            const auto index = static_cast<std::uint32_t>(completion.wr_id);
            Slot& slot = slots_[index];
            if (--slot.pending == 0) {
                done[static_cast<std::size_t>(count++)] = {index, slot.checking};
            }
        }
        if (got < 0) {
            failure_ = "polling the completion queue failed";
        }
        return got < 0 ? -1 : count;
    }

    // Compares what a batch did. Sets `later` if a read must come back first.
    bool begin_check(std::uint32_t index, bool& later) {
        const Layout& layout = slots_.layout();
        later = shape.check == Check::read_back;
        if (shape.check == Check::local_data) {
            slots_.check_operations_at(layout.local_data(index), index, 0);
        } else if (shape.check == Check::replies) {
            slots_.check_operations_at(layout.reply(index), index, slots_[index].sequence);
        }
        if (!later) {
            return true;
        }
        slots_[index].checking = true;
        slots_[index].pending = 1;
        return succeeded(
            link_.read(layout.check_copy(index), layout.remote_data(slots_.connection(), index),
                       layout.slot_size(), true, index),
            "reading back");
    }

private:
    bool succeeded(int result, const char* what) {
        if (result == 0) [[likely]] {
            return true;
        }
        failure_ = fmt::format("{} failed: {}", what, Link::text_of(result));
        return false;
    }

    SlotTable slots_;
    Link link_;
    std::uint32_t completions_;
    std::string failure_;
};

}  // namespace perf
