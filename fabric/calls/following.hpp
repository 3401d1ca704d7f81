// SPDX-License-Identifier: BSD-3-Clause
// Functions of other libraries that are wrapped here to learn what the CPU persists.
#pragma once

#include <dlfcn.h>

#define FABRIC_CALL extern "C" [[gnu::visibility("default")]]

namespace fabric::calls {

// In whatever library is loaded, which stays so; nullptr: in none.
void* in_any_library(const char* name);

// The next definition of a name behind this library, as the program would have got without it. A
// library that came with a plug-in (dlopen) is behind no other: then any that has the name.
template <typename Function>
Function* following(const char* name) {
    void* const next = dlsym(RTLD_NEXT, name);
    return reinterpret_cast<Function*>(next != nullptr ? next : in_any_library(name));
}

}  // namespace fabric::calls
