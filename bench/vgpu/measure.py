#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the interposer add to a launch, to an allocation with its free, and to a start?

usage: bench/vgpu/measure.py [--instructions|--ceiling]

Runs berth-bench-vgpu on a driver that does nothing, bare and as a process of a tenant, and on the
software driver. Prints a line of JSON for each figure: nanoseconds (best of several runs, bare and
tenant in turn), and with --instructions also instructions by valgrind, which do not depend on what
else the machine does. With --ceiling it fails where an addition is above three times its goal: a
test for machines that do other things as well.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BERTH_BUILD", ROOT / "build/release"))
BENCH = BUILD / "bench/vgpu/berth-bench-vgpu"
ARBITER = BUILD / "bin/berth-arbiter"
NULL_DRIVER = BUILD / "bench/vgpu"
SOFTWARE_DRIVER = BUILD / "software_gpu"
UUID = "GPU-00000000-0000-0000-0000-000000000001"
# Large and small are two calls each: an allocation and its free.
GOALS_NS = {"launch": 25, "steps": 25, "noise": 25, "large": 300, "small": 300}
ROUNDS = {"null": {"launch": 2_000_000, "steps": 2_000_000, "noise": 2_000_000,
                   "large": 300_000, "small": 300_000},
          "software": {"large": 2000, "small": 20_000}}
REPEATS = 5
STARTS = 300  # at once
GOAL_STARTS_S = 1
CEILING = 3  # times the goal


def environment(drivers, tenant_socket):
    env = dict(os.environ, LD_LIBRARY_PATH=str(drivers),
               BERTH_SOFTWARE_GPU=f"state=/dev/shm/berth-bench-vgpu;uuids={UUID}")
    if tenant_socket:
        env["LD_PRELOAD"] = str(BUILD / "lib/libberth-cuda.so")
        env["BERTH_VGPU_DRIVER"] = str(drivers / "libcuda.so.1")
        env["BERTH_VGPU_SOCKET"] = tenant_socket
    return env


def run(words, env):
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True,
                          timeout=300)
    if done.returncode != 0:
        sys.exit(f"measure: {' '.join(map(str, words))}: {done.stderr}")
    return done


def nanoseconds(what, rounds, env):
    return float(run([BENCH, what, rounds], env).stdout)


def instructions(what, env):
    """For one round: what more rounds cost, without what the start costs."""
    counts = []
    for rounds in (20_000, 40_000):
        done = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", BENCH, what,
                    rounds], env)
        counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
    return (counts[1] - counts[0]) / (20_000 * 7)


def hold_ceiling(drivers, socket):
    bare, tenant = environment(drivers, None), environment(drivers, socket)
    too_slow = []
    for what, rounds in ROUNDS["null"].items():
        best = min(nanoseconds(what, rounds // 10, tenant) - nanoseconds(what, rounds // 10, bare)
                   for _ in range(REPEATS))
        ceiling = CEILING * GOALS_NS[what]
        print(f"{what}: {best:.1f} ns added, at most {ceiling}", flush=True)
        if best > ceiling:
            too_slow.append(what)
    return too_slow


def measure_starts(socket):
    """All of them together, from the first one's start to the last one's end."""
    def seconds(env):
        begin = time.monotonic()
        programs = [subprocess.Popen([BENCH, "start", "1"], env=env, stdout=subprocess.DEVNULL)
                    for _ in range(STARTS)]
        if any(program.wait() != 0 for program in programs):
            sys.exit("measure: a program did not start")
        return time.monotonic() - begin

    bare, tenant = environment(NULL_DRIVER, None), environment(NULL_DRIVER, socket)
    pairs = [(seconds(bare), seconds(tenant)) for _ in range(REPEATS)]
    without, with_it = (min(pair[side] for pair in pairs) for side in (0, 1))
    print(json.dumps({"bench": "vgpu", "driver": "null", "call": f"{STARTS} starts",
                      "bare_s": round(without, 3), "tenant_s": round(with_it, 3),
                      "added_s": round(with_it - without, 3), "goal_s": GOAL_STARTS_S}))


def measure(driver, drivers, socket, counts_instructions):
    bare, tenant = environment(drivers, None), environment(drivers, socket)
    for what, rounds in ROUNDS[driver].items():
        pairs = [(nanoseconds(what, rounds, bare), nanoseconds(what, rounds, tenant))
                 for _ in range(REPEATS)]
        without, with_it = (min(pair[side] for pair in pairs) for side in (0, 1))
        figure = {"bench": "vgpu", "driver": driver, "call": what, "bare_ns": without,
                  "tenant_ns": with_it, "added_ns": round(with_it - without, 2),
                  "ratio": round(with_it / without, 3), "goal_ns": GOALS_NS[what]}
        if counts_instructions and driver == "null":
            figure["added_instructions"] = round(instructions(what, tenant) -
                                                 instructions(what, bare), 1)
        print(json.dumps(figure), flush=True)


def main(option):
    with tempfile.TemporaryDirectory(prefix="berth-vgpu-") as folder:
        arbiter = subprocess.Popen([ARBITER, "--dir", folder], stdout=subprocess.DEVNULL)
        try:
            while not os.path.exists(f"{folder}/control"):
                time.sleep(0.01)
            run([ARBITER, "--dir", folder, "order", "tenant", "job", f"gpus={UUID}:8G"],
                os.environ)
            socket = f"{folder}/tenants/job"
            if option == "--ceiling":
                return 1 if hold_ceiling(NULL_DRIVER, socket) else 0
            measure_starts(socket)
            measure("null", NULL_DRIVER, socket, option == "--instructions")
            measure("software", SOFTWARE_DRIVER, socket, False)
            return 0
        finally:
            arbiter.terminate()
            arbiter.wait()
            pathlib.Path("/dev/shm/berth-bench-vgpu").unlink(missing_ok=True)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--instructions"], ["--ceiling"]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
