// SPDX-License-Identifier: BSD-3-Clause
// Socket addresses and the options every socket of the carrier gets.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "carrier/descriptor.hpp"

namespace fabric::carrier {

socklen_t length_of(const sockaddr_storage& address);  // 0 for a family that is not IP
std::uint16_t port_of(const sockaddr_storage& address);
bool is_wildcard(const sockaddr_storage& address);
bool same_endpoint(const sockaddr_storage& a, const sockaddr_storage& b);  // address and port
std::string text_of(const sockaddr_storage& address);                      // "192.0.2.1:4791"

sockaddr_storage local_of(int fd);
sockaddr_storage peer_of(int fd);

Descriptor make_stream_socket(int family);  // non-blocking, close-on-exec
// Small packets leave at once; a peer that vanished while idle is noticed.
void tune(int fd);

}  // namespace fabric::carrier
