#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs a command that needs root; elsewhere the test is skipped.
if [ "$(id -u)" -ne 0 ]; then
    echo "SKIPPED: needs root"
    exit 77
fi
exec "$@"
