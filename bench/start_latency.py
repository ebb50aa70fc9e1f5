#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How long from submit to the user's process running? One job after the other on an idle server
# with simulated GPUs and real processes: from just before the request is sent to the first act of
# the job's program. `sync_ms` is what one synced write costs here, a part of every figure.
#   bench/start_latency.py [--jobs 1000]
import argparse
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server, build_stamp, quantile, sync_ms  # noqa: E402


def measure(server, jobs):
    program = build_stamp(server.data)
    stamps = server.data / "stamps"
    sent = {}
    for _ in range(jobs):
        begin = time.time_ns()
        job = server.submit([program, str(stamps)])
        sent[job["id"]] = (begin, time.time_ns())
        server.wait(job["id"])
    lines = [tuple(map(int, line.split())) for line in stamps.read_text().splitlines()]
    assert sorted(job for job, _ in lines) == sorted(sent), "every job ran once"
    starts = [(began - sent[job][0]) / 1e6 for job, began in lines]
    answers = [(answered - begin) / 1e6 for begin, answered in sent.values()]
    return {"jobs": jobs, "start_p50_ms": round(quantile(starts, 0.5), 2),
            "start_p99_ms": round(quantile(starts, 0.99), 2),
            "start_max_ms": round(max(starts), 2),
            "answer_p50_ms": round(quantile(answers, 0.5), 2),
            "sync_ms": sync_ms(server.data)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=1000)
    arguments = parser.parse_args()
    with Server("--gpus", "sim:8x80G") as server:
        print(json.dumps({"bench": "start_latency", **measure(server, arguments.jobs)}))


if __name__ == "__main__":
    main()
