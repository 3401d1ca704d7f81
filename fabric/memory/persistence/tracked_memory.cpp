// SPDX-License-Identifier: BSD-3-Clause
// Which memory account is kept of: registrations, the files under them, and how long these are now.
#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <utility>

#include "log.hpp"
#include "memory/pages.hpp"
#include "memory/persistence/tracker.hpp"
#include "memory/probe.hpp"

namespace fabric::memory::persistence {

void Tracker::add(const Region& region) {
    const PageRange pages = pages_of(region.base, region.length);
    for (const FileMapping& mapping : file_mappings(pages.begin, pages.length)) {
        const auto first = reinterpret_cast<std::uintptr_t>(pages.begin);
        const std::uintptr_t last = (first + pages.length + page_size() - 1) & ~(page_size() - 1);
        const auto [begin, end] = widened(mapping, first, last);
        const std::uint64_t offset = mapping.offset + (begin - mapping.begin);
        mapped_.push_back({&region, begin, end, offset, mapping.device, mapping.inode});
        cover(mapping, offset, offset + (end - begin));
    }
}

void Tracker::remove(const Region& region) {
    std::erase_if(mapped_, [&](const Mapped& mapping) { return mapping.region == &region; });
}

// Areas for what has none yet of a range of a file.
void Tracker::cover(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end) {
    while (begin < end) {
        std::uint64_t next = end;
        std::uint64_t known = 0;
        for (const Part& part : parts_) {
            if (!part.is_of(mapping.device, mapping.inode)) {
                continue;
            }
            if (part.begin <= begin && begin < part.wanted) {
                known = std::max(known, part.wanted);
            } else if (part.begin > begin) {
                next = std::min(next, part.begin);
            }
        }
        if (known == 0) {
            add_part(mapping, begin, next);
        }
        begin = std::max(known, known == 0 ? next : 0);
    }
}

// Of a file that ends before it there is an area, too; it grows with the file.
void Tracker::add_part(const FileMapping& mapping, std::uint64_t begin, std::uint64_t end) {
    if (account_bytes_ + (end - begin) > model_.platform().memory) {
        leave_out(mapping, end - begin, "it is larger than the account may be: memory=SIZE");
        return;
    }
    const View view = open_view(mapping, begin, end - begin);
    if (view.error != 0) {
        leave_out(mapping, end - begin, std::strerror(view.error));
        return;
    }
    if (process_ == 0) {
        start();
    }
    account_bytes_ += end - begin;
    model_.add_area(mapping.path, view.memory, view.image, view.length, begin);
    parts_.push_back({mapping, begin, begin + view.length, end, view});
}

void Tracker::leave_out(const FileMapping& mapping, std::uint64_t length, const char* why) {
    std::snprintf(notes_.left_out.data(), notes_.left_out.size(), "%" PRIu64 " bytes of %s: %s",
                  length, mapping.path.c_str(), why);
    log(LogLevel::Error, "no account of persistent memory is kept of %s", notes_.left_out.data());
}

// --- files that grow and shrink ---

// Of a file that reaches up to the end of one part, the parts in front of that are there, too.
void Tracker::follow_files() {
    const Part* there = nullptr;
    for (auto number = static_cast<std::uint32_t>(parts_.size()); number-- > 0;) {
        const Part& part = parts_[number];
        if (there == nullptr || part.end > there->end ||
            !part.is_of(there->mapping.device, there->mapping.inode)) {
            follow_file(number);
            there = &part;
        }
    }
}

// A page behind the end of a file cannot be touched: neither by the program nor by the account.
void Tracker::follow_file(std::uint32_t number) {
    Part& part = parts_[number];
    const std::byte* const memory = model_.area(number).memory;
    std::uint64_t length = part.end - part.begin;
    if (length != 0 && !readable(memory + length - 1, 1)) {
        std::uint64_t good = 0;
        for (std::uint64_t bad = (length - 1) / page_size(); good < bad;) {
            const std::uint64_t page = good + (bad - good) / 2;
            const bool there = readable(memory + page * page_size(), 1);
            good = there ? page + 1 : good;
            bad = there ? bad : page;
        }
        length = good * page_size();
        model_.shrink(number, length);
        part.end = part.begin + length;
    }
}

// What is new of a file that was too short is durable as it is found.
void Tracker::grow(std::uint32_t number) {
    Part& part = parts_[number];
    struct stat now {};
    if (stat(part.mapping.path.c_str(), &now) != 0 || !part.is_of(now.st_dev, now.st_ino) ||
        static_cast<std::uint64_t>(now.st_size) <= part.end) {
        return;
    }
    const View view = open_view(part.mapping, part.begin, part.wanted - part.begin);
    if (view.error != 0) {
        leave_out(part.mapping, part.wanted - part.end, std::strerror(view.error));
        part.wanted = part.end;
    } else if (view.length > part.end - part.begin) {
        model_.replace(number, view.memory, view.image, view.length);
        close_view(std::exchange(part.view, view));
        part.end = part.begin + view.length;
    } else {
        close_view(view);
    }
}

// --- what lies at an address ---

// Adds what registrations cover to `out`, the rest to `unknown`.
void Tracker::find(std::uintptr_t begin, std::uintptr_t end, std::vector<Range>& out,
                   std::vector<Extent>& unknown) {
    std::uintptr_t done = begin;  // registrations may overlap
    while (done < end) {
        std::uintptr_t next = end;
        const Mapped* here = nullptr;
        for (const Mapped& mapping : mapped_) {
            if (mapping.begin <= done && done < mapping.end) {
                here = here == nullptr || here->end < mapping.end ? &mapping : here;
            } else if (mapping.begin > done) {
                next = std::min(next, mapping.begin);
            }
        }
        if (here != nullptr) {
            next = std::min(end, here->end);
            const std::uint64_t offset = here->offset + (done - here->begin);
            find_part(here->device, here->inode, offset, offset + (next - done), out);
        } else {
            unknown.push_back({done, next});
        }
        done = next;
    }
}

std::uint64_t Tracker::find_current(const void* address, std::uint64_t length,
                                    std::vector<Range>& out) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    const std::size_t before = out.size();
    std::vector<Extent> unknown;
    find(begin, begin + length, out, unknown);
    std::uint64_t found = 0;
    for (std::size_t i = before; i < out.size(); ++i) {
        found += out[i].length();
    }
    return found;
}

