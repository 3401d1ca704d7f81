// SPDX-License-Identifier: BSD-3-Clause
#include "calls/following.hpp"

#include <link.h>

#include <string>
#include <vector>

namespace fabric::calls {

namespace {

int collect(dl_phdr_info* object, std::size_t, void* names) {
    if (object->dlpi_name != nullptr && *object->dlpi_name != '\0') {
        static_cast<std::vector<std::string>*>(names)->emplace_back(object->dlpi_name);
    }
    return 0;
}

bool is_ours(void* function) {
    Dl_info there{};
    Dl_info here{};
    return dladdr(function, &there) != 0 &&
           dladdr(reinterpret_cast<void*>(&in_any_library), &here) != 0 &&
           there.dli_fbase == here.dli_fbase;
}

}  // namespace

void* in_any_library(const char* name) {
    std::vector<std::string> libraries;
    dl_iterate_phdr(collect, &libraries);
    for (const std::string& library : libraries) {
        void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
        void* const found = handle != nullptr ? dlsym(handle, name) : nullptr;
        if (found != nullptr && !is_ours(found)) {
            return found;  // what the handle holds must not go
        }
        if (handle != nullptr) {
            dlclose(handle);
        }
    }
    return nullptr;
}

}  // namespace fabric::calls
