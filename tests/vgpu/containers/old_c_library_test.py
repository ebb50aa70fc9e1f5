# SPDX-License-Identifier: Apache-2.0
"""Can the libraries that a job's processes load be loaded in any container?

They need no C library above 2.28, and no C++ runtime. With the C library of Debian 11, which
tools/fetch-vendor-files fetches, a program is started under them.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import vendor_files  # noqa: E402

LIBRARIES = pathlib.Path(os.environ["BERTH_LIBRARIES"])
LOADED = [LIBRARIES / f"libberth-{name}.so" for name in ("cuda", "cuda-alias", "nvml", "audit")]
PRELOADED = ":".join(map(str, LOADED[:3]))
DRIVER = os.environ["BERTH_OLD_DRIVER"]
NOT_PERMITTED = 800 & 127  # of cuInit, as far as a process can end with it

# Red Hat Enterprise Linux 8 has it; Ubuntu 20.04 and 22.04, Debian 11 and RHEL 9 have later ones.
NEWEST = (2, 28)
MAY_NEED = {"libc.so.6", "libdl.so.2", "libpthread.so.0", "libcuda.so.1"}


def read(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def start(words, **environment):
    return subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60,
                          check=False)


class Needs(unittest.TestCase):
    def test_what_is_loaded_needs_no_c_library_above_2_28(self):
        for library in LOADED:
            with self.subTest(library=library.name):
                versions = re.findall(r"GLIBC_(\w+(?:\.\w+)*)", read("readelf", "-VW", library))
                numbers = [tuple(map(int, version.split("."))) for version in versions]
                self.assertLessEqual(max(numbers, default=(0,)), NEWEST)

    def test_what_is_loaded_needs_no_runtime_beside_the_c_library(self):
        for library in LOADED:
            with self.subTest(library=library.name):
                needed = re.findall(r"\(NEEDED\).*\[(.*)\]", read("readelf", "-dW", library))
                self.assertLessEqual(set(needed), MAY_NEED)
                names = read("nm", "-DC", library)
                self.assertNotRegex(names, r"\bstd::|\b_Unwind_|\boperator (new|delete)")


@unittest.skipUnless(vendor_files.old_c_library().is_dir(),
                     "the C library of Debian 11 is not here: tools/fetch-vendor-files")
class OldCLibrary(unittest.TestCase):
    def begin(self, *options, **environment):
        root = vendor_files.old_c_library()
        return start([root / "ld-linux-x86-64.so.2", "--library-path", root, *options,
                      os.environ["BERTH_OLD_PROGRAM"]], LD_BIND_NOW="1", **environment)

    def test_the_program_begins_without_them(self):
        ended = self.begin()
        self.assertEqual(ended.returncode, 125)
        self.assertIn("libcuda.so.1: cannot open shared object file", ended.stderr)

    def test_a_program_begins_under_them_and_keeps_to_its_share(self):
        with tempfile.TemporaryDirectory() as folder:
            for way in (("--preload", PRELOADED), ("--audit", str(LOADED[3]))):
                with self.subTest(way=way[0]):
                    ended = self.begin(*way, BERTH_VGPU_SOCKET=f"{folder}/none",
                                       BERTH_VGPU_DRIVER=DRIVER)
                    self.assertEqual(ended.stderr,
                                     "berth: this job may not use GPUs without its share: no "
                                     f"arbiter answers at \"{folder}/none\": "
                                     "No such file or directory\n")
                    self.assertEqual(ended.returncode, NOT_PERMITTED)

    def test_a_program_of_no_tenant_begins_under_them(self):
        ended = self.begin("--preload", PRELOADED, BERTH_VGPU_DRIVER=DRIVER)
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))


if __name__ == "__main__":
    unittest.main()
