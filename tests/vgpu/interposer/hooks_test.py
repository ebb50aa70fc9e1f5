# SPDX-License-Identifier: Apache-2.0
"""Is everything that takes memory of a GPU, gives it back, shows it or puts work on it hooked?

Names of the driver's exports decide: what looks like one of these is in the table of hooks or in
EXCEPTIONS with the reason why it need not be. A newer list of exports brings its questions here.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
VGPU = ROOT / "src/vgpu"

ASKS = re.compile(
    r"^cu(Init$|GetProcAddress|Launch|Graph(Launch|Upload|Add.*Node)|Mipmapped|Array|Multicast|"
    r"Mem(Alloc|Free|Create|Release|Map|Unmap|Retain|Import|Export|GetInfo|Pool)|DeviceTotalMem|"
    r"Ipc(Open|Close|GetMem)|DeviceGraphMemTrim|(Module|Library)(Load|Unload)|"
    r"GreenCtx(Create|Destroy)|Ctx(Create|Destroy|SetLimit|Detach|Synchronize)|"
    r"DevicePrimaryCtx(Ret|Rel|Reset)|StreamSynchronize|EventSynchronize|MemcpyDtoH_)")

EXCEPTIONS = {
    "asks, and changes nothing": r"cu(Array|Mipmapped)\w*Get\w+|cuMemPool(Get|Set)\w+|"
                                 r"cuMulticastGet\w+|cuMemMapArrayAsync\w*|cuModuleLoadingMode",
    "memory of the host": r"cuMem(AllocHost|FreeHost)\w*",
    "a pool takes memory when something is taken from it": r"cuMemPoolCreate",
    "a device of an object takes nothing": r"cuMulticastAddDevice",
    "its exporter pays": r"cuIpc\w+|cuMem(Import|Export)\w+|cuMemPool(Import|Export)\w+",
    "code is counted against the management library (arbiter/residue.h)":
        r"cu(Module|Library)(Load|Unload)\w*|cuCtxSetLimit",
    "work of the host": r"cuLaunchHostFunc\w*",
    "a node that takes no memory":
        r"cuGraphAdd(?!MemAllocNode$|Node(_v2)?$)\w+",
    "counts down what cuCtxAttach counted up": r"cuCtxDetach",
}

# Hooks that neither charge nor give back: nobody need die in them (kill_test.cc).
CHARGE_NOTHING = (r"cu(Init|GetProcAddress\w*|DeviceTotalMem\w*|MemGetInfo\w*|Launch\w*|"
                  r"\w+Synchronize\w*|MemcpyDtoH\w*)$")


def exports():
    lines = (VGPU / "abi/driver_exports.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def hooks():
    return set(re.findall(r"BERTH_HOOK\((cu\w+),", (VGPU / "interposer/lookup.cc").read_text()))


class Hooks(unittest.TestCase):
    def test_every_hook_is_of_a_function_that_the_driver_has(self):
        self.assertEqual(hooks() - exports(), set())

    def test_what_looks_like_memory_or_work_is_hooked_or_has_its_reason(self):
        excepted = re.compile("|".join(f"(?:{pattern})$" for pattern in EXCEPTIONS.values()))
        asked = {name for name in exports() if ASKS.match(name)}
        self.assertGreater(len(asked), 100)
        missing = {name for name in asked - hooks() if not excepted.match(name)}
        self.assertEqual(missing, set())

    def test_no_exception_is_there_without_need(self):
        for reason, pattern in EXCEPTIONS.items():
            names = {name for name in exports() if re.match(f"(?:{pattern})$", name)}
            self.assertTrue(names, reason)
            self.assertEqual(names & hooks(), set(), reason)

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


if __name__ == "__main__":
    unittest.main(verbosity=2)
