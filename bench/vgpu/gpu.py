#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does GPU sharing cost and give on this machine's GPU? All of it, by one script.

usage: bench/vgpu/gpu.py [--software] [--python PYTHON] [--seconds 5] [--no-build] [--to FILE]
                         [PART...]

Builds, runs the driver tests on this machine's driver, and measures each PART (all without one):
  calls      what the interposer adds to a launch and to an allocation
  step       ... to a training step: of PyTorch where it is installed, and of the driver API alone
  instructions  ... to one of PyTorch on a software GPU: instructions, which no other load disturbs
  sharing    tenants that are half idle, busy, four at once
  crowd      the share of a tenant of many processes and streams, beside one of a single stream
  resize     the shares of two busy tenants while their terms change, again and again
  overlap    a step that communicates beside computing, capped and beside a busy tenant; short
             kernels beside one of 3 s; long ones behind short ones of another stream
  gangs      two tenants of half of 2, 4 and 8 GPUs that end each step together, one after the
             other and at once; one beside a tenant on each of its GPUs
  priority   what a batch tenant costs the requests of one that goes before it: a thousand beside
             it, and in turn as many while it is on another GPU, or idle where there is none; the
             same while programs keep all processors busy
  memory     what is charged, against what the management library says
  pause      a pause that frees the GPU and the return from it, 1 to 64 GiB, by a server
Each figure is a line of JSON with its goal and whether it is met; they go to FILE with the machine,
its GPU and its driver (bench/results/gpus.jsonl keeps what bench/README.md quotes). Uses the first
eight GPUs, which no other process may use meanwhile; one will do. With --software they are software
GPUs with 80 GiB: then times are a model's, and the script is what is tried. PyTorch is that of
PYTHON, or of the one that runs this.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

import torch_step
from node import (BUILD, GANG, Gpu, Node, OVERLAP, PROGRAM, ROOT, STATE, STREAMS, TIMEOUT_S,
                  end, go, machine, output, running, together)

PARTS = ("calls", "step", "instructions", "sharing", "crowd", "resize", "overlap", "gangs",
         "priority",
         "memory", "pause")
MIB = 1 << 20


class Report:
    def __init__(self, gpu, to):
        self.stamp = {"date": datetime.date.today().isoformat(), "gpu": gpu.name,
                      "driver": gpu.driver, "kernel": os.uname().release.split("-")[0],
                      "machine": machine()}
        self.to = to
        self.missed = []

    def add(self, figure, value, sign="", goal=None, **more):
        line = {"bench": "gpu", "figure": figure, "value": round(value, 4)}
        if goal is not None:
            met = value <= goal if sign == "<=" else value >= goal
            line.update(goal=f"{sign} {goal}", met=met)
            if not met:
                self.missed.append(figure)
        line.update(more)
        print(json.dumps(line), flush=True)
        if self.to:
            self.to.parent.mkdir(exist_ok=True)
            with self.to.open("a") as file:
                file.write(json.dumps({**line, **self.stamp}) + "\n")


def check(gpu):
    """The tests of the driver, on this driver."""
    env = dict(os.environ)
    env.pop("BERTH_SOFTWARE_GPU", None)
    done = subprocess.run([BUILD / "tests/vgpu/vgpu_test"], env=env, capture_output=True,
                          text=True, timeout=TIMEOUT_S)
    summary = [line for line in done.stdout.splitlines() if line.startswith("[doctest]")]
    print("\n".join(summary[-3:]), flush=True)
    if done.returncode != 0:
        print(done.stdout[-8000:], file=sys.stderr)
    return done.returncode == 0 or not gpu.is_software


# ---- calls ------------------------------------------------------------------------------------


