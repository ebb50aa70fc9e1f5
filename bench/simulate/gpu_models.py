#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What would it gain to choose among models of GPUs by measured speed? An estimate.

`berth simulate` knows one model of GPU. This replays Shockwave's traces on V100s, P100s and K80s,
about a third of the GPUs each, at the speeds that Gavel measured, with nothing known of durations:
the levels of geo8, any free GPUs of one model, 60 s for each start after a pause or a move. Three
ways to choose:

  any      the model with the most free GPUs
  fastest  of those with room, the model on which the job is fastest
  swap     fastest; then two jobs of equally many GPUs change places where the sum of their speeds,
           as parts of each one's best, grows --gain times or more, and who gains as much on idle
           GPUs moves to them

The traces are not part of this repository; BERTH_TRACES names their folder.
"""
import argparse
import csv
import gzip
import json

from compare import traces_folder

MODELS = ("v100", "p100", "k80")
THRESHOLDS = [600 * 8 ** level for level in range(5)]  # GPU-s, of geo8
RESTART_S = 60


class Job:
    def __init__(self, number, row, speeds):
        self.number, self.gpus, self.speeds = number, int(row["scale_factor"]), speeds
        self.submitted, self.left = float(row["arrival_time_s"]), float(row["duration_s"])
        self.used, self.restart, self.model, self.has_run = 0.0, 0.0, None, False
        self.end = None

    def level(self):
        return sum(self.used >= limit - 1e-6 for limit in THRESHOLDS)

    def rank(self):
        return (self.level(), self.model is None, self.gpus, self.number)

    def next_event_s(self):
        ends = self.restart + self.left / self.speeds[self.model]
        level = self.level()
        if level == len(THRESHOLDS):
            return ends
        return min(ends, max((THRESHOLDS[level] - self.used) / self.gpus, 1e-3))

    def run(self, time_s):
        waited = min(self.restart, time_s)
        self.restart -= waited
        self.used += time_s * self.gpus
        self.left -= (time_s - waited) * self.speeds[self.model]

    def part(self, model):
        return self.speeds[model] / max(self.speeds.values())


def read(file, table):
    """Jobs measured on V100s; their speeds as parts of the one there."""
    jobs = []
    with open(traces_folder() / file, encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            name = f"('{row['job_type']}', {row['scale_factor']})"
            steps = {model: table[model].get(name, {}).get("null", 0) for model in MODELS}
            if steps["v100"] > 0:
                jobs.append(Job(len(jobs), row, {model: value / steps["v100"]
                                                 for model, value in steps.items()}))
    return sorted(jobs, key=lambda job: job.submitted)


def hand_out(jobs, free, way):
    """The model for each job that gets GPUs, in order of rank."""
    chosen = {}
    for job in sorted(jobs, key=Job.rank):
        room = [model for model in MODELS if free[model] >= job.gpus and job.speeds[model] > 0]
        if job.model not in room:
            if not room:
                continue
            wish = free.get if way == "any" else job.speeds.get
            chosen[job] = max(room, key=wish)
        else:
            chosen[job] = job.model
        free[chosen[job]] -= job.gpus
    return chosen


def swap(chosen, free, gain):
    def grows(one, other):
        here, there = chosen[one], chosen[other]
        if here == there or one.gpus != other.gpus:
            return 0
        if one.speeds[there] == 0 or other.speeds[here] == 0:
            return 0
        return ((one.part(there) + other.part(here)) / (one.part(here) + other.part(there)))

    for one in list(chosen):
        best = max(chosen, key=lambda other: grows(one, other))
        if grows(one, best) > gain:
            chosen[one], chosen[best] = chosen[best], chosen[one]
    for one in list(chosen):
        room = [model for model in MODELS
                if free[model] >= one.gpus and one.speeds[model] > gain * one.speeds[chosen[one]]]
        if room:
            free[chosen[one]] += one.gpus
            chosen[one] = max(room, key=one.speeds.get)
            free[chosen[one]] -= one.gpus


def replay(jobs, gpus, way, gain):
    now, there, coming = 0.0, [], list(jobs)
    while there or coming:
        steps = [job.next_event_s() for job in there if job.model]
        step = min(steps + [job.submitted - now for job in coming[:1]])
        now += step
        for job in there:
            if job.model:
                job.run(step)
            if job.left <= 1e-6:
                job.end = now
        there = [job for job in there if job.end is None]
        while coming and coming[0].submitted <= now + 1e-9:
            there.append(coming.pop(0))
        free = dict(gpus)
        chosen = hand_out(there, free, way)
        if way == "swap":
            swap(chosen, free, gain)
        for job in there:
            model = chosen.get(job)
            if model and model != job.model:
                job.restart = RESTART_S if job.has_run else 0
                job.has_run = True
            job.model = model
    times = sorted(job.end - job.submitted for job in jobs)
    return sum(times) / len(times), times[len(times) * 99 // 100], max(job.end for job in jobs)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gain", type=float, default=1.05)
    parser.add_argument("--traces", default="120:32,460:128,220:64",
                        help="jobs and GPUs of Shockwave's; the first two chose the gain")
    options = parser.parse_args()
    with gzip.open(traces_folder() / "gavel/simulation_throughputs.json.gz") as file:
        table = json.load(file)
    print("| jobs on GPUs | way | average JCT | p99 | makespan |\n|---|---|---|---|---|")
    for sizes in options.traces.split(","):
        jobs, gpus = map(int, sizes.split(":"))
        third = gpus // 3 // 4 * 4
        machines = dict(zip(MODELS, (gpus - 2 * third, third, third)))
        first = None
        for way in ("any", "fastest", "swap"):
            trace = read(f"shockwave/{jobs}_jobs_100.csv", table)
            found = replay(trace, machines, way, options.gain)
            first = first or found
            print(f"| {jobs} on {gpus} | `{way}` | " + " | ".join(
                f"{value / of:.3f}" for value, of in zip(found, first)) + " |", flush=True)


if __name__ == "__main__":
    main()
