// SPDX-License-Identifier: BSD-3-Clause
// What a scenario is: one program with two roles. The driver starts it once as "server" and once or
// more as "client".
#pragma once

#include <string>
#include <vector>

#include "common/sync.hpp"

namespace it {

struct Role {
    std::string address;                 // to listen on or to connect to
    std::string port;                    // reserved for this test
    std::string directory;               // private to this test, must be empty again at its end
    std::vector<std::string> arguments;  // what follows the role's name on the command line
    std::vector<Sync> peers;             // one for a client; one per client for the server
    std::size_t number = 0;  // of a client, counted from 0: its place in the server's peers

    Sync& peer() { return peers.front(); }
    bool has_argument(const std::string& word) const;
};

// True when the device answering in this process is the project's software device.
bool on_fabric();
void require_fabric();

// Open descriptors of this process.
int count_descriptors();

}  // namespace it

// Every scenario defines these two. All that they opened must be closed when they return: the
// number of open descriptors is compared with the one before.
void server(it::Role& role);
void client(it::Role& role);