def calls(gpu, seconds, report):
    """Within one process, in turn; `none_ns` is what that shows where there is no interposer."""
    with Node(gpu) as node:
        env, _ = node.tenant()
        found = json.loads(output([PROGRAM, "calls", 2000], env))
        none = json.loads(output([PROGRAM, "calls", 2000], os.environ))
    for call, calls_each, goal in (("launch", 1, 25), ("large", 2, 150), ("small", 2, 150)):
        report.add(f"{call}_added_ns", found[f"{call}_added_ns"] / calls_each, "<=", goal,
                   bare_ns=found[f"{call}_ns"] / calls_each,
                   none_ns=none[f"{call}_added_ns"] / calls_each)


# ---- step -------------------------------------------------------------------------------------


def torch_step_times(gpu, node, report):
    for allocator in torch_step.ALLOCATORS:
        env, _ = node.tenant()
        found = {"bare": [], "tenant": []}
        for _ in range(3):
            for side, how in (("bare", os.environ), ("tenant", env)):
                words = [gpu.python, "-c", torch_step.TIMES]
                text = output(words, torch_step.with_allocator(how, allocator))
                found[side].append(json.loads(text.splitlines()[-1]))
        bare, tenant = (min(one["step_ms"] for one in found[side]) for side in ("bare", "tenant"))
        report.add("step_loss_percent", 100 * (tenant / bare - 1), "<=", 0.5, by="pytorch",
                   allocator=allocator, bare_ms=bare,
                   same_loss=len({one["loss"] for side in found.values() for one in side}) == 1)


# Kernels of a step, and how long each is. PyTorch's has about this many (a layer 12 forward and
# twice that backward, a few for all parameters together), of about 12 us on the GPUs of 2023;
# nothing is allocated of the driver once its caches are full, and a step ends with one wait. Here
# each allocates and frees once, which is more. Kernels of 2 us end sooner than a real driver
# launches the next: then all that is added is seen.
STEPS_US = ((400, 12), (400, 50), (400, 2))


def why_no_torch(gpu):
    ask = "import torch, sys; sys.exit(0 if torch.cuda.is_available() else 'it sees no GPU')"
    done = subprocess.run([gpu.python, "-c", ask], capture_output=True, text=True,
                          env=with_runtime(gpu))
    return done.stderr.strip().splitlines()[-1] if done.returncode else None


def step(gpu, seconds, report):
    with Node(gpu) as node:
        why = "its times would be a model's" if gpu.is_software else why_no_torch(gpu)
        if why:
            print(f"skipped: a step of PyTorch: {why}", flush=True)
        else:
            torch_step_times(gpu, node, report)
        for kernels, us in STEPS_US:
            work = [PROGRAM, "steps", 2 * seconds, kernels, us, 16]
            found = json.loads(output(work, node.tenant()[0]))
            none = json.loads(output(work, os.environ))
            report.add("step_loss_percent", found["loss_percent"], "<=", 0.5,
                       by=f"driver API, {kernels} kernels of {us} us", step_ms=found["step_ms"],
                       none_ms=none["step_ms"], none_percent=none["loss_percent"])


# ---- instructions -----------------------------------------------------------------------------


def with_runtime(gpu, env=os.environ):
    """NVIDIA's runtime starts on no software GPU: with that of bench/vgpu/runtime."""
    return dict(env, PYTHONPATH=str(BUILD / "cuda_runtime")) if gpu.is_software else env


# What a tenant meets beside its allocator: alone its launches pass no gate, but for a second each
# minute in which it is measured (src/vgpu/arbiter/tenants/profile.h), and with a cap always.
STEPS_TO_COUNT = (("default", ""), ("expandable segments", ""), ("cudaMallocAsync", ""),
                  ("default", "cap=0.9"))


