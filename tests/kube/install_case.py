# SPDX-License-Identifier: Apache-2.0
"""What tests of an installed Berth begin with: the program, and what lies on a server by it."""
import os
import subprocess

from kube_case import PATIENCE, KubeCase

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ADMISSION = "/apis/admissionregistration.k8s.io/v1"
KINDS = "/apis/berth.dev/v1alpha1"


class InstallCase(KubeCase):
    """PROGRAM is the path of berth."""

    PROGRAM = None

    def berth(self, *words, code=0, config=None):
        done = subprocess.run(
            [self.PROGRAM, "kube", *words], capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "KUBECONFIG": str(config or self.plane.path / "kubeconfig")})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def names(self, path):
        return {item["metadata"]["name"] for item in self.api.get(path)["items"]}
