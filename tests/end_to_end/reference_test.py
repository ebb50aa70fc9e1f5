# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/reference/cli.md do what the page says: they are run, one after another."""
import os
import pathlib
import pwd
import re
import subprocess
import sys
import tempfile
import time

from server_case import BIN, PATIENCE, ServerCase, main

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from console_page import examples  # noqa: E402

LOOKS = re.compile(r"berth (ls|why|show|logs|top|gpus|events|status|project ls|policy show|pool ls|"
                   r"pool show|node ls)")
USER = pwd.getpwuid(os.geteuid()).pw_name
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/reference/cli.md"


def shape(line):
    """What stays the same from run to run: numbers, times and the user do not."""
    line = re.sub(rf"\b{re.escape(USER)}\b", "maria", line)
    return re.sub(r"\d[\dhms:.]*", "0", " ".join(line.split()))


class Reference(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G")

    def test_every_command_of_the_page_works(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            environment = dict(self.server.environment, XDG_CONFIG_HOME=folder,
                               PATH=f"{BIN}:{os.environ['PATH']}")
            for command, code, lines in examples(PAGE):
                shown = lines[0] if any(map(str.strip, lines)) else None
                if command.startswith("berth up"):
                    continue  # setUp did that
                deadline = time.monotonic() + PATIENCE
                while True:
                    result = subprocess.run(["bash", "-c", command], cwd=folder, text=True,
                                            env=environment, capture_output=True, timeout=PATIENCE)
                    printed = result.stdout + result.stderr
                    found = list(map(shape, printed.splitlines()))
                    is_right = result.returncode == code and (
                        shown is None or shape(shown) in found)
                    if is_right or not LOOKS.match(command) or time.monotonic() > deadline:
                        break
                    time.sleep(0.1)  # a job is on its way to it, the log is young
                self.assertEqual(result.returncode, code, f"{command}\n{printed}")
                self.assertTrue(is_right, f"{command}: {shown}\n{printed}")
                count += 1
        self.assertGreater(count, 20)

    def test_every_verb_is_on_the_page(self):
        page = PAGE.read_text()
        for line in self.server.berth("help").stdout.splitlines():
            verb = re.match(r"^\S* +((?:(?:project|pool|node|policy|kube) )?[a-z]+)  ", line)
            if verb:
                self.assertRegex(page, rf"(?m)^###.*\b{verb[1]}\b", verb[1])


if __name__ == "__main__":
    main()