def instructions(gpu, seconds, report):
    """In virtual time no process looks again because time has passed; under valgrind there is no
    room for the addresses that PyTorch reserves on a larger GPU."""
    why = why_no_torch(gpu) if gpu.is_software else "valgrind runs no driver of a real GPU"
    if why:
        print(f"skipped: instructions of a step of PyTorch: {why}", flush=True)
        return
    gpu.begin_again(memory="16GiB", more=";time=virtual;contents=0MiB")
    with Node(gpu) as node:
        def count(env, allocator, meanwhile):
            env = torch_step.with_allocator(with_runtime(gpu, env), allocator)
            return torch_step.count(gpu.python, env, node.folder.name, meanwhile)

        context = context_bytes(gpu, node)
        (bare, *_), _ = count(os.environ, "default", gpu.used)
        for allocator, terms in STEPS_TO_COUNT:
            before = gpu.used()
            env, name = node.tenant(f"context={context} {terms}", "12G")
            (all_, own, driver), (charged, used) = count(
                env, allocator, lambda name=name: (node.charged(name), gpu.used() - before))
            without = all_ - own - driver
            goal = () if terms else ("<=", 0.5)
            report.add("step_added_instructions_percent", 100 * (own + driver) / without, *goal,
                       by="pytorch", allocator=allocator, terms=terms, own=own,
                       own_calls_of_driver=driver, without=without, default_outside_berth=bare)
            report.add("memory_error_percent", 100 * abs(charged - used) / used, "<=", 1,
                       by="pytorch", allocator=allocator, terms=terms, charged_mib=charged / MIB,
                       used_mib=used / MIB)
    gpu.begin_again()


# ---- sharing ----------------------------------------------------------------------------------


BUSY_US = ((40, 250), (400, 25), (1000, 10), (2000, 5))  # kernels of a step, and their length


def sharing(gpu, seconds, report):
    with Node(gpu) as node:
        half = ("train", seconds, 40, 250, 10_000, 256)
        node.order("rotation", "half", "memory=20G", "policy=pack")
        rotation = "rotation=half persistent=1G peak=2G"
        (alone,) = together([(half, node.tenant(rotation, "8G")[0])])
        pair = together([(half, node.tenant(rotation, "8G")[0]) for _ in range(2)])
        rate = sum(one["steps_per_s"] for one in pair)
        report.add("two_half_idle_over_serial", rate / alone["steps_per_s"], ">=", 1.6)

        for kernels, us in BUSY_US:
            busy = ("train", seconds, kernels, us, 0, 0)
            rates, free = [], []
            for _ in range(3):  # in turn: what else the machine does meets all
                (alone,) = together([(busy, node.tenant("share=0.5")[0])])
                pair = together([(busy, node.tenant("share=0.5", "30G")[0]) for _ in range(2)])
                rates.append(sum(one["steps_per_s"] for one in pair) / alone["steps_per_s"])
                pair = together([(busy, os.environ)] * 2)
                free.append(sum(one["steps_per_s"] for one in pair) / alone["steps_per_s"])
            report.add("two_busy_over_serial", sorted(rates)[1], ">=", 0.97, kernels_us=us,
                       all=[round(rate, 3) for rate in rates],
                       without_berth=round(sorted(free)[1], 4))

        lengths = ((400, 25), (50, 200), (10, 1000), (4, 5000))
        parts = [one["device_part"] for one in together(
            [(("train", 2 * seconds, kernels, us, 0, 0), node.tenant("share=0.25", "15G")[0])
             for kernels, us in lengths])]
        jain = sum(parts) ** 2 / (len(parts) * sum(part * part for part in parts))
        report.add("four_tenants_jain", jain, ">=", 0.99,
                   device_parts=[round(part, 4) for part in parts],
                   kernels_us=[us for _, us in lengths])


# ---- crowd ------------------------------------------------------------------------------------


# Processes of the tenant, streams of each, and the length of their kernels. Kernels take all of
# the GPU, so what two tenants got done adds up to its time.
CROWDS = ((1, 1, 1000), (2, 1, 1000), (4, 1, 1000), (8, 1, 1000), (1, 16, 1000), (4, 4, 1000),
          (8, 1, 50), (8, 1, 20_000), (4, 1, 200_000))
