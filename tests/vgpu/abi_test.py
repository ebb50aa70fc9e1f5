# SPDX-License-Identifier: Apache-2.0
"""Are our declarations of the driver and of NVML laid out as NVIDIA's own headers say?

Ours are written from public documentation. Sizes, offsets and values are compared with the vendor's
headers of each version that is here: BERTH_VENDOR_HEADERS, what tools/fetch-vendor-files has
fetched, a toolkit in /usr/local/cuda. Without any it is skipped.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import hook_table  # noqa: E402
import vendor_files  # noqa: E402

ABI = ROOT / "src/vgpu/abi"
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRUCT = re.compile(r"struct (\w+) \{(.*?)\n\};", re.S)
NESTED = re.compile(r"(?:union|struct)\s*\w*\s*\{[^{}]*\}")
ENUM = re.compile(r"enum \w+ : [\w ]+\{(.*?)\}", re.S)


def found(header):
    places = [os.environ.get("BERTH_VENDOR_HEADERS"), "/usr/local/cuda/include",
              *vendor_files.toolkits()]
    return [place for place in places if place and (pathlib.Path(place) / header).is_file()]


def ours(prefix):
    """Structs with their fields, and enumerators, of headers whose names begin so."""
    structs, values = {}, set()
    for header in sorted(ABI.glob(f"{prefix}*.h")):
        text = COMMENT.sub("", header.read_text())
        for name, body in STRUCT.findall(text):
            # Of a member that is a struct or union of its own, what lies in it is not looked at.
            while (simpler := NESTED.sub("int", body)) != body:
                body = simpler
            structs[name] = re.findall(r"[\w*] +(\w+)(?:\[[^\]]*\])*(?:\s*=[^;]*|\{\})?;", body)
        for body in ENUM.findall(text):
            values.update(re.findall(r"(\w+)\s*=", body))
    return structs, values


def layout(include, header, structs, values):
    """Of those that the header has: `name size`, `name.field offset`, `value number`."""
    lines = [f'#include "{header}"', "#include <cstddef>", "#include <cstdio>"]
    body = []
    for name, fields in structs.items():
        lines.append(f"template <class T> void of_{name}() {{")
        lines.append(f'    std::printf("{name} %zu\\n", sizeof(T));')
        for field in fields:
            lines.append(f"    if constexpr (requires(T t) {{ t.{field}; }})")
            lines.append(f'        std::printf("{name}.{field} %zu\\n", offsetof(T, {field}));')
        lines.append("}")
        body.append(f"of_{name}<{name}>();")
    body += [f'std::printf("{value} %lld\\n", static_cast<long long>({value}));'
             for value in sorted(values)]
    text = "\n".join([*lines, "int main() {", *body, "}", ""])
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.cc"
        source.write_text(text)
        program = source.with_suffix("")
        subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-w",
                        "-D__CUDA_API_VERSION_INTERNAL", "-I", include, source, "-o",
                        program], check=True)
        printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return dict(line.split() for line in printed.splitlines())


class Abi(unittest.TestCase):
    maxDiff = None

    def compare_each(self, prefix, header):
        places = found(header)
        if not places:
            self.skipTest(f"no {header} is here; tools/fetch-vendor-files fetches some")
        for place in places:
            with self.subTest(place=str(place)):
                self.compare(prefix, header, place)

    def compare(self, prefix, header, theirs):
        text = COMMENT.sub("", (pathlib.Path(theirs) / header).read_text())
        structs, values = ours(prefix)
        words = set(re.findall(r"\w+", text))
        shared = {name: fields for name, fields in structs.items() if name in words}
        both = {value for value in values if value in words}
        # A name that the vendor does not have may be ours by an older or newer version only.
        self.assertGreater(len(shared), 0.8 * len(structs), set(structs) - set(shared))
        self.assertGreater(len(both), 0.9 * len(values), values - both)
        own = layout(ROOT / "src", f"vgpu/abi/{header}", shared, both)
        vendor = layout(theirs, header, shared, both)
        # A struct that has grown in a later version than theirs keeps its size only.
        grown = {name.split(".")[0] for name in own.keys() - vendor.keys()}
        both_have = {name for name in own.keys() & vendor.keys()
                     if "." not in name or name.split(".")[0] not in grown}
        # What is reserved gives way to new fields, and green contexts have had several versions.
        both_have -= {name for name in both_have if name.endswith(".reserved")}
        both_have -= {"CUdevSmResource"}
        self.assertGreater(len(both_have), 0.95 * len(own), own.keys() - vendor.keys())
        self.assertEqual({name: own[name] for name in both_have},
                         {name: vendor[name] for name in both_have})
        print(f"{theirs}/{header}: {len(both_have)} sizes, offsets and values are the same",
              file=sys.stderr)

    def test_the_driver(self):
        self.compare_each("cuda", "cuda.h")

    def test_the_management_library(self):
        self.compare_each("nvml", "nvml.h")

    def test_the_versions_that_a_name_of_the_driver_means(self):
        """Of each hook: since when. And no header that is here is newer than what is known."""
        folders = [pathlib.Path(place) for place in found("cudaTypedefs.h")]
        if not folders:
            self.skipTest("no cudaTypedefs.h is here; tools/fetch-vendor-files fetches some")
        declared = {name for folder in folders for header in folder.glob("cuda*Typedefs.h")
                    for name in re.findall(r"\*PFN_(\w+)\)", header.read_text())}
        hooks = hook_table.hooks()
        self.assertGreater(len(hooks), 80)
        stream = re.compile(r"_pt[ds][sz]$")
        said = {f"{asked}_v{since}{''.join(stream.findall(exported))}"
                for exported, asked, since, _ in hooks}
        self.assertEqual(said - declared, set())
        for exported, _, _, is_twin in hooks:
            self.assertEqual(is_twin, bool(stream.search(exported)), exported)
        newest = max(int(version) for folder in folders for version in re.findall(
            r"define CUDA_VERSION (\d+)", (folder / "cuda.h").read_text()))
        known = (ROOT / "src/vgpu/interposer/hooks/lookup.h").read_text()
        self.assertGreaterEqual(int(re.search(r"kKnownVersion = (\d+)", known)[1]), newest)


if __name__ == "__main__":
    program = unittest.main(verbosity=2, exit=False)
    skipped, run = len(program.result.skipped), program.result.testsRun
    sys.exit(77 if skipped == run else not program.result.wasSuccessful())
