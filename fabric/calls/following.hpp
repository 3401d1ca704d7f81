// SPDX-License-Identifier: BSD-3-Clause
// Functions of other libraries that are wrapped here to learn what the CPU persists.
#pragma once

#include <dlfcn.h>

#define FABRIC_CALL extern "C" [[gnu::visibility("default")]]

namespace fabric::calls {

// The next definition of a name behind this library, as the program would have got without it.
template <typename Function>
Function* following(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace fabric::calls