ALL_BLOCKS = 1024


def crowd(gpu, seconds, report):
    def part(processes, streams, us, envs):
        long = seconds if us < 100_000 else 12 * seconds
        words = (long, ALL_BLOCKS, *[us] * streams)
        found = together([(words, envs[0])] * processes + [((long, ALL_BLOCKS, 1000), envs[1])],
                         STREAMS)
        done = [sum(one["parts"]) for one in found]
        return sum(done[:-1]) / sum(done)

    with Node(gpu) as node:
        for processes, streams, us in CROWDS:
            half = [node.tenant("share=0.5", "30G")[0] for _ in range(2)]
            share = part(processes, streams, us, half)
            report.add("crowd_share_off_percent", 100 * abs(share / 0.5 - 1), "<=", 3,
                       processes=processes, streams=streams, kernels_us=us,
                       share=round(share, 4),
                       without_berth=round(part(processes, streams, us, [os.environ] * 2), 4))


# ---- resize -----------------------------------------------------------------------------------


# Terms of both from then on, and what the first gets of the time both get.
RESIZES = (("share=0.5 cap=1", "share=0.5 cap=1", 0.5), ("share=0.8", "share=0.2", 0.8),
           ("share=0.25", "share=0.75", 0.25), ("share=0.25 cap=0.25", "share=0.25", 0.25),
           ("share=0.5 cap=1", "share=0.5", 0.5))


def resize(gpu, seconds, report):
    """By what the arbiter says that each used in the last seconds, as `berth gpus` shows it."""
    with Node(gpu) as node:
        tenants = [node.tenant("share=0.5", "30G") for _ in range(2)]
        busy = [running((STREAMS, 20 * seconds, ALL_BLOCKS, 1000), env) for env, _ in tenants]
        for one in busy:
            go(one)
        for *terms, wanted in RESIZES:
            for (_, name), words in zip(tenants, terms):
                node.order("set", name, *words.split())
            time.sleep(2 * seconds)
            used = [float(node.said(name, "lately")) for _, name in tenants]
            share = used[0] / sum(used)
            report.add("resized_share_off_percent", 100 * abs(share / wanted - 1), "<=", 3,
                       terms=terms, share=round(share, 4), used=used)
        for one in busy:
            end(one)


# ---- overlap ----------------------------------------------------------------------------------


# Layers, kernels of each, their length, that of communicating, and what the program rests.
TRAINING = (4, 40, 100, 4000, 3000)


def overlap(gpu, seconds, report):
    def step(envs, work=TRAINING):
        """Beside a tenant with kernels of 1 ms where there are two environments."""
        gpu.begin_again()  # without what killed programs have left there
        busy = [running((STREAMS, 10 * seconds, ALL_BLOCKS, 1000), env) for env in envs[1:]]
        for one in busy:
            go(one)
        found = together([((seconds, *work), envs[0])], OVERLAP)[0]
        for one in busy:
            end(one)
        return found

    def tenants(*terms):
        return [node.tenant(each, "30G")[0] for each in terms]

    with Node(gpu) as node:
        for terms, goal in ((["cap=0.9"], 1.05), (["share=0.5"] * 2, 1.1)):
            rounds = [(step([os.environ] * len(terms)), step(tenants(*terms)))
                      for _ in range(3)]  # in turn: what else the machine does meets both
            ratios = sorted(ours["step_ms"] / bare["step_ms"] for bare, ours in rounds)
            report.add("overlap_step_over_bare", ratios[1], "<=", goal, terms=terms[0],
                       beside_busy=len(terms) > 1, all=[round(ratio, 3) for ratio in ratios],
                       bare_ms=min(bare["step_ms"] for bare, _ in rounds))
        behind = step(tenants("share=0.2", "share=0.8"), (1, 200, 50, 20_000, 0))
        part = (200 * 50 + 20_000 + 50) / 1000 / behind["mean_ms"]
        report.add("long_behind_short_off_percent", 100 * abs(part / 0.2 - 1), "<=", 3, part=part)
        short = []
        for env in (os.environ, tenants("cap=0.9")[0]):
            gpu.begin_again()
            found = together([((4, 1, 3_000_000, 50), env)], STREAMS)[0]
            short.append(found["kernels"][1])
        report.add("launches_beside_3_s", short[1], ">=", short[0] / 2, without_berth=short[0])


