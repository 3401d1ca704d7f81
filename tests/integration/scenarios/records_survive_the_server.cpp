// SPDX-License-Identifier: BSD-3-Clause
// The use that the library is made for: records written into a mapped file, flushed, then announced
// by a commit word. After the server is killed, the file holds every record that was acknowledged.
// Argument: "shm" puts the file into /dev/shm.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "common/pattern.hpp"
#include "common/session.hpp"

namespace {

constexpr std::size_t kRecord = 4096;
constexpr std::size_t kRecords = 256;
constexpr std::size_t kSize =
    kRecord * (kRecords + 1);  // the commit word has a page of its own in front

std::string file_path(const it::Role& role) {
    return role.has_argument("shm") ? "/dev/shm/rpma-test-" + role.port
                                    : role.directory + "/records";
}

class MappedFile {
public:
    explicit MappedFile(const std::string& path)
        : fd_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
        CHECK(fd_ >= 0);
        CHECK(ftruncate(fd_, kSize) == 0);
        pages_ = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
        CHECK(pages_ != MAP_FAILED);
    }
    ~MappedFile() {
        munmap(pages_, kSize);
        close(fd_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    it::Bytes bytes() const { return {static_cast<std::byte*>(pages_), kSize}; }

private:
    int fd_;
    void* pages_ = nullptr;
};

void write_record(const it::Attached& attached, std::uint64_t number) {
    it::fill(attached.local.bytes(), number);
    CHECK_OK(rpma_write(attached.conn(), attached.remote.get(), kRecord * number,
                        attached.local.mr(), 0, kRecord, RPMA_F_COMPLETION_ON_ERROR, nullptr));
    attached.flush(kRecord * number, kRecord, RPMA_FLUSH_TYPE_PERSISTENT);
    char word[8];
    std::memcpy(word, &number, sizeof word);
    CHECK_OK(rpma_atomic_write(attached.conn(), attached.remote.get(), 0, word,
                               RPMA_F_COMPLETION_ON_ERROR, nullptr));
    attached.flush(0, 8, RPMA_FLUSH_TYPE_PERSISTENT);
}

void check_file(const std::string& path, std::uint64_t last) {
    const MappedFile file(path);
    std::uint64_t committed = 0;
    std::memcpy(&committed, file.bytes().data(), sizeof committed);
    CHECK_EQ(committed, last);
    for (std::uint64_t number = 1; number <= committed; ++number) {
        it::check_filled(file.bytes().subspan(kRecord * number, kRecord), number);
    }
}

}  // namespace

void server(it::Role& role) {
    const it::Peer peer = it::open_peer(role.address, RPMA_UTIL_IBV_CONTEXT_LOCAL);
    const MappedFile file(file_path(role));
    const it::LocalMr mr = it::register_for_persistence(
        peer.get(), file.bytes(), it::kUsualUsage | RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT);
    const it::Endpoint endpoint = it::listen(role, peer.get());
    const it::Connection connection = it::accept(endpoint.get(), nullptr, it::describe(mr.get()));
    role.peer().await("kill the server");
    std::raise(SIGKILL);
}

void client(it::Role& role) {
    const it::Attached attached = it::attach(role, kRecord);
    it::declare_direct_write(attached.conn());
    for (std::uint64_t number = 1; number <= kRecords; ++number) {
        write_record(attached, number);
    }
    role.peer().signal("kill the server");
    role.peer().await_end();
    it::expect_closed_or_lost(attached.conn());
    check_file(file_path(role), kRecords);
    CHECK(unlink(file_path(role).c_str()) == 0);
}
