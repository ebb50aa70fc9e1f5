# SPDX-License-Identifier: Apache-2.0
"""./dev: its words, its list of packages, and no network call when nothing is missing."""
import os
import re
import shutil
import subprocess
import unittest

import fixture

DEV = str(fixture.HOUSE / "dev")
VERBS = ["build", "test", "scenario", "lint", "fmt", "bench", "cost", "demo", "fresh", "kube",
         "clean", "help"]


class Dev(fixture.TreeTest):
    def run_dev(self, *arguments, **environment):
        done = subprocess.run([DEV, *arguments], cwd=self.root, text=True,
                              env=dict(os.environ, **environment),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def stub(self, name, text):
        self.write(f"bin/{name}", f"#!/bin/sh\n{text}\n", 0o755)
        return f"{self.root}/bin:{os.environ['PATH']}"

    def test_help_names_every_verb(self):
        code, said = self.run_dev("help")
        self.assertEqual(code, 0, said)
        for verb in VERBS:
            self.assertRegex(said, rf"(?m)^  {verb}\b")

    def test_an_unknown_verb_is_refused_with_the_list(self):
        code, said = self.run_dev("dance")
        self.assertEqual(code, 2, said)
        self.assertIn("dance", said)
        self.assertIn("  build", said)

    def test_an_unknown_preset_is_refused(self):
        self.assert_stops(self.run_dev("build", "gold"), "no preset gold")

    def test_a_clone_that_cannot_be_written_is_said_at_once(self):
        self.write("src/app/CMakeLists.txt", "")
        self.write("build", "in the way of a folder")
        own = shutil.copy(DEV, self.root)
        for verb in ("demo", "build"):
            done = subprocess.run([own, verb], text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            self.assert_stops((done.returncode, done.stdout), f"cannot write to {self.root}/build")
            self.assertNotIn("cmake", done.stdout)

    def test_nothing_missing_means_no_package_manager(self):
        self.stub("dpkg-query", "shift 3; for name; do echo \"$name ok installed\"; done")
        path = self.stub("apt-get", "echo called apt-get; exit 9")
        self.assert_passes(self.run_dev("packages", "build", PATH=path))

    def test_what_is_missing_is_installed_by_apt(self):
        self.stub("dpkg-query", "shift 3; for name; do [ $name = mold ] || "
                  "echo \"$name ok installed\"; done; exit 1")
        self.stub("sudo", 'exec "$@"')
        path = self.stub("apt-get", 'echo "apt-get $* ($DEBIAN_FRONTEND)"')
        code, said = self.run_dev("packages", "build", PATH=path)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"(?m)^apt-get .*install .* mold \(noninteractive\)$")

    def lacks_boost(self, known):
        """The PATH of a machine without Boost, whose apt has the packages `known`."""
        self.stub("dpkg-query", "shift 3; for name; do case $name in libboost*) ;; "
                  "*) echo \"$name ok installed\";; esac; done; exit 1")
        self.stub("sudo", 'exec "$@"')
        self.stub("apt-cache", f"case ' {known} ' in *\" $2 \"*) echo '  Candidate: 1.2';; "
                  "*) echo '  Candidate: (none)';; esac")
        return self.stub("apt-get", 'echo "apt-get $*"')

    def test_of_several_names_the_one_that_the_system_has_is_installed(self):
        path = self.lacks_boost("libboost1.83-dev libboost1.88-dev")
        code, said = self.run_dev("packages", "build", PATH=path)
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"(?m)^apt-get .*install .* libboost1.83-dev$")

    def test_a_system_with_none_of_the_names_is_told_which(self):
        self.assert_stops(self.run_dev("packages", "build", PATH=self.lacks_boost("")),
                          "apt has none of libboost1.81-dev, libboost1.83-dev")

    def test_continuous_integration_has_a_control_plane_before_it_tests_and_skips_none(self):
        self.write("dev", '#!/bin/sh\necho "./dev $*, BERTH_KUBE=$BERTH_KUBE"\n'
                   '[ "$1" != "$FAILS" ]\n', 0o755)
        own = self.root / ".ci/run"
        self.write(".ci/run", (fixture.HOUSE / ".ci/run").read_text(), 0o755)
        done = subprocess.run([own], text=True, stdout=subprocess.PIPE,
                              env=dict(os.environ, BERTH_KUBE="", FAILS=""))
        said = done.stdout.splitlines()
        self.assertEqual(said[0], "./dev kube, BERTH_KUBE=")
        self.assertRegex(said[1], r"the control plane was there after \d+ s")
        self.assertEqual(said[2], "./dev test --preset strict, BERTH_KUBE=required")
        failed = subprocess.run([own], text=True, stdout=subprocess.PIPE,
                                env=dict(os.environ, BERTH_KUBE="", FAILS="kube"))
        self.assertNotEqual(failed.returncode, 0)
        self.assertNotIn("./dev test", failed.stdout)

    def test_each_package_says_why_it_is_needed(self):
        for line in (fixture.HOUSE / "tools/packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                self.assertTrue(re.fullmatch(r"\w+ +[\w.+|-]+ +# .+", line), line)


if __name__ == "__main__":
    unittest.main()
