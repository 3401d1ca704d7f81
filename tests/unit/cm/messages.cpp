// SPDX-License-Identifier: BSD-3-Clause
// The messages of the connection manager: every field where the InfiniBand specification puts it
// (tables of chapter 12.6), and nothing but whole messages accepted.
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "cmocka.hpp"
#include "wire/cm.hpp"

using namespace fabric::wire;

namespace {

constexpr std::size_t kBody = 24;

std::vector<std::byte> bytes_of(std::string_view hex) {
    std::vector<std::byte> out;
    int high = -1;
    for (const char c : hex) {
        if (c == ' ')
            continue;
        const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
        if (high < 0) {
            high = digit;
        } else {
            out.push_back(static_cast<std::byte>(high * 16 + digit));
            high = -1;
        }
    }
    return out;
}

// Asserts the bytes at an offset from the start of the datagram.
void assert_bytes(const Mad& mad, std::size_t at, std::string_view hex) {
    const auto wanted = bytes_of(hex);
    assert_true(at + wanted.size() <= mad.size());
    assert_memory_equal(mad.data() + at, wanted.data(), wanted.size());
}

void assert_zero(const Mad& mad, std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i)
        assert_int_equal(std::to_integer<int>(mad[i]), 0);
}

template <std::size_t N>
void count_up(std::array<std::byte, N>& data, int first) {
    for (std::size_t i = 0; i < N; ++i)
        data[i] = static_cast<std::byte>(first + static_cast<int>(i));
}

CmRequest some_request() {
    CmRequest m;
    m.local_id = 0x11223344;
    m.service_id = 0x0000000001061f90;  // RDMA_PS_TCP, port 8080
    m.ca_guid = 0x0102030405060708;
    m.qp_number = 0xabcdef;
    m.responder_resources = 0x10;
    m.initiator_depth = 0x20;
    m.remote_timeout = 20;
    m.local_timeout = 19;
    m.flow_control = true;
    m.starting_psn = 0x123456;
    m.retry_count = 7;
    m.rnr_retry_count = 6;
    m.max_cm_retries = 15;
    m.partition_key = 0xffff;
    m.mtu_code = 8;
    m.shared_receive_queue = true;
    count_up(m.local_gid, 0x40);
    count_up(m.remote_gid, 0x60);
    m.traffic_class = 0x33;
    m.hop_limit = 64;
    m.packet_rate = 3;
    m.ack_timeout = 17;
    m.ece = {.vendor = 0x15b3aa, .options = 0x01020304};
    count_up(m.private_data, 0x80);
    return m;
}

CmReply some_reply() {
    CmReply m;
    m.local_id = 0x55667788;
    m.remote_id = 0x11223344;
    m.ca_guid = 0x1112131415161718;
    m.qp_number = 0x00fedc;
    m.starting_psn = 0x654321;
    m.responder_resources = 4;
    m.initiator_depth = 5;
    m.ack_delay = 17;
    m.flow_control = true;
    m.rnr_retry_count = 5;
    m.shared_receive_queue = true;
    m.ece = {.vendor = 0x15b3aa, .options = 0x01020304};
    count_up(m.private_data, 1);
    return m;
}

void request_is_laid_out_by_the_book(void**) {
    const Mad mad = encode({.transaction = 0x0011223344556677, .body = some_request()});
    assert_bytes(mad, 0, "01 07 02 03 0000 0000 0011223344556677 0010 0000 01020304");
    assert_bytes(mad, kBody, "11223344 00000000 0000000001061f90 0102030405060708");
    assert_bytes(mad, kBody + 24, "15b3aa 00 00000000");   // vendor, Q_Key
    assert_bytes(mad, kBody + 32, "abcdef 10 000000 20");  // QPN, resources; EECN, depth
    assert_bytes(mad, kBody + 40, "000000 a1 123456 9f");  // timeout 20, RC, flow; PSN, 19, 7
    assert_bytes(mad, kBody + 48, "ffff 86 f8");           // P_Key; MTU 8, RNR 6; 15, SRQ
    assert_bytes(mad, kBody + 52, "ffff ffff 404142434445464748494a4b4c4d4e4f");
    assert_bytes(mad, kBody + 72, "606162636465666768696a6b6c6d6e6f");
    assert_bytes(mad, kBody + 88, "000000 03 33 40 00 88");  // rate, class, hops, ack timeout
    assert_zero(mad, kBody + 96, kBody + 140);               // no alternate path
    assert_bytes(mad, kBody + 140, "8081828384");
    assert_bytes(mad, 255, "db");
}

