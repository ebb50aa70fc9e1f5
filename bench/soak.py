#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Does a server stay right and small for as long as it runs? Random submissions (single, gangs,
# elastic, shares), cancels, pauses, resumes, changed quotas and kill -9 of the server, for minutes.
# Afterwards, and every few seconds meanwhile:
#   each GPU is held by whole jobs up to what it has, and by no job that has ended;
#   every acknowledged job is known, and no attempt of a rank ever began twice;
#   memory, descriptors and threads do not grow, the log only by what happened.
#   bench/soak.py [--minutes 5] [--seed 1] [--kill-every 20]
import argparse
import json
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Refused, Server  # noqa: E402

PROJECTS = {"a": 4, "b": 2, "c": 0}
LIVE = ("queued", "starting", "running", "pausing", "paused", "cancelling")
LIVE_MAX = 60

# Notes its start, then works for a while; may take its time to save, or not save at all.
SCRIPT = """
echo "$BERTH_JOB_ID $BERTH_ATTEMPT $RANK $WORLD_SIZE" >> {lines}
trap 'sleep {saving}; exit 0' TERM
end=$(( $(date +%s) + {seconds} ))
while [ $(date +%s) -lt $end ]; do sleep 0.1; done
exit {code}
"""


class Soak:
    def __init__(self, server, seed):
        self.server = server
        self.dice = random.Random(seed)
        self.lines = server.data / "lines"
        self.lines.touch()
        self.acknowledged = set()
        self.done = {}
        self.keys = 0
        self.samples = []

    def count(self, what):
        self.done[what] = self.done.get(what, 0) + 1

    def spec(self):
        dice = self.dice
        kind = dice.choice(("one", "one", "share", "gang", "elastic", "elastic"))
        spec = {"project": dice.choice(sorted(PROJECTS)), "gpus": 1,
                "priority": dice.choice((50, 50, 70))}
        if kind == "share":
            spec["request"] = {"share": 0.5}
        if kind == "gang":
            spec["tasks_min"] = spec["tasks_max"] = dice.randint(2, 4)
        if kind == "elastic":
            spec.update(tasks_min=dice.randint(1, 2), tasks_max=dice.randint(3, 8),
                        elastic="restart")
        return spec

    def submit(self):
        if len(self.live()) > LIVE_MAX:
            return
        script = SCRIPT.format(lines=self.lines, saving=self.dice.choice((0, 0, 0.3)),
                               seconds=self.dice.randint(0, 4), code=self.dice.choice((0, 0, 0, 3)))
        self.keys += 1
        answer = self.server.submit(["sh", "-c", script], key=f"soak-{self.keys}", grace=2,
                                    **self.spec())
        self.acknowledged.add(answer["id"])

    def live(self):
        return [job for job in self.server.get("jobs?finished=0")["items"]]

    def steer(self, verb):
        jobs = self.live()
        if jobs:
            job = self.dice.choice(jobs)["id"]
            self.server.request("POST", f"jobs/{job}/{verb}")

    def change_quota(self):
        project = self.dice.choice(sorted(PROJECTS))
        self.server.request("PUT", f"projects/{project}", {"quota": self.dice.randint(0, 4)})

    def act(self):
        what = self.dice.choices(("submit", "cancel", "pause", "resume", "quota"),
                                 (12, 1, 2, 3, 1))[0]
        try:
            if what == "submit":
                self.submit()
            elif what == "quota":
                self.change_quota()
            else:
                self.steer(what)
        except Refused as refused:
            if refused.status not in (404, 409):
                raise
            what = "refused"
        self.count(what)

    def check(self):
        """What must be true at every moment."""
        nodes = self.server.get("nodes")["items"]
        live = {job["id"]: job for job in self.live()}
        for node in nodes:
            for gpu in node["devices"]:
                assert float(gpu["used"]) <= 1, f"a GPU is held beyond what it has: {gpu}"
        for job in live.values():
            assert job["state"] in LIVE, job
            spec, active = job["spec"], len(job["tasks"]) - len(job["releasing"])
            is_whole = job["state"] in ("starting", "running")
            assert not is_whole or spec["tasks_min"] <= active <= spec["tasks_max"], job
        self.check_starts()

    def check_starts(self):
        seen = {}
        for line in self.lines.read_text().splitlines():
            job, attempt, rank, size = map(int, line.split())
            assert (job, attempt, rank) not in seen, f"job {job}.{attempt} rank {rank} ran twice"
            seen[job, attempt, rank] = size
        for (job, attempt, rank), size in seen.items():
            assert seen.get((job, attempt, 0), size) == size, f"job {job}.{attempt}: two sizes"
            assert rank < size, f"job {job}.{attempt}: rank {rank} of {size}"
        return seen

    def sample(self):
        pid = self.server.pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        self.samples.append({
            "mib": int(fields["VmRSS"].split()[0]) / 1024,
            "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
            "live": len(self.live()),
        })

    def restart(self):
        self.server.kill()
        self.server.up()
        self.count("kill")

    def finish(self):
        """Everything is let go; all that was acknowledged has an end and nothing is left."""
        for job in self.live():
            try:
                self.server.request("POST", f"jobs/{job['id']}/cancel", {"grace": 0})
            except Refused as refused:
                if refused.status not in (404, 409):
                    raise
        deadline = time.monotonic() + 60
        while self.live():
            assert time.monotonic() < deadline, self.live()
            time.sleep(0.1)
        for job in sorted(self.acknowledged):
            state = self.server.get(f"jobs/{job}")["state"]
            assert state in ("succeeded", "failed", "cancelled"), f"job {job} is {state}"
        for node in self.server.get("nodes")["items"]:
            assert all(float(gpu["used"]) == 0 for gpu in node["devices"]), node

    def check_bounded(self):
        """Early against late: what grows is a leak. The first tenth warms up."""
        calm = self.samples[len(self.samples) // 10:]
        third = max(1, len(calm) // 3)
        early, late = calm[:third], calm[-third:]
        most = {key: (max(s[key] for s in early), max(s[key] for s in late)) for key in calm[0]}
        assert most["mib"][1] < most["mib"][0] * 1.25 + 8, f"memory grows: {most}"
        assert most["descriptors"][1] < most["descriptors"][0] + LIVE_MAX, f"descriptors: {most}"
        return most


def soak(server, options):
    for project, quota in PROJECTS.items():
        server.request("PUT", f"projects/{project}", {"quota": quota})
    run = Soak(server, options.seed)
    begin = time.monotonic()
    next_kill = begin + options.kill_every
    next_check = begin
    while time.monotonic() < begin + 60 * options.minutes:
        run.act()
        now = time.monotonic()
        if now > next_check:
            run.check()
            run.sample()
            next_check = now + 1
        if now > next_kill:
            run.restart()
            next_kill = now + run.dice.uniform(0.5, 1.5) * options.kill_every
        time.sleep(run.dice.uniform(0, 0.1))
    run.finish()
    starts = run.check_starts()
    most = run.check_bounded()
    sequence = server.get("status")["sequence"]
    log_bytes = sum(file.stat().st_size for file in server.data.glob("berth.db*"))
    assert log_bytes < 4096 * (sequence + 1000), f"{log_bytes} bytes of log for {sequence} events"
    return {"minutes": options.minutes, "seed": options.seed, **run.done,
            "jobs": len(run.acknowledged), "starts_of_ranks": len(starts), "events": sequence,
            "log_bytes_per_event": round(log_bytes / sequence),
            "server_mib": [round(value, 1) for value in most["mib"]],
            "descriptors": list(most["descriptors"])}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kill-every", type=float, default=20)
    options = parser.parse_args()
    with Server("--gpus", "sim:8x80G", "--min-runtime", "2s") as server:
        print(json.dumps({"bench": "soak", **soak(server, options)}))


if __name__ == "__main__":
    main()
