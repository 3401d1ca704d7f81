// SPDX-License-Identifier: BSD-3-Clause
#include "fault_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "faults/spec.hpp"

namespace launcher {

void add_options(CLI::App* app, FaultOptions& options) {
    app->add_option("--faults", options.spec,
                    "What is to go wrong, for example drop@100,delay=5ms@10%,refuse-mr@2")
        ->type_name("SPEC");
    app->add_option("--seed", options.seed,
                    "Decides which of the share of a fault are met (default: 1), and what survives "
                    "a power failure (default: 0): 0 nothing that is not durable, 1 everything, 2 "
                    "the latest operation only, 3 all but it, more by chance")
        ->type_name("N");
}

Result<void> check(const FaultOptions& options, bool seed_has_use) {
    if (!options.spec.empty()) {
        const fabric::faults::Spec spec = fabric::faults::parse_spec(options.spec);
        if (!spec.complaint.empty())
            return failure(kExitFailure, fmt::format("--faults: {}", spec.complaint));
    }
    if (options.seed.empty())
        return {};
    if (!fabric::faults::parse_seed(options.seed))
        return failure(kExitFailure, fmt::format("--seed: '{}' is not a number from 0 to {}",
                                                 options.seed, UINT64_MAX));
    if (options.spec.empty() && !seed_has_use && std::getenv("RPMA_FABRIC_FAULTS") == nullptr)
        return failure(kExitFailure,
                       "--seed: there is nothing to decide without --faults or --platform");
    return {};
}

}  // namespace launcher
