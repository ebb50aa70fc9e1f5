# SPDX-License-Identifier: Apache-2.0
"""A tiny tree in a temporary folder, held to the same rules as the real one."""
import os
import pathlib
import subprocess
import tempfile
import unittest

HOUSE = pathlib.Path(__file__).resolve().parent.parent.parent
LICENCE = "SPDX-License-Identifier: Apache-2.0"

ROOT_LIST = f"""
cmake_minimum_required(VERSION 3.25)
project(fixture LANGUAGES CXX)
enable_testing()
include({HOUSE}/cmake/toolchain_settings.cmake)
include({HOUSE}/cmake/berth_module.cmake)
add_library(berth_doctest_main STATIC {HOUSE}/tests/doctest_main.cc)
target_link_libraries(berth_doctest_main PUBLIC berth_flags)
"""


class TreeTest(unittest.TestCase):
    """write() files, then configure(), build() or check() and look at what was said."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="berth-house-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("cmake/modules.cmake", (HOUSE / "cmake/modules.cmake").read_text())

    def write(self, path, text, mode=0o644):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        file.chmod(mode)

    def module(self, name, declaration, **sources):
        """A module folder: module("model", "PURE USES base", job="int x();") writes job.cc too."""
        listing = f"berth_module({name} {declaration}"
        if sources:
            listing += " SOURCES " + " ".join(f"{stem}.cc" for stem in sources)
        self.write(f"src/{name}/CMakeLists.txt", f"# {LICENCE}\n{listing})\n")
        for stem, text in sources.items():
            self.write(f"src/{name}/{stem}.cc", f"// {LICENCE}\n{text}\n")

    def run_command(self, *command):
        environment = dict(os.environ, LC_ALL="C")
        done = subprocess.run(command, cwd=self.root, text=True, env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def configure(self):
        folders = "add_subdirectory(src)\n"
        if (self.root / "tests").exists():
            folders += "add_subdirectory(tests)\n"
        self.write("CMakeLists.txt", ROOT_LIST + folders)
        self.write("src/CMakeLists.txt", (HOUSE / "src/CMakeLists.txt").read_text())
        return self.run_command("cmake", "-G", "Ninja", "-B", "build", "-DCMAKE_BUILD_TYPE=Release",
                                "-DCMAKE_CXX_COMPILER_WORKS=1")

    def build(self, *targets):
        code, said = self.configure()
        self.assertEqual(code, 0, said)
        return self.run_command("cmake", "--build", "build", "--target", *targets)

    def check(self, tool, *options):
        return self.run_command(str(HOUSE / "tools" / tool), "--root", str(self.root), *options)

    def assert_stops(self, outcome, words):
        code, said = outcome
        self.assertNotEqual(code, 0, said)
        self.assertIn(words, " ".join(said.split()), said)

    def assert_passes(self, outcome):
        code, said = outcome
        self.assertEqual(code, 0, said)
