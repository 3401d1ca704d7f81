// SPDX-License-Identifier: BSD-3-Clause
#include "common/rpma.hpp"

#include <sys/mman.h>

#include <string>

#include "common/role.hpp"

namespace it {

void check_code(const char* file, int line, const char* what, int actual, int expected) {
    if (actual != expected) {
        fail_at(file, line, "%s gives %d (%s), expected %d (%s)", what, actual,
                rpma_err_2str(actual), expected, rpma_err_2str(expected));
    }
}

Peer open_peer(const std::string& address, rpma_util_ibv_context_type side) {
    ibv_context* device = nullptr;
    CHECK_OK(rpma_utils_get_ibv_context(address.c_str(), side, &device));
    rpma_peer* peer = nullptr;
    CHECK_OK(rpma_peer_new(device, &peer));
    return Peer(peer);
}

namespace {

std::byte* map_pages(std::size_t size) {
    void* pages = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages != MAP_FAILED);
    return static_cast<std::byte*>(pages);
}

}  // namespace

void Region::Unmap::operator()(std::byte* pages) const {
    CHECK(munmap(pages, size) == 0);
}

Region::Region(rpma_peer* peer, std::size_t size, int usage)
    : size_(size),
      pages_(map_pages(size), Unmap{size}),
      mr_(register_memory(peer, bytes(), usage)) {}

LocalMr register_memory(rpma_peer* peer, Bytes memory, int usage) {
    rpma_mr_local* mr = nullptr;
    CHECK_OK(rpma_mr_reg(peer, memory.data(), memory.size(), usage, &mr));
    return LocalMr(mr);
}

LocalMr register_for_persistence(rpma_peer* peer, Bytes memory, int usage) {
    rpma_mr_local* mr = nullptr;
    const int code = rpma_mr_reg(peer, memory.data(), memory.size(), usage, &mr);
    if (code == RPMA_E_PROVIDER && !on_fabric()) {
        skip("the device flushes to persistence in persistent memory only");
    }
    CHECK_OK(code);
    return LocalMr(mr);
}

Descriptor describe(const rpma_mr_local* mr) {
    Descriptor descriptor{};
    std::size_t size = 0;
    CHECK_OK(rpma_mr_get_descriptor_size(mr, &size));
    CHECK_EQ(size, descriptor.size());
    CHECK_OK(rpma_mr_get_descriptor(mr, descriptor.data()));
    return descriptor;
}

RemoteMr remote_region(ConstBytes descriptor) {
    rpma_mr_remote* mr = nullptr;
    CHECK_OK(rpma_mr_remote_from_descriptor(descriptor.data(), descriptor.size(), &mr));
    return RemoteMr(mr);
}

ConnCfg configure(const Sizes& sizes) {
    rpma_conn_cfg* cfg = nullptr;
    CHECK_OK(rpma_conn_cfg_new(&cfg));
    CHECK_OK(rpma_conn_cfg_set_cq_size(cfg, sizes.cq));
    CHECK_OK(rpma_conn_cfg_set_sq_size(cfg, sizes.sq));
    CHECK_OK(rpma_conn_cfg_set_rq_size(cfg, sizes.rq));
    CHECK_OK(rpma_conn_cfg_set_rcq_size(cfg, sizes.rcq));
    CHECK_OK(rpma_conn_cfg_set_compl_channel(cfg, sizes.shared_channel));
    return ConnCfg(cfg);
}

ibv_wc next_completion(rpma_cq* cq, const Deadline& deadline) {
    int fd = -1;
    CHECK_OK(rpma_cq_get_fd(cq, &fd));
    ibv_wc wc{};
    int code = rpma_cq_get_wc(cq, 1, &wc, nullptr);
    while (code == RPMA_E_NO_COMPLETION) {
        if (!wait_readable(fd, deadline)) {
            FAIL("no completion in time");
        }
        CHECK_OK(rpma_cq_wait(cq));
        code = rpma_cq_get_wc(cq, 1, &wc, nullptr);
    }
    CHECK_OK(code);
    return wc;
}

