// SPDX-License-Identifier: BSD-3-Clause
// Why the launcher gives up, and what it tells the shell.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace launcher {

// Exit codes as shells and env(1) use them, so that scripts can tell the launcher's failures from
// the program's own.
inline constexpr int kExitFailure = 125;  // the launcher itself failed
inline constexpr int kExitNotExecutable =
    126;  // the program was found but cannot be started under the fabric
inline constexpr int kExitNotFound = 127;  // there is no such program

struct Failure {
    int exit_code = kExitFailure;
    std::string message;
};

template <typename T>
using Result = tl::expected<T, Failure>;

inline tl::unexpected<Failure> failure(int exit_code, std::string message) {
    return tl::unexpected<Failure>(Failure{exit_code, std::move(message)});
}

}  // namespace launcher
