// SPDX-License-Identifier: BSD-3-Clause
// librpma knows the sizes of both regions: what would reach beyond one is refused before it is
// posted, and the connection lives on. So are lengths that do not fit an RDMA operation.
#include "common/session.hpp"

namespace {
constexpr std::size_t kLocal = 4096;
constexpr std::size_t kRemote = 8192;
constexpr std::size_t kFourGiB = std::size_t{1} << 32U;

struct Range {
    std::size_t local_offset;
    std::size_t remote_offset;
    std::size_t size;
};
constexpr Range kWrong[] = {{1, 0, kLocal},       {kLocal + 1, 0, 0},   {0, kRemote - 7, 8},
                            {SIZE_MAX, 0, 8},     {0, SIZE_MAX - 3, 8}, {0, 0, kFourGiB},
                            {0, 0, kFourGiB + 8}, {0, kRemote + 1, 0},  {8, 8, SIZE_MAX - 7}};
}  // namespace

void server(it::Role& role) {
    const it::Served served = it::serve(role, kRemote);
    it::expect_closed(served.connection.get());
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kLocal);
    rpma_mr_local* local = attached.local.mr();
    for (const Range& wrong : kWrong) {
        CHECK_CODE(rpma_write(attached.conn(), attached.remote.get(), wrong.remote_offset, local,
                              wrong.local_offset, wrong.size, RPMA_F_COMPLETION_ALWAYS, nullptr),
                   RPMA_E_INVAL);
        CHECK_CODE(rpma_read(attached.conn(), local, wrong.local_offset, attached.remote.get(),
                             wrong.remote_offset, wrong.size, RPMA_F_COMPLETION_ALWAYS, nullptr),
                   RPMA_E_INVAL);
    }
    const char word[8] = {};
    CHECK_CODE(rpma_atomic_write(attached.conn(), attached.remote.get(), kRemote, word,
                                 RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_INVAL);
    CHECK_CODE(rpma_send(attached.conn(), local, 1, kLocal, RPMA_F_COMPLETION_ALWAYS, nullptr),
               RPMA_E_INVAL);
    CHECK_CODE(rpma_recv(attached.conn(), local, 1, kLocal, nullptr), RPMA_E_INVAL);
    it::expect_none(it::main_cq(attached.conn()));
    attached.write(kRemote - kLocal, 0, kLocal);
    attached.flush(0, kRemote);
    it::disconnect(attached.conn());
}
