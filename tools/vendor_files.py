# SPDX-License-Identifier: Apache-2.0
"""Which files of others are ours compared with and tried on, and where do they lie on this machine?

tools/fetch-vendor-files puts them in a cache outside the tree, which all clones share. The
licence of NVIDIA's forbids handing them on: none is ever part of this project, and a test that
needs one which is not there is skipped.
"""
import pathlib

import fetched

ROOT = pathlib.Path(__file__).resolve().parents[1]
FOLDER = fetched.CACHE / "vendor"

# Releases of the CUDA toolkit, whose headers and runtime library are taken, newest last.
TOOLKITS = ["12.9", "13.5"]
# Releases of the driver: libcuda.so.1, libnvidia-ml.so.1 and nvidia-smi.
DRIVERS = ["535.261.03", "550.163.01"]
# Debian 11's C library: its loader, libc.so.6, libdl.so.2 and libpthread.so.0.
OLD_C_LIBRARY = "2.31"


def toolkit_folder(release):
    return FOLDER / f"toolkit-{release}"


def driver_folder(release):
    return FOLDER / f"driver-{release}"


def old_c_library():
    return FOLDER / f"glibc-{OLD_C_LIBRARY}"


def toolkits():
    """Folders of those that are here, oldest first."""
    return [folder for folder in map(toolkit_folder, TOOLKITS) if folder.is_dir()]


def drivers():
    return [folder for folder in map(driver_folder, DRIVERS) if folder.is_dir()]
