# SPDX-License-Identifier: Apache-2.0
"""What every test on a real Kubernetes control plane begins with."""
import pathlib
import sys
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/kube"))
import programs  # noqa: E402
from api import Refused  # noqa: E402
from control_plane import PATIENCE, ControlPlane  # noqa: E402

__all__ = ["ControlPlane", "KubeCase", "PATIENCE", "ROOT", "Refused", "eventually", "main"]


class KubeCase(unittest.TestCase):
    """cls.plane: one control plane for all tests of a class; OPTIONS are of ControlPlane."""

    OPTIONS = {}

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane(**cls.OPTIONS))
        cls.api = cls.plane.api

    def assert_refused(self, status, call, *words):
        with self.assertRaises(Refused) as refused:
            call(*words)
        self.assertEqual(refused.exception.status, status, refused.exception)


def eventually(question, what):
    """Asks until the answer is true; answers it."""
    deadline = time.monotonic() + PATIENCE
    while not (answer := question()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: did not come true in {PATIENCE} s")
        time.sleep(0.02)
    return answer


def main():
    """Exit code 77 where there is no control plane to test on, unless one is required."""
    programs.find_or_skip()
    unittest.main(verbosity=2)
