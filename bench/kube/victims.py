# SPDX-License-Identifier: Apache-2.0
"""How soon are many Jobs off their GPUs, where the Job controller has its 20 requests a second?"""
import time

import berth
import seen
from control_plane import ControlPlane
from lent_jobs import HURRY, LentJobs, note_of
from reclaim import GPUS
from report import Report

NODES = 50
REQUESTS_PER_SECOND = 20  # a controller-manager's default
SETTLE_S = 5  # a controller that starts looks at everything


def measure(program, given):
    nodes = given.nodes or NODES
    count = nodes * GPUS
    report = Report("victims", f"{count} Jobs of one pod leave for a gang of {nodes} x {GPUS}; the "
                    f"Job controller has {REQUESTS_PER_SECOND} requests/s", nodes=nodes)
    with ControlPlane(controller_qps=HURRY) as plane:
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        plane.run_kubelets("-grace", 1)
        berth.run_scheduler(plane, program)
        case = LentJobs(plane, nodes)
        case.lend({"kubetool/exit": "0" if number % 2 else "143"} for number in range(count))
        case.control(REQUESTS_PER_SECOND)
        time.sleep(SETTLE_S)
        with seen.Seen(plane) as watch:
            case.ask(nodes)
            berth.until(lambda: seen.reached(watch.of("gang"), "bound") == nodes,
                        "the gang is bound", 300)
            gang, lent = watch.of("gang"), watch.of("lent")
        begun = seen.last(gang, "seen")
        report.add("first_told_s", "first victim marked after the gang's last pod",
                   seen.first(lent, "marked") - begun, "s")
        report.add("last_gone_s", "last victim gone, of which 1 s is its grace",
                   seen.last(lent, "gone") - begun, "s", ("<=", 10))
        report.add("all_bound_s", "the gang is bound", seen.last(gang, "bound") - begun, "s")
        report.promise("victims", "victims", seen.reached(lent, "marked"), count)
        judge_return(report, case, count)
    return report


def judge_return(report, case, count):
    """When the owner has gone all of them run again, and nothing has counted against them."""
    paused = {job["metadata"]["name"]: note_of(job, "history") for job in case.jobs()}
    case.control(HURRY)
    case.leave()
    case.await_running()
    jobs = case.jobs()
    report.promise("suspended", "Jobs that have a receipt of their pause",
                   sum("attained_gpu_ms" in note for note in paused.values()), count)
    report.promise("counted", "Jobs with a pod that failed or succeeded",
                   sum(counted(job) for job in jobs), 0)
    report.promise("resumed", "Jobs that run again with their attained service",
                   sum(kept(note_of(job, "history"), paused[job["metadata"]["name"]])
                       for job in jobs), count)


def counted(job):
    return any(job["status"].get(what, 0) for what in ("failed", "succeeded"))


def kept(history, before):
    return 0 < before.get("attained_gpu_ms", 0) <= history.get("attained_gpu_ms", 0)
