// SPDX-License-Identifier: BSD-3-Clause
// check_records MEMORY FILE: after a power cut, is every record there that FILE acknowledges, and
// are those behind it there without a gap?
#include <cstdio>
#include <fstream>

#include "common/check.hpp"
#include "vm/scenarios/pmem_map.hpp"
#include "vm/scenarios/records.hpp"

namespace {

class Ring {
public:
    Ring(it::Bytes memory, std::uint64_t round) : memory_(memory), round_(round) {}
    bool has(std::uint64_t number) const {
        return it::is_record(memory_.subspan(it::record_offset(number), it::kRecordSize), round_,
                             number);
    }

private:
    it::Bytes memory_;
    std::uint64_t round_;
};

it::Acknowledged read_acknowledged(const char* path) {
    it::Acknowledged acknowledged{};
    std::ifstream file(path, std::ios::binary);
    file.read(reinterpret_cast<char*>(&acknowledged), sizeof acknowledged);
    CHECK(file.good());
    CHECK(acknowledged.number > 0);
    return acknowledged;
}

// Older ones than a ring's length are overwritten, also by those that were on their way.
std::uint64_t first_in_ring(std::uint64_t last) {
    const std::uint64_t end = last + it::kRecordsInFlight;
    return end < it::kRecordSlots ? 1 : end - it::kRecordSlots + 1;
}

// Of those on their way some may be there, in order.
std::uint64_t count_unacknowledged(const Ring& ring, std::uint64_t last) {
    std::uint64_t count = 0;
    while (count < it::kRecordsInFlight && ring.has(last + count + 1)) {
        ++count;
    }
    for (std::uint64_t ahead = count + 1; ahead <= it::kRecordsInFlight; ++ahead) {
        CHECK(!ring.has(last + ahead));
    }
    return count;
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(argc == 3);
    const it::Acknowledged last = read_acknowledged(argv[2]);
    const it::PmemMap memory(argv[1], it::kRingSize);
    const Ring ring(memory.bytes(), last.round);
    for (std::uint64_t number = first_in_ring(last.number); number <= last.number; ++number) {
        if (!ring.has(number)) {
            FAIL("round %llu: record %llu of %llu acknowledged ones is lost",
                 static_cast<unsigned long long>(last.round),
                 static_cast<unsigned long long>(number),
                 static_cast<unsigned long long>(last.number));
        }
    }
    std::printf("round %llu: %llu records acknowledged, all there; %llu more\n",
                static_cast<unsigned long long>(last.round),
                static_cast<unsigned long long>(last.number),
                static_cast<unsigned long long>(count_unacknowledged(ring, last.number)));
    return 0;
}
