# SPDX-License-Identifier: Apache-2.0
"""Do the trampolines and the library in front of the driver work on aarch64?

They are compiled with Debian's cross compiler and run under qemu-user; where these are not
installed (./dev packages aarch64) it is skipped. QEMU_LD_PREFIX says where the loader of aarch64
lies, if not where Debian has it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import hook_table  # noqa: E402

SOURCE = HERE.parents[2] / "src"
GENERATE = SOURCE / "vgpu/interposer/generate_trampolines"
C_LIBRARY = SOURCE / "vgpu/behind/c_library.txt"
COMPILER = shutil.which("aarch64-linux-gnu-g++")
QEMU = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
# The library's modules, and the one file of `runtime` that it takes.
SOURCES = [path for module in ("behind", "interposer", "iterations", "ledger")
           for path in sorted((SOURCE / "vgpu" / module).rglob("*.cc"))
           if not path.name.endswith("_test.cc")] + [SOURCE / "runtime/socket_address.cc"]
FLAGS = ["-std=c++20", "-O1", "-fPIC", "-fno-exceptions", "-fno-rtti", "-fvisibility=hidden",
         "-ffunction-sections", f"-I{SOURCE}"]


def run(*words, **environment):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          env=os.environ | environment, timeout=300, check=False)


class Aarch64(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def make(self, out, *words):
        made = run(COMPILER, *words, "-o", self.folder / out)
        self.assertEqual((made.stderr, made.returncode), ("", 0))
        return self.folder / out

    def generate(self, library, names):
        out = self.folder / f"{library}_trampolines.cc"
        self.assertEqual(run(GENERATE, library, names, out).returncode, 0)
        return out

    def begin(self, *words, **environment):
        prefix = os.environ.get("QEMU_LD_PREFIX", "/usr/aarch64-linux-gnu")
        options = []
        for name, value in environment.items():
            options += ["-E", f"{name}={value}"]
        return run(QEMU, "-L", prefix, *options, *words)

    def test_a_trampoline_passes_on_arguments_and_results(self):
        trampolines = self.generate("test", HERE / "trampolines_names.txt")
        program = self.make("trampolines", "-static", HERE / "trampolines.cc", trampolines)
        ended = self.begin(program)
        self.assertNotIn("wrong", ended.stdout)
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))

    def test_a_program_keeps_to_its_share_under_the_library(self):
        trampolines = self.generate("driver", SOURCE / "vgpu/abi/driver_exports.txt")
        generated = self.folder / "vgpu/interposer/generated"
        self.assertEqual(hook_table.generate(generated).returncode, 0)
        library = self.make(
            "libberth-cuda.so", *FLAGS, f"-I{self.folder}", "-shared",
            "-Wl,-soname,libcuda.so.1", "-Wl,--gc-sections",
            f"-Wl,--version-script={SOURCE}/vgpu/interposer/exported.map", "-Wl,-z,defs",
            "-nodefaultlibs", *SOURCES, trampolines, "-lc", "-lgcc")
        listed = {line.split()[0] for line in C_LIBRARY.read_text().splitlines()
                  if line and not line.startswith("#")}
        needed = re.findall(r" U (\w+)", run("nm", "-D", library).stdout)
        self.assertGreater(len(needed), 30)
        self.assertEqual(set(needed) - listed, set())
        (self.folder / "driver").mkdir()
        driver = self.make("driver/libcuda.so.1", "-shared", "-fPIC", HERE / "old_driver.cc")
        program = self.make("program", "-nostartfiles", "-Wl,-e,begin", HERE / "old_program.cc")
        ended = self.begin(program, LD_PRELOAD=library, BERTH_VGPU_DRIVER=driver)
        self.assertEqual((ended.stderr, ended.returncode), ("", 0))
        socket = self.folder / "none"
        ended = self.begin(program, LD_PRELOAD=library, BERTH_VGPU_DRIVER=driver,
                           BERTH_VGPU_SOCKET=socket)
        self.assertEqual(ended.stderr, "berth: this job may not use GPUs without its share: no "
                                       f"arbiter answers at \"{socket}\": "
                                       "No such file or directory\n")


if __name__ == "__main__":
    if COMPILER is None or QEMU is None:
        print("skipped: no aarch64-linux-gnu-g++ or no qemu-aarch64 (./dev packages aarch64)")
        sys.exit(77)
    unittest.main()
