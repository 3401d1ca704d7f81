// SPDX-License-Identifier: BSD-3-Clause
// Why something is not durable, in a word, in a sentence, and what to do.
#pragma once

#include "memory/persistence/model.hpp"

namespace fabric::memory::persistence {

struct Reason {
    const char* name;
    const char* text;
    const char* remedy;
};

// operation nullptr: the bytes were stored by the target's CPU.
const Reason& reason_of(const Operation* operation, std::uint32_t area, const Model& model);

const char* name_of(Kind kind);

}  // namespace fabric::memory::persistence
