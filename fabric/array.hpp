// SPDX-License-Identifier: BSD-3-Clause
// Arrays whose size a program decides: there may be no memory for them, and that is for the program
// to hear.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

namespace fabric {

struct Freed {
    void operator()(void* memory) const { std::free(memory); }
};
template <typename T>
using Array = std::unique_ptr<T[], Freed>;

// Of plain types only. Zeroed pages that the kernel makes when they are touched: a large queue
// costs only what is used of it. nullptr: there is no memory; an array of nothing is not nullptr.
template <typename T>
Array<T> make_array(std::size_t count) {
    return Array<T>(static_cast<T*>(std::calloc(std::max<std::size_t>(count, 1), sizeof(T))));
}

}  // namespace fabric
