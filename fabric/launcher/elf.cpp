// SPDX-License-Identifier: BSD-3-Clause
#include "elf.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>

namespace launcher {
namespace {

constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr std::size_t kMaxScriptLine = 255;  // the kernel reads no more of the first line

using Header = ElfW(Ehdr);
using ProgramHeader = ElfW(Phdr);
using DynamicEntry = ElfW(Dyn);

Header own_header() {
    Header header{};
    std::ifstream("/proc/self/exe", std::ios::binary)
        .read(reinterpret_cast<char*>(&header), sizeof(header));
    return header;
}

template <typename T>
bool read_at(std::ifstream& file, std::uint64_t offset, T& out) {
    file.clear();
    file.seekg(static_cast<std::streamoff>(offset));
    return static_cast<bool>(file.read(reinterpret_cast<char*>(&out), sizeof(out)));
}

// A static-pie program and a library both lack an interpreter; only the program is marked as one.
bool is_static_pie(std::ifstream& file, const ProgramHeader& dynamic) {
    for (std::uint64_t at = 0; at < dynamic.p_filesz; at += sizeof(DynamicEntry)) {
        DynamicEntry entry{};
        if (!read_at(file, dynamic.p_offset + at, entry) || entry.d_tag == DT_NULL) {
            break;
        }
        if (entry.d_tag == DT_FLAGS_1) {
            return (entry.d_un.d_val & DF_1_PIE) != 0;
        }
    }
    return false;
}

FileKind inspect_elf(std::ifstream& file) {
    Header header{};
    if (!read_at(file, 0, header) || header.e_ident[EI_CLASS] != kClass ||
        header.e_machine != own_header().e_machine) {
        return FileKind::Foreign;
    }
    FileKind without_interpreter = FileKind::Static;
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ProgramHeader part{};
        if (!read_at(file, header.e_phoff + std::uint64_t{i} * header.e_phentsize, part)) {
            break;
        }
        if (part.p_type == PT_INTERP) {
            return FileKind::Dynamic;
        }
        if (part.p_type == PT_DYNAMIC && header.e_type == ET_DYN && !is_static_pie(file, part)) {
            without_interpreter = FileKind::Library;
        }
    }
    return without_interpreter;
}

std::string first_word(const std::string& line) {
    const std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos) {
        return {};
    }
    return line.substr(begin, line.find_first_of(" \t\r", begin) - begin);
}

}  // namespace

FileKind inspect(const std::string& path, std::string* interpreter) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        return FileKind::Unreadable;
    }
    char start[SELFMAG] = {};
    file.read(start, sizeof(start));
    if (file.gcount() == SELFMAG && std::memcmp(start, ELFMAG, SELFMAG) == 0) {
        return inspect_elf(file);
    }
    if (file.gcount() < 2 || start[0] != '#' || start[1] != '!') {
        return FileKind::Other;
    }
    file.clear();
    file.seekg(2);
    std::string line;
    std::getline(file, line);
    *interpreter = first_word(line.substr(0, kMaxScriptLine));
    return FileKind::Script;
}

}  // namespace launcher