ibv_wc expect_done(rpma_cq* cq, ibv_wc_opcode opcode, const void* op_context) {
    const ibv_wc wc = next_completion(cq);
    if (wc.status != IBV_WC_SUCCESS) {
        FAIL("operation %llu ended with '%s'", static_cast<unsigned long long>(wc.wr_id),
             ibv_wc_status_str(wc.status));
    }
    CHECK_EQ(wc.opcode, opcode);
    CHECK_EQ(wc.wr_id, reinterpret_cast<std::uintptr_t>(op_context));
    return wc;
}

ibv_wc expect_done(rpma_conn* connection, ibv_wc_opcode opcode, const void* op_context) {
    return expect_done(main_cq(connection), opcode, op_context);
}

void expect_none(rpma_cq* cq) {
    ibv_wc wc{};
    CHECK_CODE(rpma_cq_get_wc(cq, 1, &wc, nullptr), RPMA_E_NO_COMPLETION);
}

rpma_cq* main_cq(const rpma_conn* connection) {
    rpma_cq* cq = nullptr;
    CHECK_OK(rpma_conn_get_cq(connection, &cq));
    CHECK(cq != nullptr);
    return cq;
}

rpma_cq* receive_cq(const rpma_conn* connection) {
    rpma_cq* cq = nullptr;
    CHECK_OK(rpma_conn_get_rcq(connection, &cq));
    return cq;
}

rpma_conn_event next_event(rpma_conn* connection, const Deadline& deadline) {
    int fd = -1;
    CHECK_OK(rpma_conn_get_event_fd(connection, &fd));
    if (!wait_readable(fd, deadline)) {
        FAIL("no connection event in time");
    }
    rpma_conn_event event = RPMA_CONN_UNDEFINED;
    CHECK_OK(rpma_conn_next_event(connection, &event));
    return event;
}

void expect_event(rpma_conn* connection, rpma_conn_event event) {
    const rpma_conn_event actual = next_event(connection);
    if (actual != event) {
        FAIL("the event is '%s', expected '%s'", rpma_utils_conn_event_2str(actual),
             rpma_utils_conn_event_2str(event));
    }
}

void expect_closed(rpma_conn* connection) {
    expect_event(connection, RPMA_CONN_CLOSED);
}

void expect_closed_or_lost(rpma_conn* connection) {
    const rpma_conn_event event = next_event(connection);
    if (event != RPMA_CONN_CLOSED && event != RPMA_CONN_LOST) {
        FAIL("the event is '%s', expected closed or lost", rpma_utils_conn_event_2str(event));
    }
}

void disconnect(rpma_conn* connection) {
    CHECK_OK(rpma_conn_disconnect(connection));
    expect_closed(connection);
}

namespace {

ConstBytes from_private_data(const rpma_conn_private_data& data) {
    CHECK((data.ptr == nullptr) == (data.len == 0));
    return {static_cast<const std::byte*>(data.ptr), data.len};
}

}  // namespace

ConstBytes private_data(const rpma_conn* connection) {
    rpma_conn_private_data data{};
    CHECK_OK(rpma_conn_get_private_data(connection, &data));
    return from_private_data(data);
}

ConstBytes private_data(const rpma_conn_req* request) {
    rpma_conn_private_data data{};
    CHECK_OK(rpma_conn_req_get_private_data(request, &data));
    return from_private_data(data);
}

rpma_conn_private_data to_private_data(ConstBytes bytes) {
    CHECK(bytes.size() <= 255);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the API takes one struct for both
    // directions; sending only reads
    return {.ptr = const_cast<std::byte*>(bytes.data()),
            .len = static_cast<std::uint8_t>(bytes.size())};
}

}  // namespace it
