# SPDX-License-Identifier: Apache-2.0
"""The commands of docs/kubernetes.md do what the page says: they are run, one after another. From
the first one on that asks Berth, the cluster has two nodes and a scheduler."""
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
    line = re.sub(r"\b\d\d:\d\d:\d\d\b", "TIME", line)
    return re.sub(r"\b\d+m?s\b", "AGE", " ".join(line.split()))


class Page(KubeCase):
    scheduler = None

    def start_scheduler(self):
        if self.scheduler:
            return
        self.plane.tool("nodes", "-count", 2)
        self.plane.run_kubelets()
        self.scheduler = subprocess.Popen(
            [PROGRAM, "kube", "scheduler", "--kubeconfig", f"{self.plane.path}/kubeconfig"],
            stderr=subprocess.DEVNULL)
        self.addCleanup(self.scheduler.wait)
        self.addCleanup(self.scheduler.terminate)

    def test_every_command_of_the_page_works(self):
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "kubectl").symlink_to(self.plane.kubectl_command()[0])
            home = pathlib.Path(folder) / "home"
            (home / ".local/bin").mkdir(parents=True)
            environment = dict(
                os.environ, HOME=str(home), KUBECONFIG=f"{self.plane.path}/kubeconfig",
                PATH=f"{folder}:{home}/.local/bin:{PROGRAM.parent}:{os.environ['PATH']}")
            for command, code, shown in examples(ROOT / "docs/kubernetes.md"):
                is_question = " get " in command or "kubectl berth" in command
                if "kubectl berth" in command:
                    self.start_scheduler()
                deadline = time.monotonic() + PATIENCE
                while True:
                    done = subprocess.run(["bash", "-c", command], cwd=folder, text=True,
                                          env=environment, capture_output=True, timeout=PATIENCE)
                    found = [shape(line) for line in (done.stdout + done.stderr).splitlines()]
                    missing = [line for line in shown if shape(line) not in found]
                    # A kind that was just made is not known to kubectl's cache at once, a reason
                    # is written within a second and a Project's numbers within ten.
                    if not missing or time.monotonic() > deadline or not is_question:
                        break
                    time.sleep(0.1)
                self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}{done.stderr}")
                self.assertEqual(missing, [], f"{command}\n{done.stdout}{done.stderr}")
                count += 1
        self.assertGreater(count, 10)


if __name__ == "__main__":
    main()
