#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How long does it take to say what the cluster was at a moment, by the length of the log? In each
# round this number of jobs more is handed in on 250 nodes of eight simulated GPUs and ends; the
# server is killed and starts anew. Then the moment of the last submission is asked for: the whole
# log is folded. The list of jobs of the same moment, and other moments follow.
#   bench/past_moments.py [--jobs 10000] [--rounds 3]
import argparse
import datetime
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("BERTH_BIN", str(ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "tests/support"))
from berth_server import Server  # noqa: E402

MARKS = 10


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def milliseconds(server, path):
    begun = time.perf_counter()
    server.get(path)
    return (time.perf_counter() - begun) * 1000


def megabytes(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) // 1024


def hand_in(server, jobs):
    """Answers moments on the way."""
    marks = []
    for i in range(jobs):
        server.submit(["true"], project="abc"[i % 3], gpus=1 + i % 4, name=f"j{i % 50}")
        if (i + 1) % (jobs // MARKS) == 0:
            marks.append(now())
    while server.get("status")["jobs"]:
        time.sleep(0.5)
    return marks


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    wanted = parser.parse_args()
    server = Server("--gpus", "sim:250x8x80G", "--launcher", "simulated:20ms")
    with server:
        for project in "abc":
            server.berth("project", "create", project, "--quota", "600")
        for count in range(1, wanted.rounds + 1):
            *others, last = hand_in(server, wanted.jobs)
            server.kill()
            server.up()
            before = megabytes(server)
            first = milliseconds(server, f"overview?at={last}")
            same = milliseconds(server, f"jobs?at={last}")
            next_ones = sorted(milliseconds(server, f"overview?at={mark}") for mark in others)
            events = server.get("status")["sequence"]
            print(f"{count * wanted.jobs} jobs, {events} events: first {first:.0f} ms, jobs of the "
                  f"same moment {same:.0f} ms, other moments {next_ones[0]:.0f} to "
                  f"{next_ones[-1]:.0f} ms, memory {before} to {megabytes(server)} MB", flush=True)


if __name__ == "__main__":
    main()