void reply_is_laid_out_by_the_book(void**) {
    const Mad mad = encode({.transaction = 1, .body = some_reply()});
    assert_bytes(mad, 0, "01 07 02 03 0000 0000 0000000000000001 0013 0000 01020304");
    assert_bytes(mad, kBody, "55667788 11223344 00000000 00fedc 15 000000 b3 654321 aa");
    assert_bytes(mad, kBody + 24, "04 05 89 b0 1112131415161718 0102");
    assert_bytes(mad, 255, "c4");
}

void small_messages_are_laid_out_by_the_book(void**) {
    const CmReject rejected{.local_id = 1,
                            .remote_id = 2,
                            .answered = CmAnswered::Reply,
                            .info_length = 3,
                            .reason = 28,
                            .info = {std::byte{9}},
                            .private_data = {std::byte{7}}};
    const Mad reject = encode({.transaction = 0, .body = rejected});
    assert_bytes(reject, 16, "0012");
    assert_bytes(reject, kBody, "00000001 00000002 40 06 001c 09 00");
    assert_bytes(reject, kBody + 84, "07 00");
    const Mad ready = encode({.transaction = 0, .body = CmReadyToUse{1, 2}});
    assert_bytes(ready, 16, "0014");
    assert_bytes(ready, kBody, "00000001 00000002 0000");
    const Mad receipt =
        encode({.transaction = 0, .body = CmMessageReceipt{1, 2, CmAnswered::Request, 24}});
    assert_bytes(receipt, 16, "0011");
    assert_bytes(receipt, kBody, "00000001 00000002 00 c0 00");
    const Mad ask = encode({.transaction = 0, .body = CmDisconnectRequest{1, 2, 0xabcdef}});
    assert_bytes(ask, 16, "0015");
    assert_bytes(ask, kBody, "00000001 00000002 abcdef 00");
    const Mad answer = encode({.transaction = 0, .body = CmDisconnectReply{1, 2}});
    assert_bytes(answer, 16, "0016");
    assert_bytes(answer, kBody, "00000001 00000002 0000");
}

// Decoding and encoding again gives the same bytes: nothing is lost on the way.
void every_message_comes_back(void**) {
    CmReject rejected{.local_id = 1, .remote_id = 2, .reason = 28, .info = {}, .private_data = {}};
    count_up(rejected.private_data, 3);
    const std::array<CmBody, 7> bodies = {
        some_request(),
        some_reply(),
        CmReadyToUse{3, 4},
        rejected,
        CmMessageReceipt{1, 2, CmAnswered::Reply, 24},
        CmDisconnectRequest{5, 6, 0xffffff},
        CmDisconnectReply{7, 8},
    };
    for (const CmBody& body : bodies) {
        const Mad mad = encode({.transaction = 0x8877665544332211, .body = body});
        const auto message = decode_cm(mad);
        assert_true(message.has_value());
        assert_int_equal(message->body.index(), body.index());
        assert_int_equal(message->transaction, 0x8877665544332211);
        assert_true(encode(*message) == mad);
    }
}

void fields_are_read_from_their_places(void**) {
    const auto message = decode_cm(encode({.transaction = 1, .body = some_request()}));
    const auto* const request = std::get_if<CmRequest>(&message->body);
    assert_non_null(request);
    assert_int_equal(request->qp_number, 0xabcdef);
    assert_int_equal(request->remote_timeout, 20);
    assert_int_equal(request->local_timeout, 19);
    assert_true(request->flow_control);
    assert_int_equal(request->retry_count, 7);
    assert_int_equal(request->rnr_retry_count, 6);
    assert_int_equal(request->max_cm_retries, 15);
    assert_int_equal(request->mtu_code, 8);
    assert_true(request->shared_receive_queue);
    assert_int_equal(request->packet_rate, 3);
    assert_int_equal(request->ack_timeout, 17);
    assert_int_equal(request->ece.vendor, 0x15b3aa);
    assert_int_equal(request->ece.options, 0x01020304);
    const auto answer = decode_cm(encode({.transaction = 1, .body = some_reply()}));
    const auto* const reply = std::get_if<CmReply>(&answer->body);
    assert_non_null(reply);
    assert_int_equal(reply->qp_number, 0xfedc);
    assert_int_equal(reply->ack_delay, 17);
    assert_int_equal(reply->rnr_retry_count, 5);
    assert_int_equal(reply->ece.vendor, 0x15b3aa);
}

