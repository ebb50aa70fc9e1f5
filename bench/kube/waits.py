# SPDX-License-Identifier: Apache-2.0
"""How soon does a gang that cannot be placed say why, and at what cost to the others?

All nodes are full, of pods that no gang may take anything from. The gang says so, with numbers;
then its project's limit is taken away and given back in turns, so that the reason is another one.
"""
import statistics
import time

import berth
import seen
from control_plane import ControlPlane
from reclaim import GPUS, job_of
from report import Report
from spent import Spent

NODES, CHANGES = 500, 4
GANG = 10  # pods, or half the cluster's
QUIET_S = 3  # nothing more is written
SAYS_WHY = ("PATCH", "pods/status")


def measure(program, given):
    nodes = given.nodes or NODES
    pods = min(GANG, nodes // 2)
    report = Report("wait", f"a gang of {pods} x {GPUS} GPUs on {nodes} full nodes, and "
                    f"{CHANGES} changes of the reason", nodes=nodes)
    with ControlPlane() as plane:
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        berth.run_scheduler(plane, program)
        fill(plane, nodes)
        berth.add_project(plane.api, "owner", pods * GPUS)
        with seen.Seen(plane) as watch:
            spent = Spent(plane)
            plane.api.create("/apis/batch/v1/namespaces/owner/jobs", job_of("gang", pods))
            berth.until(lambda: reasons(watch), "it says why")
            first_s = reasons(watch)[0][0] - seen.last(watch.of("gang"), "seen")
            time.sleep(QUIET_S)
            later = [change(plane, watch, number) for number in range(CHANGES)]
            spent.stop()
            add_figures(report, watch, spent, first_s, later)
        left = plane.api.get("/api/v1/namespaces/full/pods?resourceVersion=0")["items"]
        report.promise("pods_that_ended", "pods that were ended for it", nodes - len(left), 0)
    return report


def fill(plane, nodes):
    """With bare pods, each of all GPUs of a node."""
    berth.add_project(plane.api, "full", nodes * GPUS)
    plane.tool("pods", "-count", nodes, "-gpus", GPUS, "-prefix", "full", "-namespace", "full",
               "-scheduler", "berth")
    plane.tool("wait", "-count", nodes, "-prefix", "full", "-namespace", "full")
    time.sleep(QUIET_S)


def reasons(watch):
    """What its pods have said, in turn."""
    return sorted(said for pod in watch.of("gang") for said in pod.reasons)


def change(plane, watch, number):
    """Seconds until another reason is seen."""
    before = len(reasons(watch))
    limit = 0 if number % 2 == 0 else -1
    began = time.monotonic()
    plane.api.patch(f"{berth.PROJECTS}/owner", {"spec": {"limit": limit}})
    berth.until(lambda: len(reasons(watch)) > before, "it says another reason")
    took = time.monotonic() - began
    time.sleep(QUIET_S)
    return took


def add_figures(report, watch, spent, first_s, later):
    for _, (reason, words) in reasons(watch):
        report.say(f"{reason}: {words}")
    report.add("first_reason_s", "it says why, after its last pod was seen", first_s, "s",
               ("<=", 1))
    report.add("next_reason_s", "another reason, after the change, median",
               statistics.median(later), "s", ("<=", 1))
    report.add("own_cpu_s", f"CPU of the scheduler itself, {spent.seconds:.0f} s",
               spent.cpu["berth"], "s")
    with_numbers = sum(any(sign.isdigit() for sign in words)
                       for _, (_, words) in reasons(watch))
    report.promise("reasons_with_numbers", "reasons with numbers", with_numbers, CHANGES + 1)
    report.promise("writes", "writes of reasons", spent.writes(SAYS_WHY), CHANGES + 1)
