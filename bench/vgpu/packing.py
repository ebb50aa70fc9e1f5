#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does packing pay? Pairs of trainings as they were measured, packed by rule on a software GPU.

usage: bench/vgpu/packing.py [--seconds 12] [--to FILE] [PAIR...]

For each PAIR (JOB+JOB; all without one) a server is given the two jobs one after the other, which
measures them, then both at once with `--may-share`. A line of JSON says whether they were packed,
how much more was done together than one after the other (the sum of the speeds of both, each by its
speed alone), whether they were parted, and how long after both ran. The last line compares with the
goals: pairs that stay gain 1.5 on average and 0.97 at least, others are undone within a minute.
`of_two_hours` is the least that two jobs of an hour each get of one after the other, with what they
lose until they part.

A job is steps of kernels on the software driver and of time on the host, in which it sleeps: other
work of the machine lengthens a step by its lateness alone, and the jobs alone by as much. Nothing
is scaled: a step takes as long as it was measured to take.
"""
import argparse
import dataclasses
import datetime
import json
import pathlib
import statistics
import struct
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "tests/end_to_end")]
import cuda_program  # noqa: E402
from berth_server import Server  # noqa: E402
from node import machine  # noqa: E402

GOAL_MEAN, GOAL_LEAST, GOAL_UNDONE_S = 1.5, 0.97, 60
PATIENCE_S = 120


@dataclasses.dataclass(frozen=True)
class Job:
    """A step: how long alone, which part of it the GPU works, where the host's part is.

    between: the host launches, kernel after kernel, and is slower than the GPU
    before: it loads the batch, then the GPU works
    loads: the same, on processors that another job of the kind takes from it
    """
    step_ms: float
    gpu: float
    host: str


# Step times on a V100: Narayanan et al., Heterogeneity-Aware Cluster Scheduling Policies for Deep
# Learning Workloads, OSDI 2020; github.com/stanford-futuredata/gavel (MIT licence),
# scheduler/simulation_throughputs.json at c4fa400. The number is the batch size. The GPU's part is
# what explains, in time slices, the speed of two of the same; of jobs that loads bound, which
# slow each other down on the host, it is taken from their speed beside others. Where the host's
# part lies is not known: it is assumed by what the model does.
JOBS = {
    "resnet18-16": Job(30.9, 0.50, "before"),
    "resnet18-128": Job(55.6, 0.64, "before"),
    "resnet50-16": Job(87.7, 0.40, "loads"),
    "resnet50-64": Job(227.5, 1.00, "before"),
    "transformer-16": Job(90.4, 0.57, "between"),
    "transformer-64": Job(116.0, 0.67, "between"),
    "transformer-128": Job(183.6, 0.74, "between"),
    "lm-5": Job(9.2, 0.50, "between"),
    "lm-80": Job(35.4, 0.81, "between"),
    "a3c": Job(139.4, 0.30, "loads"),
    "recommendation-512": Job(42.9, 0.30, "loads"),
    "recommendation-4096": Job(256.0, 0.65, "before"),
    "cyclegan": Job(225.9, 0.80, "between"),
}

# What the two got done together there (both by MPS), in speeds alone.
PAIRS = {
    ("resnet18-16", "resnet18-16"): 2.00,
    ("resnet18-16", "resnet18-128"): 2.00,
    ("resnet18-16", "transformer-16"): 1.63,
    ("resnet18-16", "recommendation-4096"): 2.00,
    ("transformer-16", "transformer-16"): 1.76,
    ("transformer-64", "resnet18-16"): 1.65,
    ("transformer-64", "a3c"): 1.53,
    ("transformer-128", "recommendation-512"): 1.25,
    ("lm-80", "recommendation-512"): 1.33,
    ("recommendation-512", "resnet18-128"): 1.97,
    ("recommendation-512", "recommendation-512"): 0.35,
    ("resnet50-16", "resnet50-16"): 0.63,
    ("a3c", "recommendation-512"): 0.95,
    ("transformer-128", "transformer-128"): 1.34,
    ("cyclegan", "cyclegan"): 1.25,
    ("resnet50-64", "resnet50-64"): 1.00,
}

KERNELS = 8  # of a step

TRAINING = cuda_program.OPEN + """
import fcntl, struct
step_s, gpu, host, ends, lock, slower = sys.argv[1:7]
step_s, gpu, slower = float(step_s), float(gpu), float(slower)
kernels = int(sys.argv[7])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
""" + cuda_program.START + cuda_program.KERNELS + """
functions = [kernel() for _ in range(kernels)]
ns = ctypes.c_uint64(int(step_s * gpu / kernels * 1e9))
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
def allocate(gib):
    memory = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(gib << 30))
    return memory
weights = allocate(2)
ends, lock = open(ends, "ab", buffering=0), open(lock, "a")
def load():
    if host == "before": time.sleep(step_s * (1 - gpu))
    if host != "loads": return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(step_s * (1 - gpu))
    except BlockingIOError:
        fcntl.flock(lock, fcntl.LOCK_EX)
        time.sleep(step_s * (1 - gpu) * slower)
    fcntl.flock(lock, fcntl.LOCK_UN)
while True:
    load()
    activations = allocate(1)
    for at, function in enumerate(functions):
        call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
        if host == "between": time.sleep(step_s / kernels)
    call("cuCtxSynchronize")
    call("cuMemFree_v2", activations)
    ends.write(struct.pack("d", time.monotonic()))
