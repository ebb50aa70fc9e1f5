# SPDX-License-Identifier: Apache-2.0
"""Does a Job ever count as failed or completed because it was paused, in any order of events?

Rounds on one control plane until --pauses Jobs have been paused. By the seed: how many nodes the
owner wants and when, which processes exit 0 on the signal to end and which 143, which end by
themselves around that time, how fast the Job controller may be, and whether it is killed meanwhile.
"""
import random
import time

import berth
import seen
from control_plane import ControlPlane
from lent_jobs import CONTROLLERS, HURRY, LentJobs, ended, note_of
from reclaim import GPUS
from report import Report
from victims import REQUESTS_PER_SECOND

NODES, PAUSES = 15, 1000
ENDS = "kubetool/run-seconds"


def measure(program, given):
    nodes, wanted = given.nodes or NODES, given.pauses or PAUSES
    report = Report("races", f"{wanted} pauses of Jobs of one pod on {nodes} nodes, seed "
                    f"{given.seed}", nodes=nodes, seed=given.seed)
    pauses = rounds = kills = 0
    wrong, refused = [], 0
    with ControlPlane(controller_qps=HURRY) as plane:
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        plane.run_kubelets()
        berth.run_scheduler(plane, program)
        case = LentJobs(plane, nodes)
        while pauses < wanted:
            dice = random.Random(given.seed * 1_000_003 + rounds)
            kills += play(case, dice)
            jobs = case.jobs()
            pauses += sum(note_of(job, "history").get("pauses", 0) for job in jobs)
            wrong += [why for why in map(what_is_wrong, jobs) if why]
            refused += count_refused(plane)
            case.clear()
            rounds += 1
            report.say(f"round {rounds}: {pauses} pauses" + "".join(f"; {why}" for why in wrong))
    report.add("pauses", "pauses", pauses)
    report.add("rounds", "rounds", rounds)
    report.add("kills", "... in which the Job controller was killed", kills)
    report.promise("wrong", "Jobs that were counted against, or are not back", len(wrong), 0)
    report.promise("refused", "pods that a kubelet had no GPUs for", refused, 0)
    return report


def play(case, dice):
    """Until all that have not ended run again. Whether the Job controller was killed."""
    case.lend(notes(dice) for _ in range(case.nodes * GPUS))
    is_slow = dice.random() < 0.3
    if is_slow:
        case.control(REQUESTS_PER_SECOND)
    time.sleep(dice.uniform(0, 3))
    wanted = dice.randint(case.nodes // 3, case.nodes)
    with seen.Seen(case.plane) as watch:
        case.ask(wanted)
        berth.until(lambda: len(watch.of("gang")) == wanted, "the gang is there", 300)
        is_killed = dice.random() < 0.3
        if is_killed:
            time.sleep(dice.uniform(0, 0.5))
            case.plane.kill(CONTROLLERS)
            time.sleep(dice.uniform(0, 2))
        if is_killed or is_slow:
            case.control(HURRY)
        berth.until(lambda: seen.reached(watch.of("gang"), "bound") == wanted,
                    "the gang is bound", 300)
    time.sleep(dice.uniform(0, 1))
    case.leave()
    case.await_running()
    return is_killed


def notes(dice):
    if dice.random() < 0.25:
        return {ENDS: str(dice.randint(3, 12)), "kubetool/exit": "143"}
    return {"kubetool/exit": dice.choice(("0", "143"))}


def what_is_wrong(job):
    """A pod that ended by itself has succeeded; none has failed, and no other one counts."""
    name, status = job["metadata"]["name"], job["status"]
    ends = ENDS in job["spec"]["template"]["metadata"].get("annotations", {})
    failed, succeeded = status.get("failed", 0), status.get("succeeded", 0)
    if failed or succeeded > ends:
        return f"{name}: {failed} failed, {succeeded} succeeded"
    if job["spec"].get("suspend") and not ended(job):
        return f"{name}: is still suspended"
    return None


def count_refused(plane):
    pods = plane.api.get("/api/v1/pods")["items"]
    return sum(pod["status"].get("reason") == "UnexpectedAdmissionError" for pod in pods)