// Not only the mapping that is registered leads to the file.
void Tracker::find_anywhere(const void* address, std::uint64_t length, std::vector<Range>& out) {
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    std::vector<Extent> unknown;
    find(begin, begin + length, out, unknown);
    for (const Extent& extent : unknown) {
        if (parts_.empty()) {
            return;
        }
        const auto* const there = static_cast<const std::byte*>(address) + (extent.begin - begin);
        for (const FileMapping& file : file_mappings(there, extent.end - extent.begin)) {
            const std::uintptr_t from = std::max(file.begin, extent.begin);
            const std::uintptr_t to = std::min(file.end, extent.end);
            const std::uint64_t offset = file.offset + (from - file.begin);
            find_part(file.device, file.inode, offset, offset + (to - from), out);
        }
    }
}

void Tracker::find_part(dev_t device, ino_t inode, std::uint64_t begin, std::uint64_t end,
                        std::vector<Range>& out) {
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
        const Part& part = parts_[number];
        if (!part.is_of(device, inode) || part.begin >= end || part.wanted <= begin) {
            continue;
        }
        follow_file(number);
        if (part.end < std::min(end, part.wanted)) {
            grow(number);
        }
        const std::uint64_t from = std::max(begin, part.begin);
        const std::uint64_t to = std::min(end, part.end);
        if (from < to) {
            out.push_back({number, from - part.begin, to - part.begin});
        }
    }
}

void Tracker::find_file(dev_t device, ino_t inode, std::vector<Range>& out) {
    find_part(device, inode, 0, ~0ULL, out);
}

void Tracker::find_file_system(dev_t device, std::vector<Range>& out) {
    for (std::uint32_t number = 0; number < parts_.size(); ++number) {
        if (parts_[number].mapping.device == device) {
            follow_file(number);
            out.push_back({number, 0, parts_[number].end - parts_[number].begin});
        }
    }
}

}  // namespace fabric::memory::persistence
