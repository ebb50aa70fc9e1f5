# SPDX-License-Identifier: Apache-2.0
"""What a CUDA program in Python begins with, by the driver's own interface; parts of its text."""

# call(NAME, ...) ends the program with 3 where the driver refuses.
OPEN = """
import ctypes, os, signal, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    code = getattr(cuda, name)(*arguments)
    if code: print(name, code, flush=True); sys.exit(3)
"""

# On its first GPU.
START = """
call("cuInit", 0)
context = ctypes.c_void_p()
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
"""

# kernel() is a function of its own each time, which takes as many nanoseconds as it is given.
KERNELS = """
PTX = b\"\"\".version 8.0
.target sm_75
.address_size 64
.visible .entry berth_spin_ns(.param .u64 ns) { ret; }
\"\"\"
def kernel():
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), PTX)
    call("cuModuleGetFunction", ctypes.byref(function), module, b"berth_spin_ns")
    return function
"""
