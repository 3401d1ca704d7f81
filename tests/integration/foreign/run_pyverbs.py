#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""rdma-core's own tests of an RDMA device, as Debian ships them with python3-pyverbs, against the table beside this file.

run_pyverbs.py LAUNCHER    runs the test files under the launcher and compares the outcomes with the table, both ways
run_pyverbs.py --inside DIRECTORY OUTCOMES    what it starts: runs the files in DIRECTORY, writes {test: [outcome, message]}

The files are used as they are. Two things are set up around them: the name of the device's network interface, for which they ask
the kernel (in /sys/class/infiniband/NAME/device/net, and no kernel knows this device), is answered with "lo"; and connections
use a free port instead of 7471.
"""
import configparser
import gzip
import importlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

DEVICE = "fabric0"
MODULES = ["test_addr", "test_atomic", "test_cq", "test_cq_events", "test_cqex", "test_device", "test_flow", "test_fork", "test_mr",
           "test_odp", "test_parent_domain", "test_pd", "test_qp", "test_qpex", "test_rdmacm", "test_relaxed_ordering",
           "test_rss_traffic", "test_shared_pd", "test_tag_matching"]
TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pyverbs.table")
TABLE_IS_FOR = "44."  # of rdma-core: other releases have other tests
SKIPPED = 77
TIMEOUT = 200


class Outcomes(unittest.TestResult):
    """One outcome and one line for each test."""

    def __init__(self):
        super().__init__()
        self.table = {}

    def note(self, test, outcome, message=""):
        name = test.id().removeprefix("tests.")
        self.table.setdefault(name, [outcome, " ".join(message.split())])

    def addSuccess(self, test):
        self.note(test, "passed")

    def addSkip(self, test, reason):
        self.note(test, "skipped", reason)

    def addFailure(self, test, err):
        self.note(test, "failed", str(err[1]))

    def addError(self, test, err):
        self.note(test, "failed", f"{err[0].__name__}: {err[1]}")


def answer_for_the_kernel(base):
    place = f"/sys/class/infiniband/{DEVICE}/device/net/"
    exists = os.path.exists
    os.path.exists = lambda path: path == place or exists(path)
    base.RDMATestCase.get_net_name = staticmethod(lambda _: "lo")


def use_free_port(connections):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    original = connections.CMResources.__init__

    def with_port(self, addr=None, passive=None, **kwargs):
        original(self, addr, passive, **{"port": port, **kwargs})
    connections.CMResources.__init__ = with_port


def run_inside(directory, outcomes):
    sys.path.insert(0, directory)
    sys.path.insert(0, os.path.join(directory, "tests"))
    from args_parser import parser  # of the test files
    sys.argv[1:] = ["--dev", DEVICE, "--port", "1", "--gid", "0"]
    parser.parse_args()
    answer_for_the_kernel(importlib.import_module("tests.base"))
    use_free_port(importlib.import_module("tests.base_rdmacm"))
    result = Outcomes()
    for name in MODULES:
        unittest.defaultTestLoader.loadTestsFromName(f"tests.{name}").run(result)
    with open(outcomes, "w", encoding="utf-8") as file:
        json.dump(result.table, file)


def unpack(directory):
    """The test files of the package into directory/tests; compressed ones without their .gz."""
    listed = subprocess.run(["dpkg", "-L", "python3-pyverbs"], check=True, capture_output=True, text=True).stdout.split()
    os.mkdir(os.path.join(directory, "tests"))
    for path in listed:
        if os.path.basename(os.path.dirname(path)) != "tests" or not path.endswith((".py", ".py.gz")):
            continue
        name = os.path.basename(path).removesuffix(".gz")
        if name == "__init__.py":
            continue  # it loads every file, also those for one maker's adapters
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rb") as source, open(os.path.join(directory, "tests", name), "wb") as target:
            shutil.copyfileobj(source, target)


def read_table():
    """{test: section}, where a section is {why, outcome, message}."""
    parser = configparser.ConfigParser(interpolation=None, delimiters=("=",), comment_prefixes=("#",))
    with open(TABLE, encoding="utf-8") as file:
        parser.read_file(file)
    table = {}
    for why in parser.sections():
        section = parser[why]
        for name in section["tests"].split():
            if name in table:
                raise SystemExit(f"{TABLE}: {name} is there twice")
            table[name] = {"why": why, "outcome": section["outcome"].split(), "message": section["message"]}
    return table


def compare(outcomes, table):
    """Lines about what is not as the table says."""
    for name, (outcome, message) in sorted(outcomes.items()):
        if name not in table:
            if outcome != "passed":
                yield f"{name}: {outcome}, and not in the table: {message}"
            continue
        wanted = table[name]
        if outcome not in wanted["outcome"]:
            yield f"{name}: {outcome}, by the table {' or '.join(wanted['outcome'])} ({wanted['why']}): {message}"
        elif outcome != "passed" and not re.search(wanted["message"], message):
            yield f"{name}: {outcome} for another reason than \"{wanted['why']}\": {message}"
    for name in sorted(set(table) - set(outcomes)):
        yield f"{name}: in the table, but there is no such test"


def run_tests(launcher):
    with tempfile.TemporaryDirectory() as directory:
        unpack(directory)
        outcomes = os.path.join(directory, "outcomes")
        command = [launcher, "run", "--", sys.executable, os.path.abspath(__file__), "--inside", directory, outcomes]
        subprocess.run(command, check=True, timeout=TIMEOUT)
        with open(outcomes, encoding="utf-8") as file:
            return json.load(file)


def main():
    if sys.argv[1] == "--inside":
        run_inside(*sys.argv[2:])
        return 0
    found = subprocess.run(["dpkg-query", "-f", "${Version}", "-W", "python3-pyverbs"], check=False, capture_output=True, text=True)
    if not found.stdout.startswith(TABLE_IS_FOR):
        print(f"SKIPPED: the table is for python3-pyverbs {TABLE_IS_FOR}*, installed is '{found.stdout}'")
        return SKIPPED
    outcomes = run_tests(sys.argv[1])
    wrong = list(compare(outcomes, read_table()))
    print("\n".join(wrong))
    passed = sum(1 for outcome, _ in outcomes.values() if outcome == "passed")
    print(f"{len(outcomes)} tests, {passed} passed, {len(wrong)} not as the table says")
    return 1 if wrong or passed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
