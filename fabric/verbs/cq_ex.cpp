// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/cq_ex.hpp"

#include <time.h>

#include <cerrno>

#include "verbs/cq.hpp"

namespace fabric::verbs {
namespace {

const ibv_wc& current(ibv_cq_ex* cq) {
    return Cq::of(cq).current();
}

std::int64_t nanoseconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
    return attr->comp_mask != 0 ? EINVAL : Cq::of(cq).begin_poll();
}

int next_poll(ibv_cq_ex* cq) {
    return Cq::of(cq).next_poll();
}

void end_poll(ibv_cq_ex* cq) {
    Cq::of(cq).end_poll();
}

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) {
    return current(cq).opcode;
}

std::uint32_t read_vendor_err(ibv_cq_ex* cq) {
    return current(cq).vendor_err;
}

std::uint32_t read_byte_len(ibv_cq_ex* cq) {
    return current(cq).byte_len;
}

__be32 read_imm_data(ibv_cq_ex* cq) {
    return current(cq).imm_data;
}

std::uint32_t read_qp_num(ibv_cq_ex* cq) {
    return current(cq).qp_num;
}

std::uint32_t read_src_qp(ibv_cq_ex* cq) {
    return current(cq).src_qp;
}

unsigned read_wc_flags(ibv_cq_ex* cq) {
    return current(cq).wc_flags;
}

std::uint32_t read_slid(ibv_cq_ex* cq) {
    return current(cq).slid;
}

std::uint8_t read_sl(ibv_cq_ex* cq) {
    return current(cq).sl;
}

std::uint8_t read_dlid_path_bits(ibv_cq_ex* cq) {
    return current(cq).dlid_path_bits;
}

std::uint64_t read_completion_ts(ibv_cq_ex* cq) {
    return Cq::of(cq).current_time();
}

std::uint64_t read_completion_wallclock_ns(ibv_cq_ex* cq) {
    const std::int64_t offset = nanoseconds(CLOCK_REALTIME) - nanoseconds(CLOCK_MONOTONIC);
    return Cq::of(cq).current_time() + static_cast<std::uint64_t>(offset);
}

}  // namespace

// read_cvlan, read_flow_tag and read_tm_info stay empty: a queue that asks for them is not made.
void fill_cq_functions(ibv_cq_ex& cq) {
    cq.start_poll = start_poll;
    cq.next_poll = next_poll;
    cq.end_poll = end_poll;
    cq.read_opcode = read_opcode;
    cq.read_vendor_err = read_vendor_err;
    cq.read_byte_len = read_byte_len;
    cq.read_imm_data = read_imm_data;
    cq.read_qp_num = read_qp_num;
    cq.read_src_qp = read_src_qp;
    cq.read_wc_flags = read_wc_flags;
    cq.read_slid = read_slid;
    cq.read_sl = read_sl;
    cq.read_dlid_path_bits = read_dlid_path_bits;
    cq.read_completion_ts = read_completion_ts;
    cq.read_completion_wallclock_ns = read_completion_wallclock_ns;
}

}  // namespace fabric::verbs