# ---- gangs ------------------------------------------------------------------------------------


# Kernels of a step on each GPU, and their length.
GANG_STEPS_US = ((1, 200), (3, 1000), (40, 1000))


def gangs(gpu, seconds, report):
    def rates(envs, count, kernels, us):
        found = together([((seconds, count, kernels, us), env) for env in envs], GANG)
        return [one["steps_per_s"] for one in found]

    def halves(count):
        return [node.tenant("share=0.5", "30G", slice(count))[0] for _ in range(2)]

    def beside_singles(count, kernels, us, envs):
        """The gang's steps, and the least that a tenant on one of its GPUs had of that."""
        gpu.begin_again()
        busy = [running((STREAMS, seconds + 3, ALL_BLOCKS, 1000), env) for env in envs[1:]]
        for one in busy:
            go(one)
        (rate,) = rates(envs[:1], count, kernels, us)
        parts = [sum(json.loads(one.communicate(timeout=TIMEOUT_S)[0])["parts"]) for one in busy]
        return rate, min(parts)

    with Node(gpu) as node:
        for count in (count for count in (2, 4, 8) if count <= len(gpu.uuids)):
            for kernels, us in GANG_STEPS_US:
                work = (count, kernels, us)
                (alone,) = rates(halves(count)[:1], *work)
                (bare,) = rates([os.environ], *work)
                report.add("two_gangs_over_serial", sum(rates(halves(count), *work)) / alone,
                           ">=", 0.9, gpus=count, kernels=kernels, kernels_us=us,
                           without_berth=round(sum(rates([os.environ] * 2, *work)) / bare, 4))
            singles = [node.tenant("share=0.5", "30G", slice(at, at + 1))[0]
                       for at in range(count)]
            rate, least = beside_singles(*work, halves(count)[:1] + singles)
            report.add("gang_beside_singles_of_alone", rate / alone, ">=", 0.45, gpus=count,
                       kernels=kernels, kernels_us=us, least_of_singles=round(least, 4))


# ---- priority ---------------------------------------------------------------------------------


def priority(gpu, seconds, report):
    def beside(seconds, first, second):
        return together([(("requests", seconds, 20, 1000, 60_000), first),
                         (("alternate", seconds, 40, 250), second)])[0]

    with Node(gpu) as node:
        for programs, goal in ((0, 1.1), (2 * os.cpu_count(), 1.2)):
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
                    for _ in range(programs)]
            try:
                found = beside(30 * seconds, node.tenant("share=0.6 priority=1", "30G")[0],
                               node.tenant("share=0.4", "30G", slice(2))[0])
                # As the driver does it by itself.
                free = beside(4 * seconds, os.environ, os.environ)
            finally:
                for one in busy:
                    end(one)
            report.add("first_p99_over_alone", found["p99_ms"] / found["alone_p99_ms"], "<=", goal,
                       **found, without_berth=free["p99_ms"] / free["alone_p99_ms"],
                       other_gpu=len(gpu.uuids) > 1, busy_programs=programs)


# ---- memory -----------------------------------------------------------------------------------


