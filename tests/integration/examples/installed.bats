#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2154,SC2034  # shared with helpers.bash
# The examples compile and run against an installation, found by pkg-config, as a copy of them would.

load helpers

@test "built with pkg-config against the installed library" {
    cmake --install "$RPMA_BUILD" --prefix "$PWD/installed" >/dev/null
    PKG_CONFIG_PATH=$(dirname "$(find installed -name librpma.pc)")
    export PKG_CONFIG_PATH
    sources=$(find "$PWD/installed" -path '*examples/replicate' -type d)
    read -ra flags <<<"$(pkg-config --define-prefix --cflags --libs librpma libpmem2) -Wl,-rpath,$(dirname "$PKG_CONFIG_PATH")"
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o replicate-server "$sources"/{server,target}.c "$sources"/../common/common.c "${flags[@]}"
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -o replicate-client "$sources"/{client,source,timing}.c "$sources"/../common/common.c "${flags[@]}"

    EXAMPLES=.
    RPMA_FABRIC=$PWD/installed/bin/rpma-fabric
    random_file source 1000000
    start_replica replica 1000000
    run -0 replicate source
    cmp source replica
}
