#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How soon after its start does a crashed server start the next job? Many jobs wait, all GPUs are
# taken; the server is killed, the GPUs' holders end meanwhile, the server is started again: from
# the start of `berth up` to the first act of a waiting job's program.
#   bench/recovery.py [--pending 10000]
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server, build_stamp, quantile  # noqa: E402


def once(pending):
    with Server("--gpus", "sim:8x80G") as server:
        program = build_stamp(server.data)
        stamps, flag = server.data / "stamps", server.data / "flag"
        wait = f"while [ ! -e {flag} ]; do sleep 0.01; done"
        blocker = server.submit(["sh", "-c", wait], gpus=8)["id"]
        server.wait_for_state(blocker, "running")
        environment = [f"VARIABLE_{i}={'x' * 40}" for i in range(40)]
        for _ in range(pending):
            server.submit([program, str(stamps)], environment=environment)
        server.kill()
        flag.touch()
        time.sleep(0.5)
        begin = time.time_ns()
        server.up()
        ready = time.time_ns()
        while not (stamps.exists() and stamps.read_text().endswith("\n")):
            time.sleep(0.001)
        first = min(int(line.split()[1]) for line in stamps.read_text().splitlines())
        events = server.get("status")["sequence"]
        return (ready - begin) / 1e6, (first - begin) / 1e6, events


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pending", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    rounds = [once(arguments.pending) for _ in range(arguments.rounds)]
    print(json.dumps({"bench": "recovery", "pending": arguments.pending,
                      "ready_ms": round(quantile([r[0] for r in rounds], 0.5)),
                      "first_start_ms": round(quantile([r[1] for r in rounds], 0.5)),
                      "events": rounds[0][2]}))


if __name__ == "__main__":
    main()
