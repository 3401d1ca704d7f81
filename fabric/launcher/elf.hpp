// SPDX-License-Identifier: BSD-3-Clause
// What the dynamic loader will make of a file: only programs it loads can be given a library.
#pragma once

#include <string>

namespace launcher {

enum class FileKind {
    Dynamic,     // ELF, loaded by the dynamic loader
    Static,      // ELF, but no interpreter: no loader, so no LD_PRELOAD
    Library,     // ELF shared object without an interpreter
    Foreign,     // ELF of another word size or machine than ours
    Script,      // starts with #!
    Unreadable,  // cannot be opened for reading
    Other,       // anything else; the kernel or the shell decides
};

// Reads only the headers of `path`. `interpreter` gets the word behind #! of a script.
FileKind inspect(const std::string& path, std::string* interpreter);

}  // namespace launcher