void only_whole_cm_messages_are_taken(void**) {
    const Mad good = encode({.transaction = 1, .body = some_request()});
    std::vector<std::byte> longer(good.begin(), good.end());
    longer.push_back(std::byte{0});
    assert_false(decode_cm(longer).has_value());
    for (std::size_t size = 0; size < good.size(); ++size)
        assert_false(decode_cm(std::span(good).first(size)).has_value());
    for (std::size_t at = 0; at < 4; ++at) {  // base version, class, class version, method
        Mad bad = good;
        bad[at] ^= std::byte{0x80};
        assert_false(decode_cm(bad).has_value());
    }
    for (int attribute = 0; attribute < 0x10000; ++attribute) {
        Mad other = good;
        other[16] = static_cast<std::byte>(attribute >> 8);
        other[17] = static_cast<std::byte>(attribute);
        assert_int_equal(decode_cm(other).has_value(), attribute >= 0x10 && attribute <= 0x16);
    }
}

void lengths_and_codes_stay_in_range(void**) {
    Mad mad =
        encode({.transaction = 1, .body = CmReject{.local_id = 1, .info = {}, .private_data = {}}});
    mad[kBody + 8] = std::byte{0xff};  // message rejected: 3 does not exist
    mad[kBody + 9] = std::byte{0xff};  // 127 bytes of information in a field of 72
    const auto message = decode_cm(mad);
    const auto* const reject = std::get_if<CmReject>(&message->body);
    assert_non_null(reject);
    assert_true(reject->answered == CmAnswered::Other);
    assert_int_equal(reject->info_length, 72);
}

void too_large_values_do_not_touch_their_neighbours(void**) {
    CmRequest m;
    m.qp_number = 0xffffffff;
    m.starting_psn = 0xffffffff;
    m.retry_count = 0xff;
    m.rnr_retry_count = 0xff;
    m.mtu_code = 0xff;
    m.remote_timeout = 0xff;
    m.packet_rate = 0xff;
    const Mad mad = encode({.transaction = 0, .body = m});
    assert_bytes(mad, kBody + 32, "ffffff 00 000000 00");
    assert_bytes(mad, kBody + 40, "000000 f8 ffffff 07");
    assert_bytes(mad, kBody + 48, "0000 f7 00");
    assert_bytes(mad, kBody + 88, "000000 3f 00");
}

void ip_header_has_36_bytes(void**) {
    CmIpHeader header;
    header.source_port = 0x1f90;
    header.source[12] = std::byte{192};
    header.destination[15] = std::byte{1};
    std::array<std::byte, kCmIpHeaderBytes> out;
    out.fill(std::byte{0xee});
    encode_ip_header(header, out);
    const auto wanted =
        bytes_of("00 40 1f90 000000000000000000000000c0000000 00000000000000000000000000000001");
    assert_memory_equal(out.data(), wanted.data(), out.size());
    const auto back = decode_ip_header(out);
    assert_true(back.has_value());
    assert_false(back->ipv6);
    assert_int_equal(back->source_port, 0x1f90);
    assert_true(back->source == header.source);
    assert_true(back->destination == header.destination);
    out[1] = std::byte{0x60};
    assert_true(decode_ip_header(out)->ipv6);
    out[1] = std::byte{0x50};
    assert_false(decode_ip_header(out).has_value());
    out[1] = std::byte{0x40};
    out[0] = std::byte{1};
    assert_false(decode_ip_header(out).has_value());
}

}  // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(request_is_laid_out_by_the_book),
        cmocka_unit_test(reply_is_laid_out_by_the_book),
        cmocka_unit_test(small_messages_are_laid_out_by_the_book),
        cmocka_unit_test(every_message_comes_back),
        cmocka_unit_test(fields_are_read_from_their_places),
        cmocka_unit_test(only_whole_cm_messages_are_taken),
        cmocka_unit_test(lengths_and_codes_stay_in_range),
        cmocka_unit_test(too_large_values_do_not_touch_their_neighbours),
        cmocka_unit_test(ip_header_has_36_bytes),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
