# SPDX-License-Identifier: Apache-2.0
"""Python looks for this file in PYTHONPATH when it starts: then the libraries beside it are there
before those that PyTorch brings, and the loader takes each by its name. What they lack ends the
process where it is called, and not while PyTorch is loaded."""
import ctypes
import os
import pathlib
import sys

for name in ("libcudart.so.13", "libcublasLt.so.13", "libcublas.so.13"):
    ctypes.CDLL(str(pathlib.Path(__file__).with_name(name)))
sys.setdlopenflags(os.RTLD_LAZY)
