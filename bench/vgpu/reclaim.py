#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How long does an owner of GPU memory wait for what others have borrowed of it? On a software GPU
# with 80 GiB, of which one job was promised 74 and another holds the given GiB that it was not:
# from the owner's call of cuMemAlloc to its return. All parts are the real ones: server,
# supervisor, arbiter, freezer and the library in the jobs' processes. `copy_ms` is what copying
# that much takes at the speed of the software GPU's link; the rest is Berth's.
#   bench/vgpu/reclaim.py [--rounds 5]
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/support"))
from berth_server import Server, quantile  # noqa: E402

GIB = 1 << 30
COPY_GIB_PER_S = 50  # src/vgpu/device/configuration.h
OWNER = 73
PROGRAM = """
import ctypes, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
def call(name, *arguments):
    if getattr(cuda, name)(*arguments): sys.exit(3)
call("cuInit", 0)
context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
call("cuCtxSetCurrent", context)
began = time.monotonic()
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(int(sys.argv[1]) << 30))
print("waited", time.monotonic() - began, flush=True)
time.sleep(float(sys.argv[2]))
"""


def submit(server, gib, seconds, promised, most=0):
    request = {"gpu_memory": promised * GIB, "gpu_memory_max": most * GIB}
    command = [sys.executable, "-c", PROGRAM, str(gib), str(seconds)]
    return server.submit(command, request=request)["id"]


def waited(server, job):
    log = server.data / "jobs" / "0" / f"{job}.1.task-0.log"
    while True:
        words = log.read_text().split() if log.exists() else []
        if len(words) > 1 and words[0] == "waited":
            return float(words[1]) * 1000
        if server.get(f"jobs/{job}")["state"] in ("failed", "cancelled"):
            raise RuntimeError(" ".join(words))
        time.sleep(0.01)


def measure(server, gib, rounds):
    waits = []
    for _ in range(rounds):
        borrower = submit(server, gib, 100, promised=1, most=gib + 1)
        waited(server, borrower)
        owner = submit(server, OWNER, 0, promised=OWNER + 1)
        waits.append(waited(server, owner))
        server.wait(owner)
        assert server.get(f"jobs/{borrower}")["attempts"] == 1, "the borrower was ended"
        server.request("POST", f"jobs/{borrower}/cancel", {"grace": 0})
        server.wait(borrower)
    return {"given_back_gib": gib, "rounds": rounds, "wait_p50_ms": round(quantile(waits, 0.5), 1),
            "wait_max_ms": round(max(waits), 1), "copy_ms": 1000 * gib / COPY_GIB_PER_S}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with Server("--gpus", "sim:1x80G", "--min-runtime", "0") as server:
        for gib in (8, 16, 32, 64):
            print(json.dumps({"bench": "reclaim", **measure(server, gib, rounds)}), flush=True)


if __name__ == "__main__":
    main()
