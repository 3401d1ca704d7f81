#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Types the sessions of a guide into one shell, in the current directory: is printed what the guide says?

  typed.py GUIDE

A session is a block whose first line begins with `$ `: lines that begin so are commands, the others are what they print,
in any order, since two programs may print at once. Where a person would wait, for a server in the background until it
listens and behind the client until it has ended, so does the shell. The port 7471 becomes a free one.
"""
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

LIMIT_S = 200
BETWEEN = "--- next session ---"

FUNCTIONS = r"""
until_listening() { # SERVERS: so many have been started by now
    local i
    for ((i = 0; i < 600; i++)); do
        [[ $(grep -c '^listening' "$transcript") -lt $1 ]] || return 0
        kill -0 "$server" || return 1
        sleep 0.05
    done
    return 1
}
"""


def sessions_of(guide):
    """For each session its commands and the lines that they print."""
    blocks = re.findall(r"^```\n(\$ .*?)^```", guide.read_text(), re.M | re.S)
    lines = [block.splitlines() for block in blocks]
    return [
        ([line[2:] for line in block if line.startswith("$ ")], [line for line in block if not line.startswith("$ ")])
        for block in lines
    ]


def free_port():
    with socket.socket() as chosen:
        chosen.bind(("127.0.0.1", 0))
        return str(chosen.getsockname()[1])


def script_of(sessions):
    script = ["set -e", "trap 'echo \"failed: $BASH_COMMAND\"' ERR", FUNCTIONS]
    servers = 0
    for commands, _ in sessions:
        for command in commands:
            script.append(command)
            if command.endswith("&"):
                servers += 1
                script.append(f"server=$!\nuntil_listening {servers}")
            elif servers > 0:
                script.append('wait "$server"')
        script.append(f"printf '\\n%s\\n' '{BETWEEN}'")
    return "\n".join(script)


def typed(script, transcript):
    """Runs the script with its output in a file; all that it has started ends with it. Its exit status."""
    with transcript.open("w") as output:
        shell = subprocess.Popen(
            ["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            env={**os.environ, "transcript": str(transcript)}, start_new_session=True)
        try:
            return shell.wait(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return None
        finally:
            try:
                os.killpg(shell.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def main():
    guide = Path(sys.argv[1])
    port = free_port()
    sessions = sessions_of(guide)
    transcript = Path("transcript").resolve()
    status = typed(script_of(sessions).replace("7471", port), transcript)
    text = transcript.read_text()
    missing = [
        line
        for (_, expected), printed in zip(sessions, text.split(f"\n{BETWEEN}\n"))
        for line in expected
        if line.replace("7471", port) not in printed.splitlines()
    ]
    if status != 0 or missing or not sessions:
        print(text)
        print(f"{guide.name}: {len(sessions)} sessions, exit status {status} (None: more than {LIMIT_S} s), not printed: {missing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
