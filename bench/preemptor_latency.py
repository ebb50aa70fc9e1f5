#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How soon does an owner's job run when a borrower must be paused for it? From the submission to
# the first act of the owner's program, less the time the borrower itself took to leave after the
# signal.
#   bench/preemptor_latency.py [--rounds 100]
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server, build_stamp, quantile, sync_ms  # noqa: E402

# Notes when it was asked, and leaves at once.
BORROWER = """
import os, signal, sys, time
def leave(*_):
    with open(sys.argv[1], "w") as file:
        file.write(str(time.time_ns()))
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
open(sys.argv[2], "w").close()
while True:
    signal.pause()
"""


def once(server, program, number):
    asked = server.data / f"asked-{number}"
    ready = server.data / f"ready-{number}"
    stamps = server.data / f"stamps-{number}"
    borrower = server.submit([sys.executable, "-c", BORROWER, str(asked), str(ready)], gpus=8,
                             project="borrower")
    while not ready.exists():
        time.sleep(0.001)
    begin = time.time_ns()
    owner = server.submit([program, str(stamps)], gpus=8, project="owner")
    server.wait(owner["id"])
    began = int(stamps.read_text().split()[1])
    receipt = server.get(f"jobs/{borrower['id']}")["last_pause"]
    assert receipt["saved"], receipt
    server.berth("cancel", borrower["id"])
    server.wait(borrower["id"])
    left = int(asked.read_text().split()[0])
    return (began - begin) / 1e6, (left - begin) / 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    with Server("--gpus", "sim:8x80G", "--min-runtime", "0") as server:
        server.request("PUT", "projects/owner", {"quota": 8})
        server.request("PUT", "projects/borrower", {"quota": 0})
        program = build_stamp(server.data)
        rounds = [once(server, program, number) for number in range(arguments.rounds)]
        print(json.dumps({
            "bench": "preemptor_latency", "rounds": arguments.rounds,
            "start_p50_ms": round(quantile([total for total, _ in rounds], 0.5), 1),
            "start_p99_ms": round(quantile([total for total, _ in rounds], 0.99), 1),
            "until_victim_asked_p50_ms": round(quantile([asked for _, asked in rounds], 0.5), 1),
            "sync_ms": sync_ms(server.data)}))


if __name__ == "__main__":
    main()
