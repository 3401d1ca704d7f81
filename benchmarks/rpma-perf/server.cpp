// SPDX-License-Identifier: BSD-3-Clause
#include "server.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <list>
#include <thread>

#include "error.hpp"
#include "session.hpp"
#include "stop_signal.hpp"
#include "units.hpp"

namespace perf {
namespace {

constexpr int kAcceptMsServer = 200;

// A session with its thread, which says when it has ended.
struct Served {
    std::atomic<bool> ended{false};
    std::thread thread;
};

void serve(ServerState& state, Socket socket, Served& served) {
    const Address client = socket.remote();
    std::string trouble;
    {
        Session session(state, std::move(socket));
        trouble = session.run();
    }
    if (!trouble.empty()) {
        fmt::print(stderr, "rpma-perf server: client {}: {}\n", client.host, trouble);
    }
    served.ended = true;
}

void announce(const ServerState& state, const Socket& listener) {
    const Address local = listener.local();
    const bool file = state.file != nullptr;
    fmt::print("listening on {} port {}, target memory: {}{}, {}\n", local.host, local.port,
               file ? state.file->kind() : "DRAM", file ? " " + state.memory.path : "",
               format_size(file ? state.file->size() : state.memory.size));
    (void)std::fflush(stdout);
}

void join_ended(std::list<Served>& clients) {
    clients.remove_if([](Served& client) {
        if (client.ended) {
            client.thread.join();
        }
        return client.ended.load();
    });
}

}  // namespace

int run_server(const ServerOptions& options) {
    ServerState state;
    state.memory = options.memory;
    state.first_data_port = options.data_port;
    if (!options.memory.path.empty()) {
        state.file = std::make_shared<TargetMemory>(options.memory);
    }
    const Socket listener = Socket::listen(options.address, options.port);
    announce(state, listener);
    std::list<Served> clients;
    while (!stop_requested()) {
        join_ended(clients);
        if (auto socket = listener.accept(kAcceptMsServer)) {
            Served& served = clients.emplace_back();
            served.thread = std::thread([&state, &served, client = std::move(*socket)]() mutable {
                serve(state, std::move(client), served);
            });
        }
    }
    state.stop = true;
    for (Served& client : clients) {
        client.thread.join();
    }
    return 0;
}

}  // namespace perf
