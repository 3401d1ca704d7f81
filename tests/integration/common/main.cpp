// SPDX-License-Identifier: BSD-3-Clause
// main() of every scenario: reads what the driver passed, runs the role, looks for leaked
// descriptors.
#include <dlfcn.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include "common/check.hpp"
#include "common/role.hpp"

namespace {

std::string required_environment(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) {
        FAIL("%s is not set: this program is started by the driver", name);
    }
    return value;
}

std::vector<it::Sync> sync_channels() {
    std::vector<it::Sync> channels;
    std::istringstream list(required_environment("RPMA_TEST_SYNC_FDS"));
    for (int fd = -1; list >> fd;) {
        channels.emplace_back(fd);
    }
    return channels;
}

std::size_t client_number() {
    const char* text = std::getenv("RPMA_TEST_CLIENT");
    return text == nullptr ? 0 : std::strtoul(text, nullptr, 10);
}

it::Role read_role(int argc, char** argv) {
    return {.address = required_environment("RPMA_TEST_ADDRESS"),
            .port = required_environment("RPMA_TEST_PORT"),
            .directory = required_environment("RPMA_TEST_DIRECTORY"),
            .arguments = {argv + 2, argv + argc},
            .peers = sync_channels(),
            .number = client_number()};
}

// Where the driver asks for a certain librpma, make sure that the loader took that one.
void check_library() {
    const char* wanted = std::getenv("RPMA_TEST_LIBRARY");
    void* symbol = dlsym(RTLD_DEFAULT, "rpma_err_2str");
    Dl_info info{};
    if (symbol == nullptr || dladdr(symbol, &info) == 0) {
        CHECK(wanted == nullptr);
        return;
    }
    std::fprintf(stderr, "librpma: %s\n", info.dli_fname);
    if (wanted != nullptr && !std::filesystem::equivalent(wanted, info.dli_fname)) {
        FAIL("%s was to be used", wanted);
    }
}

// A kernel's device is opened by the first look-up that leads to it, and stays open.
void open_kernel_device(const std::string& address) {
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    rdma_cm_id* id = nullptr;
    if (it::on_fabric() || rdma_getaddrinfo(address.c_str(), nullptr, &hints, &info) != 0) {
        return;
    }
    if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0) {
        (void)rdma_resolve_addr(id, nullptr, info->ai_dst_addr, 1000);
        (void)rdma_destroy_id(id);
    }
    rdma_freeaddrinfo(info);
}

// The number of descriptors once another thread that still opens some has had time for it.
int settled_descriptors() {
    int count = it::count_descriptors();
    for (int unchanged = 0; unchanged < 5; ++unchanged) {
        it::sleep_ms(10 * it::time_scale());
        if (const int now = it::count_descriptors(); now != count) {
            count = now;
            unchanged = 0;
        }
    }
    return count;
}

void resolve_once(const std::string& address) {
    rdma_addrinfo hints{};
    hints.ai_port_space = RDMA_PS_TCP;
    rdma_addrinfo* info = nullptr;
    if (rdma_getaddrinfo(address.c_str(), nullptr, &hints, &info) != 0) {
        return;
    }
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) == 0) {
        (void)rdma_resolve_addr(id, nullptr, info->ai_dst_addr, 1000);
        (void)rdma_destroy_id(id);
    }
    rdma_freeaddrinfo(info);
}

void listen_once() {
    rdma_event_channel* channel = rdma_create_event_channel();
    if (channel == nullptr) {
        return;
    }
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(channel, &id, nullptr, RDMA_PS_TCP) == 0) {
        sockaddr_in any{};
        any.sin_family = AF_INET;
        if (rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&any)) == 0) {
            (void)rdma_listen(id, 1);
        }
        (void)rdma_destroy_id(id);
    }
    rdma_destroy_event_channel(channel);
}

// librdmacm opens its devices once and keeps them, and a device may start helpers at its first use:
// a look-up and a moment of listening keep both out of the count.
int baseline_descriptors(const std::string& address) {
    resolve_once(address);
    listen_once();
    return settled_descriptors();
}

// Closing may be finished by another thread, so the number has some time to come down.
void check_descriptors(int before) {
    const it::Deadline deadline(std::chrono::seconds(5));
    while (it::count_descriptors() > before && !deadline.passed()) {
        it::sleep_ms(20);
    }
    if (it::count_descriptors() <= before) {
        return;
    }
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code ignored;
        std::fprintf(stderr, "open: %s -> %s\n", entry.path().c_str(),
                     std::filesystem::read_symlink(entry.path(), ignored).c_str());
    }
    FAIL("%d descriptors are open, %d were before", it::count_descriptors(), before);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string_view name = argc < 2 ? "" : argv[1];
    if (name != "server" && name != "client") {
        FAIL("usage: %s server|client [ARGUMENT…]", argv[0]);
    }
    it::Role role = read_role(argc, argv);
    check_library();
    open_kernel_device(role.address);
    const int before = baseline_descriptors(role.address);
    if (name == "server") {
        server(role);
    } else {
        client(role);
    }
    check_descriptors(before);
    return 0;
}
