#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""What --pcap records, as tshark reads it.

pcap.py exact PAIR LAUNCHER SCENARIO              the scenario every_operation: each frame is what was sent
pcap.py sound PAIR LAUNCHER WANTED SCENARIO [PAIR-OPTION...] [-- ARGUMENT...]
    any other scenario: no frame is malformed, and those of WANTED (a display filter) are among them
"""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
TIMEOUT = 120
MTU = 1024
# BTH opcodes (IBTA vol. 1, table 38)
SEND_ONLY, SEND_ONLY_IMM = 0x04, 0x05
WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_ONLY_IMM = 0x06, 0x07, 0x08, 0x0b
READ_REQUEST, READ_FIRST, READ_MIDDLE, READ_LAST = 0x0c, 0x0d, 0x0e, 0x0f
ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD = 0x11, 0x12, 0x13, 0x14
DATAGRAM = 0x64
# The scenario's requests as (opcode, payload bytes, length in the RETH, immediate data), and how many PSNs each takes.
REQUESTS = ([(SEND_ONLY, 100, None, None), (SEND_ONLY_IMM, 33, None, 0x11223344), (WRITE_FIRST, MTU, 10000, None)] +
            [(WRITE_MIDDLE, MTU, None, None)] * 8 +
            [(WRITE_LAST, 10000 - 9 * MTU, None, None), (WRITE_ONLY_IMM, 8, 8, 0x55667788), (READ_REQUEST, 0, 5000, None),
             (COMPARE_SWAP, 0, None, None), (FETCH_ADD, 0, None, None)])
READ_PACKETS = 5
RESPONSES = [(READ_FIRST, MTU), (READ_MIDDLE, MTU), (READ_MIDDLE, MTU), (READ_MIDDLE, MTU), (READ_LAST, 5000 - 4 * MTU)]
HEADERS = {SEND_ONLY: 12, SEND_ONLY_IMM: 16, WRITE_FIRST: 28, WRITE_MIDDLE: 12, WRITE_LAST: 12, WRITE_ONLY_IMM: 32,
           READ_REQUEST: 28, READ_FIRST: 16, READ_MIDDLE: 12, READ_LAST: 16, COMPARE_SWAP: 40, FETCH_ADD: 40}
CM_MESSAGES = {"0x0010", "0x0013", "0x0014", "0x0015", "0x0016"}  # REQ, REP, RTU, DREQ, DREP
FIELDS = ["infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.padcnt", "udp.length",
          "infiniband.reth.dmalen", "infiniband.immdt", "infiniband.mad.attributeid", "infiniband.aeth.syndrome"]


def tshark(file, *words):
    command = ["tshark", "-n", "-r", file, *words]
    return subprocess.run(command, check=True, timeout=TIMEOUT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def record(pair, launcher, scenario, options, arguments, directory):
    """Runs the scenario with both sides recorded; the files' names."""
    files = [os.path.join(directory, f"{side}.pcap") for side in ("server", "client")]
    command = [pair, "--launcher", launcher, "--timeout", str(TIMEOUT), "--env-server", f"RPMA_FABRIC_PCAP={files[0]}",
               "--env-client", f"RPMA_FABRIC_PCAP={files[1]}", *options, scenario, *arguments]
    subprocess.run(command, check=True, timeout=TIMEOUT + 30)
    found = sorted(os.listdir(directory))  # each with its process number behind the name
    assert len(found) == 2, found
    return [os.path.join(directory, name) for name in found]


def check_sound(file):
    malformed = tshark(file, "-Y", "_ws.malformed || _ws.short || !infiniband || ip.checksum.status == 0 || udp.checksum.status == 0",
                       "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE")
    assert not malformed, f"{file}:\n{malformed}"


def number(text):
    return int(text, 0) if text else None


def frames_of(file):
    lines = tshark(file, "-T", "fields", "-E", "separator=|", *[word for field in FIELDS for word in ("-e", field)]).splitlines()
    for line in lines:
        opcode, psn, pair, pad, udp, reth, immediate, attribute, syndrome = line.split("|")
        yield {"opcode": number(opcode), "psn": number(psn), "pair": number(pair), "pad": number(pad), "udp": number(udp),
               "reth": number(reth), "immediate": int(immediate.split(",")[0], 16) if immediate else None,
               "attribute": attribute, "syndrome": number(syndrome)}


def payload(frame):
    return frame["udp"] - 8 - 4 - frame["pad"] - HEADERS[frame["opcode"]]


def check_requests(frames):
    requests = [frame for frame in frames if frame["opcode"] in {opcode for opcode, *_ in REQUESTS}]
    seen = [(frame["opcode"], payload(frame), frame["reth"], frame["immediate"]) for frame in requests]
    assert seen == REQUESTS, f"\nseen   {seen}\nwanted {REQUESTS}"
    psn = requests[0]["psn"]
    for frame in requests:
        assert frame["psn"] == psn, f"PSN {frame['psn']} instead of {psn}"
        psn = (psn + (READ_PACKETS if frame["opcode"] == READ_REQUEST else 1)) % (1 << 24)
    assert len({frame["pair"] for frame in requests}) == 1
    return next(frame["psn"] for frame in requests if frame["opcode"] == READ_REQUEST)


def check_responses(frames, first_psn):
    responses = [frame for frame in frames if frame["opcode"] in {opcode for opcode, _ in RESPONSES}]
    assert [(frame["opcode"], payload(frame)) for frame in responses] == RESPONSES, responses
    assert [frame["psn"] for frame in responses] == [(first_psn + i) % (1 << 24) for i in range(READ_PACKETS)]
    assert sum(frame["opcode"] == ATOMIC_ACKNOWLEDGE for frame in frames) == 2
    assert all(frame["syndrome"] >> 5 == 0 for frame in frames if frame["opcode"] == ACKNOWLEDGE)


def check_exact(file):
    frames = list(frames_of(file))
    check_responses(frames, check_requests(frames))
    seen = {frame["attribute"] for frame in frames if frame["opcode"] == DATAGRAM}
    assert CM_MESSAGES <= seen, seen


def check_readable_while_running(file):
    """A record is written whole: the lengths lead from one to the next, and to the end."""
    with open(file, "rb") as opened:
        content = opened.read()
    place = 24
    while place < len(content):
        place += 16 + struct.unpack_from("=I", content, place + 8)[0]
    assert place == len(content)


def main():
    kind, pair, launcher, *rest = sys.argv[1:]
    if shutil.which("tshark") is None:
        print("SKIPPED: no tshark")
        return SKIPPED
    wanted = rest.pop(0) if kind == "sound" else None
    scenario, *words = rest
    split = words.index("--") if "--" in words else len(words)
    options, arguments = words[:split], words[split + 1:]
    if kind == "exact":
        options += ["--env", f"RPMA_FABRIC_MTU={MTU}"]
    with tempfile.TemporaryDirectory() as directory:
        for file in record(pair, launcher, scenario, options, arguments, directory):
            check_sound(file)
            check_readable_while_running(file)
            if kind == "exact":
                check_exact(file)
            else:
                assert tshark(file, "-Y", wanted), f"{file}: no frame with {wanted}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
