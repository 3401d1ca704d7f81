// SPDX-License-Identifier: BSD-3-Clause
// Notices peers that vanished while data were under way to them. TCP_USER_TIMEOUT is of no use for
// that: it also ends connections whose peer is merely stopped and keeps its window shut, though
// that peer's kernel answers. So the age of the last acknowledgement is looked at, every few
// seconds, and only while something is under way.
#pragma once

namespace fabric::carrier::liveness {

// Cheap; to be called after bytes were given to a socket.
void data_under_way();

enum class Peer {
    Quiet,
    Busy,
    Dead
};  // nothing under way; under way and answering; not answering for too long
Peer look_at(int fd);
bool has_ended(int fd);  // the peer has closed its side, or both

}  // namespace fabric::carrier::liveness
