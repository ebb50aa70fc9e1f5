#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays one virtual cluster of the Philly trace against a real server with simulated GPUs.

Every job of the trace is submitted through the API at its (scaled) time, keeps its GPU count and
runs as real processes for its scaled duration: short ones as `sleep`, longer ones as the bundled
trainer, which saves when it is paused and goes on where it was. The trace names no users, so jobs
are spread over four projects by their position in the trace. Ends when every job has ended, and
reports utilisation, waits and pauses by project.

Trace: Microsoft Philly (msr-fiddle/philly-traces, CC-BY-4.0) flattened to
timestamp,duration,num_gpus,gpu_time,cluster; it is not part of this repository.
"""

import argparse
import csv
import datetime
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from client import Client, wait_for_server  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NODES, GPUS = 8, 8
# Jobs out of ten, and the guaranteed quota: bursty owners beside a heavy borrower.
PROJECTS = {"vision": (5, 24), "nlp": (3, 24), "speech": (1, 8), "lab": (1, 0)}
TRAINER_FROM_S = 1.0  # scaled; shorter jobs are `sleep`


def read_trace(path, cluster, jobs_max):
    """Jobs of one virtual cluster as (seconds since the first, duration, gpus), in time order."""
    with gzip.open(path, "rt") as file:
        rows = [row for row in csv.DictReader(file) if row["cluster"] == cluster]
    jobs = sorted(
        (datetime.datetime.fromisoformat(row["timestamp"]).timestamp(),
         float(row["duration"]), int(float(row["num_gpus"])))
        for row in rows)[:jobs_max]
    first = jobs[0][0]
    return [(start - first, duration, gpus) for start, duration, gpus in jobs]


def project_of(index):
    slot = index * 7 % 10
    for name, (share, _) in PROJECTS.items():
        if slot < share:
            return name
        slot -= share
    raise AssertionError("shares sum to ten")


def submission(index, duration_s, gpus, berth, folder):
    """A gang of whole nodes when the job is larger than one."""
    tasks = max(1, gpus // GPUS)
    if duration_s < TRAINER_FROM_S:
        command = ["sleep", f"{duration_s:.3f}"]
    else:
        steps = max(1, round(duration_s / 0.1))
        command = [berth + "-trainer", "--steps", str(steps), "--step-time", "100ms"]
    return {
        "spec": {"name": f"philly-{index}", "project": project_of(index), "tasks_min": tasks,
                 "tasks_max": tasks, "request": {"gpus": gpus // tasks}},
        "launch": {"command": command, "workdir": folder,
                   "environment": ["PATH=/usr/bin:/bin"], "pause": {"grace": 5}},
        "key": f"philly-{index}",
    }


def percentile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))] if values else 0.0


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def report(jobs, makespan_s):
    by_project = {}
    for job in jobs:
        by_project.setdefault(job["spec"]["project"], []).append(job)
    used = sum(job["attained_gpu_ms"] for job in jobs) / 1000
    rows = []
    for name, own in sorted(by_project.items()):
        waits = [seconds(job["first_start"]) - seconds(job["created"]) for job in own
                 if job["first_start"]]
        rows.append({
            "project": name, "quota": PROJECTS[name][1], "jobs": len(own),
            "gpu_hours_scaled": round(sum(job["attained_gpu_ms"] for job in own) / 3.6e6, 3),
            "wait_mean_s": round(sum(waits) / len(waits), 3) if waits else None,
            "wait_p90_s": round(percentile(waits, 0.9), 3),
            "pauses": sum(job["pauses"] for job in own),
            "lost_gpu_s": round(sum(job["lost_gpu_ms"] for job in own) / 1000, 1),
            "failed": sum(job["state"] != "succeeded" for job in own),
        })
    return {"utilisation": round(used / (NODES * GPUS * makespan_s), 3), "projects": rows}


def submit_in_time(client, trace, scale, berth, folder):
    started = time.monotonic()
    for index, (at_s, duration_s, gpus) in enumerate(trace):
        wait = started + at_s / scale - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        client.call("POST", "/api/v1/jobs",
                    submission(index, duration_s / scale, gpus, berth, folder))
    return started


def drain(client, patience_s):
    """Waits until nothing is live; the newest finished jobs come with the list."""
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        live = client.call("GET", "/api/v1/jobs?finished=0&limit=1")["items"]
        if not live:
            return True
        time.sleep(0.5)
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", default=ROOT.parent / "shared/data/traces/philly/philly.csv.gz")
    parser.add_argument("--cluster", default="b436b2", help="virtual cluster (7,423 jobs)")
    parser.add_argument("--jobs", type=int, default=1_000_000)
    parser.add_argument("--scale", type=float, default=40_000.0, help="trace seconds per second")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds to drain")
    options = parser.parse_args()
    if not pathlib.Path(options.trace).exists():
        print(f"skipped: there is no trace at {options.trace}")
        return 0
    berth = str(ROOT / "build/release/bin/berth")
    trace = read_trace(options.trace, options.cluster, options.jobs)
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data"
        server = subprocess.Popen([berth, "up", "--foreground", "--data", str(data), "--gpus",
                                   f"sim:{NODES}x{GPUS}x80G", "--min-runtime", "1s"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            client = wait_for_server(data, server)
            for name, (_, quota) in PROJECTS.items():
                client.call("PUT", f"/api/v1/projects/{name}",
                            {"name": name, "quota": quota})
            started = submit_in_time(client, trace, options.scale, berth, folder)
            drained = drain(client, options.patience)
            makespan = time.monotonic() - started
            jobs = client.all_finished(len(trace))
        finally:
            server.terminate()
            server.wait(timeout=30)
    result = {"bench": "philly", "cluster": options.cluster, "jobs": len(trace),
              "scale": options.scale, "gpus": NODES * GPUS, "drained": drained,
              "finished": len(jobs), "makespan_s": round(makespan, 1), **report(jobs, makespan)}
    print(json.dumps(result))
    return 0 if drained and len(jobs) == len(trace) else 1


if __name__ == "__main__":
    sys.exit(main())