def start_families(env):
    program = subprocess.Popen([PROGRAM, "families"], env=env, text=True, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    program.stdout.readline()
    return program


def context_bytes(gpu, node):
    """What the context of a program takes of a GPU that is otherwise unused."""
    before = gpu.used()
    program = start_families(node.tenant()[0])
    context = gpu.used() - before
    end(program)
    while gpu.used() > before:
        time.sleep(0.05)
    return context


def memory(gpu, seconds, report):
    with Node(gpu) as node:
        context = context_bytes(gpu, node)
        before = gpu.used()
        env, name = node.tenant(f"context={context}")
        program = start_families(env)
        program.stdin.write("go\n")
        program.stdin.flush()
        program.stdout.readline()
        used, charged = gpu.used() - before, node.charged(name)
        end(program)
    report.add("memory_error_percent", 100 * abs(charged - used) / used, "<=", 1,
               charged_mib=charged / MIB, used_mib=used / MIB, context_mib=context / MIB)


# ---- pause ------------------------------------------------------------------------------------


def pause(gpu, seconds, report):
    sys.path.insert(0, str(ROOT / "tests/support"))
    from berth_server import Server
    flags = ("--gpus", "sim:1x80G") if gpu.is_software else ()
    before = gpu.used()
    with Server(*flags) as server:
        for gib in (1, 2, 4, 8, 16, 32, 64):
            job = server.submit([str(PROGRAM), "hold", str(1024 * gib)])["id"]
            log = server.data / "jobs" / "0" / f"{job}.1.task-0.log"

            def last():
                lines = log.read_text().split("\n")[:-1] if log.exists() else []
                return lines[-1].split() if lines else ["", "0", "0"]

            def seen_after(round_, job=job, last=last):
                while int(last()[1]) <= round_:
                    if server.get(f"jobs/{job}")["state"] in ("failed", "cancelled", "paused"):
                        sys.exit(f"gpu.py: {server.berth('show', job).stdout}{log.read_text()}")
                    time.sleep(0.002)

            seen_after(3)
            zeros = int(log.read_text().split()[1])
            if zeros > 0 and not gpu.is_software:
                sys.exit(f"gpu.py: {zeros} pieces of {gib} GiB were not filled")
            server.request("POST", f"jobs/{job}/pause")
            began = time.monotonic()
            paused = server.wait_for_state(job, "paused", seconds=120)
            pause_ms = 1000 * (time.monotonic() - began)
            frozen = paused["last_pause"].get("frozen")
            if frozen is None:
                why = server.berth("show", job).stdout
                sys.exit(f"gpu.py: the job was not taken off the GPU by checkpoint: {why}")
            left = 0 if gpu.is_software else max(0, gpu.used() - before)
            at = int(last()[1])
            server.request("POST", f"jobs/{job}/resume")
            began = time.monotonic()
            server.wait_for_state(job, "running", seconds=120)
            seen_after(at)
            resume_ms = 1000 * (time.monotonic() - began)
            seen_after(at + 3)
            attempts = server.get(f"jobs/{job}")["attempts"]
            report.add("pause_ms", pause_ms, gib=gib, resume_ms=round(resume_ms, 1),
                       off_gpu_gib=round(frozen["gpu_memory"] / (1024 * MIB), 2),
                       left_on_gpu_mib=left / MIB, kept_its_processes=attempts == 1)
            server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
            server.wait(job)


def build():
    for words in (["cmake", "--preset", "release"], ["cmake", "--build", "build/release"]):
        print("+", " ".join(words), flush=True)
        subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1][7:])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--software", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--to", type=pathlib.Path)
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"no part {' '.join(sorted(unknown))}; there are {' '.join(PARTS)}")
    if not arguments.no_build:
        build()
    gpu = Gpu(arguments.software, arguments.python)
    report = Report(gpu, arguments.to)
    print(json.dumps(report.stamp), flush=True)
    try:
        passed = check(gpu) if not arguments.parts else True
        for part in arguments.parts or PARTS:
            globals()[part](gpu, arguments.seconds, report)
    finally:
        if gpu.is_software:
            pathlib.Path(STATE).unlink(missing_ok=True)
    if report.missed:
        print(f"missed: {' '.join(report.missed)}", flush=True)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
