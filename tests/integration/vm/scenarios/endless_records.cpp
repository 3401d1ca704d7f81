// SPDX-License-Identifier: BSD-3-Clause
// Writes records into persistent memory until the machine loses its power. A record counts as
// acknowledged when its flush to persistence has completed; its number then goes to a file outside.
// Arguments: path of the memory, path of the file, number of the round.
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "common/session.hpp"
#include "vm/scenarios/pmem_map.hpp"
#include "vm/scenarios/records.hpp"

namespace {

// Nobody waits for the power cut longer than this.
constexpr auto kLongest = std::chrono::seconds(120);

class Acknowledgements {
public:
    explicit Acknowledgements(const std::string& path)
        : fd_(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {
        CHECK(fd_ >= 0);
    }
    void put(std::uint64_t round, std::uint64_t number) const {
        const it::Acknowledged record = {round, number};
        CHECK(pwrite(fd_, &record, sizeof record, 0) == sizeof record);
    }

private:
    int fd_;
};

void post_record(const it::Attached& attached, std::uint64_t round, std::uint64_t number) {
    const std::size_t from = it::kRecordSize * (number % it::kRecordsInFlight);
    const std::size_t to = it::record_offset(number);
    it::make_record(attached.local.bytes(from, it::kRecordSize), round, number);
    CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), to, attached.local.mr(), from,
                        it::kRecordSize, RPMA_F_COMPLETION_ON_ERROR, nullptr));
    CHECK_OK(rpma_flush(attached.conn(), attached.remote.get(), to, it::kRecordSize,
                        RPMA_FLUSH_TYPE_PERSISTENT, RPMA_F_COMPLETION_ALWAYS, it::context(number)));
}

}  // namespace

void server(it::Role& role) {
    const it::PmemMap memory(role.arguments.at(0), it::kRingSize);
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const it::LocalMr mr = it::register_memory(
        peer.get(), memory.bytes(), it::kUsualUsage | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get(), nullptr, it::describe(mr.get()));
    role.peer().await_end(it::Deadline(kLongest));
}

void client(it::Role& role) {
    const Acknowledgements acknowledgements(role.arguments.at(1));
    const std::uint64_t round = std::strtoull(role.arguments.at(2).c_str(), nullptr, 10);
    const it::Attached attached = it::attach(role, it::kRecordSize * it::kRecordsInFlight);
    it::declare_direct_write(attached.conn());
    const it::Deadline deadline(kLongest);
    for (std::uint64_t number = 1; !deadline.passed(); ++number) {
        post_record(attached, round, number);
        if (number < it::kRecordsInFlight) {
            continue;
        }
        const ibv_wc wc = it::next_completion(it::main_cq(attached.conn()));
        CHECK_EQ(wc.status, IBV_WC_SUCCESS);
        CHECK_EQ(wc.wr_id, number - it::kRecordsInFlight + 1);
        acknowledgements.put(round, wc.wr_id);
    }
    FAIL("the power was not cut");
}
