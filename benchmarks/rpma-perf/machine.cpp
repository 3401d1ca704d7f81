// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <librpma.h>
#include <link.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "device_info.hpp"
#include "error.hpp"

namespace perf {
namespace {

std::string path_of(const void* function) {
    Dl_info info{};
    if (dladdr(function, &info) == 0 || info.dli_fname == nullptr) {
        return "unknown";
    }
    std::error_code error;
    const auto canonical = std::filesystem::canonical(info.dli_fname, error);
    return error ? info.dli_fname : canonical.string();
}

struct BuildIdSearch {
    std::uintptr_t address;
    std::string id;
};

std::size_t padded(std::size_t bytes) {
    return (bytes + 3) / 4 * 4;
}

const char* loaded_at(std::uintptr_t address) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader gives addresses as numbers
    return reinterpret_cast<const char*>(address);
}

std::string id_in_notes(const char* at, std::size_t size) {
    const char* const end = at + size;
    while (at + sizeof(ElfW(Nhdr)) <= end) {
        ElfW(Nhdr) note{};
        std::memcpy(&note, at, sizeof(note));
        const char* const name = at + sizeof(note);
        const char* const content = name + padded(note.n_namesz);
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4) {
            std::string id;
            for (std::size_t i = 0; i < note.n_descsz; i++) {
                id += fmt::format("{:02x}", static_cast<unsigned char>(content[i]));
            }
            return id;
        }
        at = content + padded(note.n_descsz);
    }
    return {};
}

// dl_iterate_phdr's callback: the notes of the object that holds the address.
int search_object(dl_phdr_info* object, std::size_t, void* data) {
    auto& search = *static_cast<BuildIdSearch*>(data);
    bool here = false;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const auto& part = object->dlpi_phdr[i];
        const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
        here |= part.p_type == PT_LOAD && search.address >= begin &&
                search.address < begin + part.p_memsz;
    }
    for (int i = 0; here && i < object->dlpi_phnum && search.id.empty(); i++) {
        const auto& part = object->dlpi_phdr[i];
        if (part.p_type == PT_NOTE) {
            search.id = id_in_notes(loaded_at(object->dlpi_addr + part.p_vaddr), part.p_memsz);
        }
    }
    return here ? 1 : 0;
}

std::string build_id_of(const void* function) {
    BuildIdSearch search{reinterpret_cast<std::uintptr_t>(function), {}};
    (void)dl_iterate_phdr(search_object, &search);
    return search.id;
}

// The value of a line "key: value" or "key=value".
std::string field(const char* file, std::string_view key, char separator) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(key)) {
            const std::size_t begin = line.find_first_not_of(" \t\"", line.find(separator) + 1);
            const std::size_t end = line.find_last_not_of(" \t\"");
            return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
        }
    }
    return "unknown";
}

int usable_processors() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : get_nprocs();
}

double load_average() {
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : 0;
}

}  // namespace

std::string librpma_path() {
    return path_of(reinterpret_cast<const void*>(&rpma_peer_new));
}

nlohmann::json describe_machine(const std::string& address, bool local) {
    utsname system{};
    (void)uname(&system);
    struct sysinfo memory {};
    (void)sysinfo(&memory);
    const auto* const rpma = reinterpret_cast<const void*>(&rpma_peer_new);
    nlohmann::json out = {
        {"host", system.nodename},
        {"os", field("/etc/os-release", "PRETTY_NAME=", '=')},
        {"kernel", fmt::format("{} {}", system.sysname, system.release)},
        {"processor", field("/proc/cpuinfo", "model name", ':')},
        {"processors", usable_processors()},
        {"memory_bytes", static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit},
        {"load_average", load_average()},
        {"librpma", {{"path", librpma_path()}, {"build_id", build_id_of(rpma)}}},
        {"verbs", path_of(reinterpret_cast<const void*>(&ibv_alloc_pd))}};
    ibv_context* context = nullptr;
    if (rpma_utils_get_ibv_context(
            address.c_str(), local ? RPMA_UTIL_IBV_CONTEXT_LOCAL : RPMA_UTIL_IBV_CONTEXT_REMOTE,
            &context) == 0) {
        out["device"] = describe_device(context);
    }
    return out;
}

}  // namespace perf
