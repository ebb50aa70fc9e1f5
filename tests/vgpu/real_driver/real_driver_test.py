# SPDX-License-Identifier: Apache-2.0
"""Does a program find behind our libraries what it finds without them, in NVIDIA's own driver?

No GPU is needed: the driver's libraries load, answer look-ups and say that no driver runs. Each
release that tools/fetch-vendor-files has fetched is looked at; without any it is skipped.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests/vgpu")]
import hook_table  # noqa: E402
import vendor_files  # noqa: E402

LIBRARIES = pathlib.Path(os.environ["BERTH_LIBRARIES"])
PRELOADED = ":".join(f"{LIBRARIES}/libberth-{name}.so" for name in ("cuda", "cuda-alias", "nvml"))
# As `berth up --in-front` has them. A mount needs a namespace: tests/vgpu/in_front.
WAYS = {"preload": {"LD_PRELOAD": PRELOADED},
        "audit": {"LD_AUDIT": f"{LIBRARIES}/libberth-audit.so"}}
ASKER = os.environ["BERTH_ASKER"]

# Every version that gave some function a new meaning, some between, before and behind them.
VERSIONS = [-1, 0, 1000, 2000, 2010, 2020, 2030, 3000, 3010, 3020, 4000, 4010, 4020, 5000, 5050,
            6000, 6050, 7000, 7050, 8000, 9000, 9010, 9020, 10000, 10010, 10020, 11000, 11010,
            11020, 11030, 11040, 11050, 11060, 11070, 11080, 12000, 12010, 12020, 12030, 12040,
            12050, 12060, 12080, 12090, 13000, 13010, 13020, 13030, 13040, 13050, 99000]
# Any stream, the legacy one, the one of the thread, both, and two that mean nothing.
FLAGS = [0, 1, 2, 3, 4, 2**64 - 1]


def symbols(library):
    """Exported name -> its type letter, "@VERSION" with the name where it has one."""
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                          text=True).stdout
    return {line.split()[-1]: line.split()[-2] for line in text.splitlines()}


def listed(path):
    lines = (ROOT / path).read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def asked_names():
    """All names that exports have, and what is left of them without version and stream."""
    names = listed("src/vgpu/abi/driver_exports.txt")
    plain = {re.sub(r"(_v\d+)?(_pt[ds][sz])?$", "", name) for name in names}
    return sorted(names | plain | {"(none)", "cuNothing", "cudbgApiInit", "malloc"})


def with_each_driver(test):
    """Runs a test for the folder of each release that is here."""
    @functools.wraps(test)
    def run(self):
        for folder in vendor_files.drivers():
            with self.subTest(driver=folder.name):
                test(self, folder)
    return run


class RealDriver(unittest.TestCase):
    maxDiff = None

    @staticmethod
    def run_with(folder, command, front="", extra=None, **options):
        """In front, by a way: as a job with a share runs it, where the loader finds the driver in
        the folder. What it says and its exit code."""
        environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(folder), **(extra or {})}
        if front:
            environment |= WAYS[front] | {"BERTH_VGPU_SOCKET": "/nowhere"} | (extra or {})
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True,
                              text=True, timeout=60, check=False, **options)
        return done.stdout, done.returncode, done.stderr

    @with_each_driver
    def test_every_function_that_the_driver_exports_is_exported(self, folder):
        debugger = re.compile(r"cudbg(?!GetAPI)")
        for theirs, ours, names in (
                ("libcuda.so.1", "libberth-cuda.so", "src/vgpu/abi/driver_exports.txt"),
                ("libnvidia-ml.so.1", "libberth-nvml.so",
                 "src/vgpu/nvml_interposer/nvml_exports.txt")):
            real, own = symbols(folder / theirs), symbols(LIBRARIES / ours)
            # A name with a version would look so: "cuInit@@V".
            self.assertEqual({name for name in own | real if "@" in name}, set())
            functions = {name for name, kind in real.items() if kind in "TW"}
            self.assertGreater(len(functions), 300)
            hidden = {name for name in functions if debugger.match(name)}
            self.assertEqual(functions - hidden - own.keys(), set())
            # The other way: nothing but what some driver has, and what is ours by its name.
            added = {name for name in own if not name.startswith("berth_vgpu_")}
            self.assertEqual(added, listed(names))
            # Data would be a copy that the driver does not read.
            self.assertEqual({kind for kind in own.values()} - set("TW"), set())

    @with_each_driver
    def test_every_lookup_gives_what_the_driver_gives_or_its_hook(self, folder):
        hooked = {exported for exported, _, _, _ in hook_table.hooks()}
        asked = "".join(f"{name} {version} {flags}\n" for name in asked_names()
                        for version in VERSIONS for flags in FLAGS)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as names:
            names.write("\n".join(sorted(symbols(folder / "libcuda.so.1"))) + "\n")
            names.flush()
            command = [ASKER, "lookups", names.name]
            without, code, said = self.run_with(folder, command, input=asked)
            self.assertEqual((code, said), (0, ""))
            front, code, said = self.run_with(
                folder, command, front="preload", input=asked,
                extra={"BERTH_VGPU_DRIVER": f"{folder}/libcuda.so.1"})
            self.assertEqual((code, said), (0, ""))
        answered = set(re.findall(r"\b(cu[A-Z]\w+)(?=,|$)", without, re.M))
        self.assertGreater(len(answered), 550)
        self.assertNotIn("unknown", without)
        differing = [pair for pair in zip(without.splitlines(), front.splitlines())
                     if pair[0] != pair[1].replace(" hook", "")]
        self.assertEqual(differing[:5], [])
        found = set(re.findall(r"(cu[A-Z]\w+) hook\b", front))
        self.assertEqual(found, hooked & answered)

    @with_each_driver
    def test_tables_that_are_documented_nowhere_are_the_drivers(self, folder):
        without = self.run_with(folder, [ASKER, "tables"])
        self.assertEqual(len(re.findall(r": 0 at [1-9a-f]", without[0])), 4, without)
        for way in WAYS:
            self.assertEqual(self.run_with(folder, [ASKER, "tables"], front=way), without)

    @with_each_driver
    def test_calls_before_and_after_an_init_that_fails_answer_as_the_driver_does(self, folder):
        # Outside a job: in one, cuInit asks for its arbiter first.
        without = self.run_with(folder, [ASKER, "calls"])
        self.assertEqual(without[1], 0, without)
        self.assertEqual(self.run_with(folder, [ASKER, "calls"], front="preload",
                                       extra={"BERTH_VGPU_SOCKET": ""}), without)

    @with_each_driver
    def test_a_function_that_is_called_with_nothing_answers_as_the_drivers(self, folder):
        for file in ("libcuda.so.1", "libnvidia-ml.so.1"):
            # A result, but of nvmlErrorString, which gives a text.
            names = [name for name, kind in symbols(folder / file).items()
                     if kind in "TW" and re.match("(cu|nvml)(?!ErrorString)[A-Z]", name)]
            asked = {"input": "".join(f"{name}\n" for name in names)}
            without, code, said = self.run_with(folder, [ASKER, "each", file], **asked)
            self.assertEqual((without.count("\n"), code, said), (len(names), 0, ""))
            front, code, said = self.run_with(folder, [ASKER, "each", file], front="preload",
                                              extra={"BERTH_VGPU_SOCKET": ""}, **asked)
            self.assertEqual((code, said), (0, ""))
            self.assertEqual(set(front.splitlines()) ^ set(without.splitlines()), set())

    @with_each_driver
    def test_nvidias_runtime_starts(self, folder):
        for toolkit in vendor_files.toolkits():
            runtime = next(toolkit.glob("libcudart.so.*"))
            command = [os.environ["BERTH_RUNTIME_ASKER"], runtime]
            without = self.run_with(folder, command)
            self.assertEqual(without[1], 0, without)
            self.assertEqual(self.run_with(folder, command, front="preload",
                                           extra={"BERTH_VGPU_SOCKET": ""}), without)

    @with_each_driver
    def test_nvidia_smi_says_that_no_driver_runs(self, folder):
        for words in ([], ["-L"], ["-q"], ["-h"]):
            command = [folder / "nvidia-smi", *words]
            without = self.run_with(folder, command)
            self.assertEqual(without[1], 0 if words == ["-h"] else 9, without)
            for way in WAYS:
                self.assertEqual(self.run_with(folder, command, front=way), without)

    @with_each_driver
    def test_nvidia_smi_gets_past_its_own_table_where_a_driver_runs(self, folder):
        awake = pathlib.Path(os.environ["BERTH_AWAKE_NVML"])
        extra = {"BERTH_BEHIND": f"{folder}/libnvidia-ml.so.1",
                 "BERTH_AWAKE_VERSION": folder.name.removeprefix("driver-"),
                 "BERTH_VGPU_NVML": str(awake)}
        for words, code in (([], 6), (["-L"], 0)):
            command = [folder / "nvidia-smi", *words]
            without = self.run_with(awake.parent, command, extra=extra)
            self.assertIn("No devices", without[0])
            self.assertEqual(without[1], code)
            # An auditor would give the stand-in ours for what is behind it.
            self.assertEqual(self.run_with(folder, command, front="preload", extra=extra), without)


if __name__ == "__main__":
    if not vendor_files.drivers():
        print("no driver's libraries are here; tools/fetch-vendor-files fetches some")
        sys.exit(77)
    unittest.main(verbosity=2)
