# SPDX-License-Identifier: Apache-2.0
"""Is everything that takes memory of a GPU, gives it back, shows it or puts work on it hooked?

Every export of the driver is in the table of hooks or in EXCEPTIONS with the reason why it need not
be. So a newer list of exports brings its questions here.
"""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
VGPU = ROOT / "src/vgpu"

# Reason -> patterns of exports that need no hook for it.
EXCEPTIONS = {
    "asks, and changes nothing": (
        r"cu\w*(Get|Query|CanAccess|Is(Capturing|Loaded)|Enumerate|Occupancy)\w*",
        r"cuDeviceComputeCapability", r"cuGraphDebugDotPrint"),
    "sets how something behaves": (
        r"cu[A-Z]\w*Set(?!Limit)\w*", r"cuMemAdvise\w*", r"cuThreadExchange\w*",
        r"cuCtx(Push|Pop)Current\w*", r"cuCtx(Enable|Disable)PeerAccess",
        r"cuCtxResetPersistingL2Cache", r"cuFlushGPUDirectRDMAWrites", r"cu(GL|EGLApi)Init"),
    "memory of the host": (r"cuMem(AllocHost|FreeHost|Host)\w*",),
    "moves what is there": (
        r"cuMem(cpy|set|Prefetch|Discard|BatchDecompress)\w*", r"cuFabricCpy\w*"),
    "addresses, and what lies there already": (r"cuMemAddress\w+", r"cuMemMapArrayAsync\w*"),
    "a device of an object takes nothing": (r"cuMulticastAddDevice",),
    "of an object that a share has none of": (
        r"cuLogicalEndpoint(AddDevice|Bind|Destroy|Export|IdRe|Unbind)\w*",),
    "its exporter pays": (
        r"cuIpc\w+", r"cuMem(Pool)?(Import|Export)\w+", r"cuImportExternal\w+",
        r"cuDestroyExternal\w+", r"cu(Signal|Wait)ExternalSemaphores\w*"),
    "a graphics interface has taken it": (
        r"cuGraphics\w+", r"cuGL(Map|Unmap|Register|Unregister)\w+", r"cuEGLStream\w+",
        r"cuEventCreateFromEGLSync"),
    "code is counted against the management library (arbiter/gpus/residue.h)": (
        r"cu(Module|Library)(Load|Unload)\w*", r"cuLink\w+", r"cuFuncLoad", r"cuCtxSetLimit"),
    "a description": (
        r"cu(Tex|Surf)(Ref|Object)(Create|Destroy)", r"cuTensorMap\w+", r"cuDev(Sm)?Resource\w+",
        r"cuUserObject\w+"),
    "work of the host": (r"cuLaunchHostFunc\w*", r"cuStreamAddCallback\w*"),
    "order of work that is gated where it is launched": (
        r"cuStream(Create|Destroy|Wait|Write|BatchMemOp|CopyAttributes|AttachMem)\w*",
        r"cuEvent(Create|Record|Elapsed|Destroy)\w*", r"cu(Green)?Ctx(Record|Wait)Event",
        r"cuGreenCtxStreamCreate"),
    "what is captured takes memory when its graph is launched": (
        r"cuStream(Begin|End|Update)\w*Capture\w*", r"cuStreamBeginRecapture\w+"),
    "no graph takes memory before it is uploaded or launched": (
        r"cuGraphAdd(?!MemAllocNode$|Node)\w+", r"cuGraph\w*(Create|Destroy|Instantiate|Update)\w*",
        r"cuGraph(Clone|RemoveDependencies|ReleaseUserObject|RetainUserObject)\w*",
        r"cuGraphKernelNodeCopyAttributes", r"cuGraphNodeFindInClone"),
    "counts what a context has of users": (r"cuCtx(Attach|Detach)",),
    "another name of a context that is there": (r"cuCtxFromGreenCtx",),
    "the freezer's": (r"cuCheckpoint\w+",),
    "tells a profiler, a debugger or a log": (
        r"cuProfiler\w+", r"cuCoredump\w+", r"cuLogs\w+", r"cuDevice\w+AsyncNotification"),
}

# Hooks that neither charge nor give back: no test kills a process in them (kill_test.cc).
CHARGE_NOTHING = (r"cu(Init|GetProcAddress\w*|DeviceTotalMem\w*|MemGetInfo\w*|Launch\w*|"
                  r"\w+Synchronize\w*|MemPoolCreate|MemcpyDtoH\w*|LogicalEndpoint\w*)$")


def exports():
    lines = (VGPU / "abi/driver_exports.txt").read_text().splitlines()
    return {line for line in lines if line and not line.startswith("#")}


def hooks():
    table = (VGPU / "interposer/hooks/lookup.cc").read_text()
    return set(re.findall(r"BERTH_HOOK\((cu\w+),", table))


class Hooks(unittest.TestCase):
    def test_every_hook_is_of_a_function_that_the_driver_has(self):
        self.assertEqual(hooks() - exports(), set())

    def test_every_export_is_hooked_or_has_its_reason(self):
        patterns = [pattern for several in EXCEPTIONS.values() for pattern in several]
        excepted = re.compile("|".join(f"(?:{pattern})$" for pattern in patterns))
        passed_on = exports() - hooks()
        self.assertEqual({name for name in passed_on if not excepted.match(name)}, set())
        for pattern in patterns:
            needed = [name for name in passed_on if re.fullmatch(pattern, name)]
            self.assertTrue(needed, pattern)

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
