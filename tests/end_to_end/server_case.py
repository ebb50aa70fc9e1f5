# SPDX-License-Identifier: Apache-2.0
"""What every end-to-end test begins with: a server of its own."""
import os
import pathlib
import pty
import select
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
from berth_server import (  # noqa: E402
    BIN, PATIENCE, Refused, Server, UnixConnection, cpu_seconds, submission)

__all__ = ["BIN", "PATIENCE", "Refused", "Server", "ServerCase", "UnixConnection", "cpu_seconds",
           "eventually", "handles", "main", "submission"]

BERTH = str(BIN / "berth")


class ServerCase(unittest.TestCase):
    """self.server: up, with eight simulated GPUs on one node unless FLAGS says otherwise."""

    FLAGS = ("--gpus", "sim:8x80G")

    def setUp(self):
        self.server = Server(*self.FLAGS)
        self.enterContext(self.server)

    def shell(self, script, **spec):
        """Submits a shell script; answers the job's number."""
        return self.server.submit(["sh", "-c", script], **spec)["id"]

    def state(self, job):
        return self.server.get(f"jobs/{job}")["state"]

    def log(self, job, attempt=0):
        wanted = f"?attempt={attempt}" if attempt else ""
        return self.server.get(f"jobs/{job}/log{wanted}").decode()

    def on_terminal(self, *words, environment=None, keys=None, seconds=PATIENCE):
        """Runs berth on a terminal; answers its exit code and what is seen there."""
        settings = {key: value for key, value in self.server.environment.items()
                    if key != "NO_COLOR"}
        settings.update({"TERM": "xterm", "LANG": "C.UTF-8"}, **(environment or {}))
        pid, file = pty.fork()
        if pid == 0:
            os.execve(BERTH, [BERTH, *map(str, words)], settings)
        seen = b""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if select.select([file], [], [], 0.1)[0]:
                try:
                    seen += os.read(file, 65536)
                except OSError:
                    break
            if keys and keys[0] in seen:
                os.write(file, keys[1])
                keys = None
        os.close(file)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()

    def arbiter(self, job, attempt=1):
        """What the node's arbiter says of the only tenant of a job."""
        ask = [str(BIN / "berth-arbiter"), "--dir", str(self.server.sharing), "order", "status",
               f"{job}.{attempt}.0"]
        text = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
        return dict(word.split("=", 1) for word in text.split() if "=" in word)


def eventually(question, seconds=PATIENCE):
    """Asks until the answer is true; answers it."""
    deadline = time.monotonic() + seconds
    while True:
        answer = question()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise TimeoutError("it did not come true")
        time.sleep(0.01)


def handles(pid, number):
    """The process has said what it does at this signal."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return int(line.split()[1], 16) >> (number - 1) & 1 == 1
    return False


def main():
    unittest.main(verbosity=2)
