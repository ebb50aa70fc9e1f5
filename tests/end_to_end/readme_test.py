# SPDX-License-Identifier: Apache-2.0
"""What README shows under "Use it" works word for word on what ./dev demo builds, and no more."""
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import struct
import subprocess
import tempfile
import termios
import time
import unittest

from server_case import BIN, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = BIN.parent
PATIENCE_S = 200


def commands(title):
    """The lines behind a `$` of one section of the README."""
    section = re.search(rf"(?ms)^## {title}$(.*?)^## ", (ROOT / "README.md").read_text())[1]
    return re.findall(r"(?m)^    \$ (.+)$", section)


def linked_for(target):
    """The files that a build of the target links into the folders of what users run."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", target],
                              capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"-o ((?:bin|lib|software_gpu)/\S+)", commands))


def on_terminal(script, folder, environment):
    """Runs a script of bash on a terminal of its own; its exit code and all that it showed."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe("bash", ["bash", "-c", script], environment)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    shown, answered = b"", 0
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 1)[0]:
            continue
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the last process has closed it
            break
        shown += piece
        if not piece:
            break
        # A live screen ends as its hint says.
        if shown.find(b"q quits", answered) >= 0:
            answered = len(shown)
            os.write(terminal, b"q")
    else:
        os.killpg(child, 9)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown.decode()


class Readme(unittest.TestCase):
    def setUp(self):
        def folder(prefix):
            made = tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)
            self.addCleanup(made.cleanup)
            return pathlib.Path(made.name)
        # Where people keep their clones is not ours to choose.
        self.clone = folder("berth read me-")
        self.home = folder("berth-home-")
        for name in linked_for("programs"):
            place = self.clone / "build/release" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(BUILD / name, place)
        for name in ("examples", "tests/scenarios"):
            shutil.copytree(ROOT / name, self.clone / name)

    def run_all(self, lines):
        environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "TERM": "xterm",
                       "LANG": "C.UTF-8"}
        try:
            return on_terminal("set -ex\n" + "\n".join(lines), self.clone, environment)
        finally:
            subprocess.run([BIN / "berth", "down", "--jobs", "cancel"], env=environment,
                           capture_output=True, check=False)

    def test_demo_builds_all_that_a_build_of_everything_links_for_users(self):
        self.assertIn("bin/berth", linked_for("programs"))
        self.assertIn("lib/libberth-cuda.so", linked_for("programs"))
        self.assertEqual(linked_for("all"), linked_for("programs"))

    def test_every_command_does_what_it_says(self):
        lines = commands("Use it")
        self.assertGreater(len(lines), 15)
        code, shown = self.run_all(lines)
        self.assertEqual(code, 0, shown[-3000:])
        self.assertNotIn("ld.so", shown)
        self.assertIn("this program sees 40.0 GiB", shown)  # half of a GPU of 80
        self.assertGreaterEqual(shown.count("step 20 of 20"), 4)
        self.assertIn("Shares", shown)


if __name__ == "__main__":
    main()
