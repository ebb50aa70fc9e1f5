#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How fast do queued short jobs drain with real processes? All are submitted while every GPU is
# taken; then the GPUs are let go. CPU is that of everything: server, supervisors, jobs.
#   bench/drain.py [--jobs 10000]
import argparse
import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server  # noqa: E402


def memory_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return round(int(line.split()[1]) / 1024, 1)


def machine_cpu_seconds():
    """Of everything on this machine: measure on an idle one."""
    user, nice, system = map(int, pathlib.Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def measure(server, jobs):
    gpus = int(server.get("status")["gpus"]["ready"])
    nodes = len(server.get("nodes")["items"])
    blocker = server.submit(["sleep", "3600"], gpus=gpus // nodes, tasks_min=nodes,
                            tasks_max=nodes)["id"]
    for number in range(jobs):
        job = server.submit(["true"], gpus=1)
    memory_full = memory_mib(server.pid)
    cpu = machine_cpu_seconds()
    begin = time.monotonic()
    server.berth("cancel", blocker)
    halves = []
    while True:
        status = server.get("status")
        left = sum(status["jobs"].values())
        if not halves and left <= jobs // 2:
            halves.append(time.monotonic() - begin)
        if left == 0:
            break
        time.sleep(0.02)
    took = time.monotonic() - begin
    return {"jobs": jobs, "jobs_per_s": round(jobs / took), "seconds": round(took, 2),
            "first_half_s": round(halves[0], 2),
            "machine_cpu_ms_per_job": round((machine_cpu_seconds() - cpu) * 1000 / jobs, 2),
            "server_mib_full": memory_full, "server_mib_empty": memory_mib(server.pid),
            "last_job": job["id"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--gpus", default="sim:8x80G")
    arguments = parser.parse_args()
    with Server("--gpus", arguments.gpus) as server:
        print(json.dumps({"bench": "drain", **measure(server, arguments.jobs)}))


if __name__ == "__main__":
    main()
