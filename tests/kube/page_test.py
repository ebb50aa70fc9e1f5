# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/kubernetes.md do what the page says: they are run, one after another."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

from kube_case import PATIENCE, ROOT, KubeCase, main

sys.path.insert(0, str(ROOT / "tests"))
from console_page import examples  # noqa: E402

PROGRAM = pathlib.Path(sys.argv.pop(1))


def shape(line):
    """What stays the same from run to run: addresses, versions and ages do not."""
    line = re.sub(r"https://\S+", "SERVER", line)
    line = re.sub(r"Kubernetes v\S+", "Kubernetes VERSION", line)
    return re.sub(r"\b\d+m?s$", "AGE", " ".join(line.split()))


class Page(KubeCase):
    def test_every_command_of_the_page_works(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            kubectl = pathlib.Path(folder) / "kubectl"
            kubectl.write_text("#!/bin/sh\nexec " + " ".join(
                f"'{word}'" for word in self.plane.kubectl_command()) + ' "$@"\n')
            kubectl.chmod(0o755)
            environment = dict(os.environ, KUBECONFIG=f"{self.plane.path}/kubeconfig",
                               PATH=f"{folder}:{PROGRAM.parent}:{os.environ['PATH']}")
            for command, code, shown in examples(ROOT / "docs/kubernetes.md"):
                deadline = time.monotonic() + PATIENCE
                while True:
                    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True,
                                          env=environment, capture_output=True, timeout=PATIENCE)
                    found = [shape(line) for line in (done.stdout + done.stderr).splitlines()]
                    missing = [line for line in shown if shape(line) not in found]
                    # A kind that was just made is not known to kubectl's cache at once.
                    if not missing or time.monotonic() > deadline or "get" not in command:
                        break
                    time.sleep(0.1)
                self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
                self.assertEqual(missing, [], f"{command}\n{done.stdout}{done.stderr}")
                count += 1
        self.assertGreater(count, 10)


if __name__ == "__main__":
    main()
