#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# against_debian.sh THEIRS OURS: no function is missing, none has another version. Debian's library has no debugging
# information, so symbols are compared, not types.
set -eu
nm -D --defined-only "$1" | grep -q 'rpma_conn_req_new@@LIBRPMA_1.0'
abidiff "$1" "$2"
