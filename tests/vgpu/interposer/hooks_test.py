# SPDX-License-Identifier: Apache-2.0
"""Do the hooks take their places, and is a process killed in each that charges?

That every function which takes memory of a GPU, gives it back, shows it or puts work on it is
hooked, or has its reason why it need not be, is for generate_hooks to say: it makes no hooks of a
table with a gap.
"""
import graphlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/vgpu"))
import hook_table  # noqa: E402
from hook_table import EXPORTS, TABLE, exports  # noqa: E402

SOURCE = ROOT / "src"
LIBRARY = os.environ.get("BERTH_LIBRARY", ROOT / "build/release/lib/libberth-cuda.so")

# Hooks that neither charge nor give back: no test kills a process in them (kill_test.cc).
CHARGE_NOTHING = (r"cu(Init|GetProcAddress\w*|DeviceTotalMem\w*|MemGetInfo\w*|Launch\w*|"
                  r"\w+Synchronize\w*|MemPoolCreate|MemcpyDtoH\w*|LogicalEndpoint\w*)$")


def hooks():
    return {exported for exported, _, _, _ in hook_table.hooks()}


class Table(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def refused(self, exports_text, table_text):
        folder = pathlib.Path(self.folder.name)
        (folder / "exports").write_text(exports_text)
        (folder / "table").write_text(table_text)
        done = hook_table.generate(folder / "out", folder / "exports", folder / "table")
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_an_export_without_a_row_is_refused(self):
        self.assertIn("cuBrandNew is exported and has no row",
                      self.refused(EXPORTS.read_text() + "cuBrandNew\n", TABLE.read_text()))

    def test_another_version_of_a_hooked_function_is_never_just_passed_on(self):
        for name in ("cuGraphAddNode_v9", "cuMemcpyDtoH_v3", "cuStreamSynchronize_v2_ptsz"):
            self.assertIn(f"{name} is exported and has no row",
                          self.refused(EXPORTS.read_text() + name + "\n",
                                       TABLE.read_text() + "\n[passed on: any]\ncu*\n"))

    def test_a_row_without_an_export_is_refused(self):
        text = EXPORTS.read_text().replace("cuMemAlloc_v2\n", "").replace("cuEventQuery\n", "")
        refused = self.refused(text, TABLE.read_text())
        self.assertIn("cuMemAlloc_v2 has a row and is not exported", refused)
        self.assertIn("cuEventQuery has a row and is not exported", refused)

    def test_a_reason_that_is_of_no_export_is_refused(self):
        self.assertIn("cuForgotten* passes on nothing",
                      self.refused(EXPORTS.read_text(),
                                   TABLE.read_text() + "\n[passed on: any]\ncuForgotten*\n"))

    def test_what_is_no_row_is_refused(self):
        table = TABLE.read_text().replace("[memory] ", "[memory] what\ncuMemAlloc from:2\n# ")
        self.assertIn("no row: cuMemAlloc from:2", self.refused(EXPORTS.read_text(), table))


class Hooks(unittest.TestCase):
    @unittest.skipUnless(pathlib.Path(LIBRARY).exists(), "no library is built")
    def test_each_takes_the_place_of_a_jump(self):
        text = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True,
                              capture_output=True, text=True).stdout
        kinds = {name: kind for _, kind, name in (line.split() for line in text.splitlines())}
        self.assertEqual({name for name in exports() if kinds.get(name) == "T"}, hooks())
        self.assertEqual({name for name in exports() if kinds.get(name) == "W"},
                         exports() - hooks())

    def test_a_process_is_killed_in_each_call_that_charges_or_gives_back(self):
        text = (ROOT / "tests/vgpu/interposer/kill_test.cc").read_text()
        killed = set(re.findall(r'"(cu\w+)"', text))
        self.assertEqual(killed - exports(), set())
        charging = {name for name in hooks() if not re.match(CHARGE_NOTHING, name)}
        self.assertGreater(len(charging), 45)
        self.assertEqual(charging - killed, set())

    def test_a_hook_for_one_default_stream_has_its_twin_for_the_other(self):
        for name in hooks():
            for twin in (f"{name}_ptsz", f"{name}_ptds"):
                if twin in exports():
                    self.assertIn(twin, hooks())


class Files(unittest.TestCase):
    def test_none_includes_another_in_a_circle(self):
        uses = graphlib.TopologicalSorter()
        for path in sorted((SOURCE / "vgpu/interposer").rglob("*.*")):
            if path.suffix in (".h", ".cc") and not path.stem.endswith("_test"):
                name = str(path.relative_to(SOURCE).with_suffix(""))
                used = set(re.findall(r'#include "(vgpu/interposer/.+)\.h"', path.read_text()))
                uses.add(name, *used - {name})
        uses.prepare()  # raises with the circle


if __name__ == "__main__":
    unittest.main(verbosity=2)