"""


class Trainings:
    """Jobs of a server, and when each of their steps ended."""

    def __init__(self, server, folder):
        self.server = server
        self.folder = pathlib.Path(folder)

    def start(self, kind, name, lock, slower):
        job = JOBS[kind]
        ends = self.folder / f"{name}.{time.monotonic_ns()}"
        ends.touch()
        words = (job.step_ms / 1000, job.gpu, job.host, ends, lock, slower, KERNELS)
        answer = self.server.submit([sys.executable, "-c", TRAINING, *map(str, words)], name=name,
                                    may_share=True)
        return answer["id"], ends

    def ends(self, path):
        raw = path.read_bytes()
        return struct.unpack(f"{len(raw) // 8}d", raw[:len(raw) // 8 * 8])

    def place(self, number):
        tasks = self.server.get(f"jobs/{number}")["tasks"]
        return tasks and (tasks[0]["node"], tasks[0]["gpus"])

    def stop(self, number):
        self.server.request("POST", f"jobs/{number}/cancel", {"grace": 5})
        self.server.wait(number)


def until(question, seconds=PATIENCE_S):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = question()
        if answer:
            return answer
        time.sleep(0.05)
    return None


def speed(ends, begin, end):
    """Steps a second between the first and the last that ended in that time."""
    inside = [at for at in ends if begin <= at <= end]
    return (len(inside) - 1) / (inside[-1] - inside[0]) if len(inside) > 2 else 0


def alone(trainings, kind, name, seconds, lock):
    number, path = trainings.start(kind, name, lock, 1)
    begin = until(lambda: trainings.ends(path)[4:5])[0]
    # Measured are the first thirty iterations.
    time.sleep(max(seconds, 45 * JOBS[kind].step_ms / 1000))
    trainings.stop(number)
    use = trainings.server.get(f"jobs/{number}").get("profile", {}).get("compute")
    return speed(trainings.ends(path), begin, time.monotonic()), use


def pair(trainings, kinds, index, seconds):
    names = [f"{kind}.{index}" for kind in kinds]
    lock = trainings.folder / f"host.{index}"
    speeds, uses = {}, {}
    for kind, name in zip(kinds, names):
        if name not in speeds:
            speeds[name], uses[name] = alone(trainings, kind, name, seconds / 2, lock)
    together = PAIRS[kinds]
    contends = all(JOBS[kind].host == "loads" for kind in kinds)
    loads = statistics.mean(1 - JOBS[kind].gpu for kind in kinds)
    slower = 1 / (loads * together) if contends else 1
    jobs = [trainings.start(kind, name, lock, slower) for kind, name in zip(kinds, names)]
    (one, one_ends), (other, other_ends) = jobs
    until(lambda: trainings.place(one))
    packed = until(lambda: trainings.place(one) == trainings.place(other), 3) is not None
    found = {"pair": "+".join(kinds), "uses": [uses[name] for name in names], "there": together,
             "packed": packed}
    if packed:
        both_ran = lambda: all(len(trainings.ends(path)) > 4 for _, path in jobs)  # noqa: E731
        until(both_ran)
        begin = time.monotonic()
        apart = until(lambda: not all(trainings.place(job) for job in (one, other)), seconds)
        end = time.monotonic()
        gains = [speed(trainings.ends(path), begin, end) / speeds[name]
                 for name, (_, path) in zip(names, jobs)]
        found["of_serial"] = round(sum(gains), 3)
        found["each"] = [round(gain, 3) for gain in gains]
        if not apart and sum(gains) < 1.05:
            apart = until(lambda: not all(trainings.place(job) for job in (one, other)), 90)
        found["undone_after_s"] = round(time.monotonic() - begin, 1) if apart else None
    for job in (other, one):
        trainings.stop(job)
    return found


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("pairs", nargs="*", metavar="PAIR")
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--to", type=pathlib.Path)
    arguments = parser.parse_args()
    wanted = [tuple(words.split("+")) for words in arguments.pairs] or list(PAIRS)
    found = []
    with Server("--gpus", "sim:1x16G") as server, tempfile.TemporaryDirectory() as folder:
        trainings = Trainings(server, folder)
        for index, kinds in enumerate(wanted):
            found.append(pair(trainings, kinds, index, arguments.seconds))
            print(json.dumps(found[-1]), flush=True)
    packed = [one for one in found if one["packed"]]
    stay = [one["of_serial"] for one in packed if one["undone_after_s"] is None]
    undone = [one["undone_after_s"] for one in packed if one["undone_after_s"] is not None]
    lost = [max(0, 1 - one["of_serial"]) * (one["undone_after_s"] or 7200) for one in packed]
    last = {"mean": round(statistics.mean(stay), 3) if stay else None,
            "least": min(stay, default=None), "undone_after_s": max(undone, default=None),
            "of_two_hours": round(7200 / (7200 + max(lost, default=0)), 4)}
    last["met"] = bool(stay and last["mean"] >= GOAL_MEAN and last["least"] >= GOAL_LEAST
                       and max(undone, default=0) <= GOAL_UNDONE_S)
    print(json.dumps(last))
    if arguments.to:
        stamp = {"bench": "packing", "date": datetime.date.today().isoformat(),
                 "machine": machine()}
        with arguments.to.open("a") as file:
            file.writelines(json.dumps({**line, **stamp}) + "\n" for line in [*found, last])


if __name__ == "__main__":
    main()
