# SPDX-License-Identifier: Apache-2.0
"""What the interposer's generator makes of the driver's functions, for the tests that read it."""
import pathlib
import re
import subprocess
import tempfile

VGPU = pathlib.Path(__file__).resolve().parents[2] / "src/vgpu"
EXPORTS = VGPU / "abi/driver_exports.txt"
TABLE = VGPU / "interposer/driver_functions.txt"


def generate(out, exports=EXPORTS, table=TABLE):
    return subprocess.run(
        [VGPU / "interposer/generate_hooks", "driver", exports, table, out,
         *(VGPU / "abi").glob("*.h")], capture_output=True, text=True, check=False)


def hooks():
    """(exported, asked for, since, is a twin) of each."""
    with tempfile.TemporaryDirectory() as out:
        generate(out).check_returncode()
        header = (pathlib.Path(out) / "driver_functions.h").read_text()
    return [(exported, asked, int(since), twin == "1") for exported, asked, since, twin
            in re.findall(r"X\((cu\w+), (cu\w+), (\d+), ([01])\)", header)]


def exports():
    return {line for line in EXPORTS.read_text().splitlines() if line and not line.startswith("#")}
