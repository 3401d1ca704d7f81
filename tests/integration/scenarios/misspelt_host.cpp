// SPDX-License-Identifier: BSD-3-Clause
// A misspelt host, here a letter in an address: every function that takes one fails, and the log
// has the resolver's own words for it, with the name. One process.
#include <netdb.h>

#include <cerrno>
#include <cstring>

#include "common/log_capture.hpp"
#include "common/session.hpp"

namespace {

// An address, so that no name server is asked, and one that cannot be a name: it has no such label.
constexpr const char* kMisspelt = "192.0..1";

// What the resolver says of it, found out in the same way.
std::string words_of_the_resolver() {
    addrinfo hints{};
    addrinfo* found = nullptr;
    const int code = getaddrinfo(kMisspelt, "7471", &hints, &found);
    CHECK(code != 0 && code != EAI_SYSTEM);
    return gai_strerror(code);
}

void expect_words(const std::string& words) {
    it::expect_one_error({kMisspelt, words});
    for (const int err : {0, ENOENT}) {
        CHECK(it::logged().front().find(std::strerror(err)) == std::string::npos);
    }
    it::logged().clear();
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const std::string words = words_of_the_resolver();
    it::capture_log();
    for (const auto side : {RPMA_UTIL_IBV_CONTEXT_LOCAL, RPMA_UTIL_IBV_CONTEXT_REMOTE}) {
        ibv_context* device = nullptr;
        CHECK_CODE(rpma_utils_get_ibv_context(kMisspelt, side, &device), RPMA_E_PROVIDER);
        CHECK(device == nullptr);
        expect_words(words);
    }
    rpma_conn_req* request = nullptr;
    CHECK_CODE(rpma_conn_req_new(peer.get(), kMisspelt, role.port.c_str(), nullptr, &request),
               RPMA_E_PROVIDER);
    CHECK(request == nullptr);
    expect_words(words);
    rpma_ep* endpoint = nullptr;
    CHECK_CODE(rpma_ep_listen(peer.get(), kMisspelt, role.port.c_str(), &endpoint),
               RPMA_E_PROVIDER);
    CHECK(endpoint == nullptr);
    expect_words(words);
}

void client(it::Role&) {}
