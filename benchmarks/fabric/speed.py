#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast the fabric is beside plain TCP and beside UCX over TCP, on this machine's loopback.

All of it is measured in several rounds, one after the other within each, and each ratio is of figures of one round;
medians are printed. So a busy machine blurs the ratios less than the figures. Times of a thread that polls need a CPU for
each side: with others at work, the machine's scheduler is measured too.
"""
import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import time

STREAM_SIZES = (65536, 131072, 262144, 524288, 1048576)
UCX_STREAM_SIZES = (65536, 1048576)
TIME_LIMIT = 300


def run_pair(arguments):
    """{name: median of what the client printed} of one round."""
    command = [arguments.pair, "--timeout", str(TIME_LIMIT), "--launcher", arguments.launcher, arguments.program,
               str(arguments.stream_bytes), str(arguments.round_trips)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT + 30)
    if result.returncode != 0:
        sys.exit(f"speed: {' '.join(command)} failed:\n{result.stdout[-2000:]}{result.stderr[-2000:]}")
    values = {}
    for line in (result.stdout + result.stderr).splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "[client-0]" and words[1][-1].isdigit():
            values.setdefault(words[1], []).append(float(words[2]))
    return {name: statistics.median(measured) for name, measured in values.items()}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run_ucx(test, size, iterations):
    """The words of ucx_perftest's last line: iterations, latencies, bandwidths, message rates."""
    env = dict(os.environ, UCX_TLS="tcp,self", UCX_NET_DEVICES="lo", UCX_LOG_LEVEL="error")
    port = str(free_port())
    with subprocess.Popen(["ucx_perftest", "-p", port], env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            time.sleep(0.5)
            client = subprocess.run(["ucx_perftest", "-p", port, "-f", "-t", test, "-s", str(size), "-n", str(iterations),
                                     "-w", "100", "127.0.0.1"], env=env, capture_output=True, text=True, timeout=TIME_LIMIT)
            if client.returncode != 0:
                sys.exit(f"speed: ucx_perftest -t {test} failed:\n{client.stderr[-1000:]}")
            server.wait(timeout=10)
        finally:
            server.kill()
    return client.stdout.splitlines()[-1].split()


def ucx_round(arguments):
    values = {"ucx_one_way_8": float(run_ucx("ucp_put_lat", 8, arguments.round_trips)[1]) * 1e3}
    for size in UCX_STREAM_SIZES:
        words = run_ucx("ucp_put_bw", size, max(1, arguments.stream_bytes // size))
        values[f"ucx_stream_{size}"] = float(words[5]) * 2**20
    return values


def rows(with_ucx):
    """What is compared: (text, name, of what, is a bandwidth, goal)."""
    for size in STREAM_SIZES:
        yield f"stream of writes, {size >> 10} KiB", f"write_stream_{size}", f"tcp_stream_{size}", True, ">= 0.8"
        yield "  asleep while waiting", f"write_stream_waiting_{size}", f"tcp_stream_{size}", True, ""
    for kind, text in (("write_flush", "write and flush, 8 bytes"), ("read", "read, 8 bytes")):
        yield text, f"{kind}_8", "tcp_round_trip_8", False, "<= 1.5"
        yield "  asleep while waiting", f"{kind}_waiting_8", "tcp_round_trip_8", False, "<= 1.5"
    if with_ucx:
        yield "write, 8 bytes, one way", "write_one_way_8", "ucx_one_way_8", False, "< 1"
        for size in UCX_STREAM_SIZES:
            yield f"stream of writes, {size >> 10} KiB", f"write_stream_{size}", f"ucx_stream_{size}", True, "> 1"


def text_of(value, bandwidth):
    return f"{value / 1e6:.0f} MB/s" if bandwidth else f"{value / 1e3:.1f} us"


def print_table(rounds, with_ucx):
    print("| what | fabric | beside it | | ratio | goal |\n| --- | --- | --- | --- | --- | --- |")
    for text, name, other, bandwidth, goal in rows(with_ucx):
        ours = statistics.median(values[name] for values in rounds)
        theirs = statistics.median(values[other] for values in rounds)
        ratio = statistics.median(values[name] / values[other] for values in rounds)
        kind = "UCX" if other.startswith("ucx") else "TCP"
        print(f"| {text} | {text_of(ours, bandwidth)} | {kind} | {text_of(theirs, bandwidth)} | {ratio:.2f} | {goal} |")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pair", required=True, help="the driver it_pair")
    parser.add_argument("--launcher", required=True, help="rpma-fabric")
    parser.add_argument("--program", required=True, help="fabric-speed")
    parser.add_argument("--rounds", type=int, default=7, help="default: 7")
    parser.add_argument("--stream-bytes", type=int, default=256 << 20, help="of each stream (default: 256 MiB)")
    parser.add_argument("--round-trips", type=int, default=20000, help="of each kind (default: 20000)")
    parser.add_argument("--no-ucx", action="store_true", help="do not compare with UCX")
    return parser.parse_args()


def main():
    arguments = parse()
    with_ucx = not arguments.no_ucx
    if with_ucx and shutil.which("ucx_perftest") is None:
        print("speed: no comparison with UCX: ucx_perftest is not installed (Debian package ucx-utils)")
        with_ucx = False
    rounds = []
    for _ in range(arguments.rounds):
        values = run_pair(arguments)
        if with_ucx:
            values.update(ucx_round(arguments))
        rounds.append(values)
    one, five, _ = os.getloadavg()
    print(f"medians of {arguments.rounds} rounds; {os.cpu_count()} CPUs, load {one:.1f} ({five:.1f} before)")
    print_table(rounds, with_ucx)
    return 0


if __name__ == "__main__":
    sys.exit(main())
