# SPDX-License-Identifier: Apache-2.0
"""The C++ client on a real server: PROGRAM says what differs from the one in memory."""
import os
import subprocess
import sys

from kube_case import PATIENCE, KubeCase, main

PROGRAM = sys.argv.pop(1)


class Client(KubeCase):
    def test_a_real_server_answers_as_the_one_in_memory_does(self):
        done = subprocess.run(
            [PROGRAM], capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "BERTH_TEST_KUBECONFIG": str(self.plane.path / "kubeconfig")})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    main()
