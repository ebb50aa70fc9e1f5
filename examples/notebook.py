#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a program see of its GPU? Asked of the driver, as every framework asks."""
import ctypes
import sys

driver = ctypes.CDLL("libcuda.so.1")


def call(name, *arguments):
    code = getattr(driver, name)(*arguments)
    if code:
        sys.exit(f"{name} says {code}")


call("cuInit", 0)
context = ctypes.c_void_p()
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print(f"this program sees {total.value / 2**30:.1f} GiB of GPU memory")
