# SPDX-License-Identifier: Apache-2.0
"""How long does an owner's gang wait until those who borrowed its GPUs are gone?

Half the cluster is the owner's. A borrower without a quota has a bare pod on each GPU, all of them
preemptible; the owner comes with a gang that wants its half at once.
"""
import statistics
import time

import berth
import seen
from control_plane import ControlPlane
from report import Report
from spent import Spent

GPUS = 8
NODES, ROUNDS = 100, 3
# By nodes: seconds from when the last pod of the gang is seen until it is bound; own CPU.
GOALS = {100: (4, 0.3), 500: (15, 1.5)}
FIRST_MARKED_S = 0.3
SETTLE_S = 2
GANG = "/apis/batch/v1/namespaces/owner/jobs"


class Reclaim:
    def __init__(self, plane, nodes):
        self.plane = plane
        self.pods = nodes * GPUS
        self.gang = nodes // 2
        berth.add_project(plane.api, "owner", self.gang * GPUS)
        berth.add_project(plane.api, "borrower", 0)

    def round(self, number):
        self._lend(number)
        with seen.Seen(self.plane) as watch:
            spent = Spent(self.plane)
            self.plane.api.create(GANG, job_of(f"urgent-{number}", self.gang))
            berth.until(lambda: seen.reached(watch.of("gang"), "bound") == self.gang,
                        "the gang is bound")
            spent.stop()
            time.sleep(SETTLE_S)  # a victim too many would follow
            gang, victims = watch.of("gang"), watch.of("lent")
            begun = seen.last(gang, "seen")
            found = {"first_told_s": seen.first(victims, "marked") - begun,
                     "last_gone_s": seen.last(victims, "gone") - begun,
                     "all_bound_s": seen.last(gang, "bound") - begun,
                     "own_cpu_s": spent.cpu["berth"], "all_cpu_s": spent.all_cpu(),
                     "writes": spent.writes(), "victims": seen.reached(victims, "marked")}
        self._clear(f"urgent-{number}")
        return found

    def _lend(self, number):
        """What the last round took is made again."""
        there = len(self._lent())
        if there < self.pods:
            self.plane.tool("pods", "-count", self.pods - there, "-prefix", "lent", "-namespace",
                            "borrower", "-scheduler", "berth", "-labels",
                            f"berth.dev/preemptible=true,round={number}")
        berth.until(lambda: sum(pod["status"]["phase"] == "Running" for pod in self._lent()) ==
                    self.pods, "all GPUs are lent", 600)
        time.sleep(SETTLE_S)

    def _lent(self):
        return self.plane.api.get("/api/v1/namespaces/borrower/pods?resourceVersion=0")["items"]

    def _clear(self, job):
        self.plane.api.delete(f"{GANG}/{job}?propagationPolicy=Background")
        pods = "/api/v1/namespaces/owner/pods?resourceVersion=0"
        berth.until(lambda: not self.plane.api.get(pods)["items"], "the gang is gone")
        self.plane.api.send("DELETE", "/api/v1/namespaces/borrower/pods?gracePeriodSeconds=0")
        berth.until(lambda: not self._lent(), "the borrower's pods are gone")


def job_of(name, pods, gpus=GPUS):
    return {"metadata": {"name": name}, "spec": {
        "parallelism": pods, "completions": pods, "backoffLimit": 0, "template": {
            "metadata": {"labels": {"app": "gang"}}, "spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [{
                    "name": "main", "image": "train",
                    "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}}}


def measure(program, given):
    nodes = given.nodes or NODES
    gang, lent = nodes // 2, nodes * GPUS
    report = Report("reclaim", f"a gang of {gang} x {GPUS} GPUs from {lent:,} preemptible pods of "
                    f"one on {nodes} nodes", nodes=nodes)
    with ControlPlane() as plane:
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        plane.run_kubelets()
        berth.run_scheduler(plane, program)
        case = Reclaim(plane, nodes)
        rounds = []
        for number in range(given.rounds or ROUNDS):
            rounds.append(case.round(number))
            report.say(f"round {number + 1}: " + ", ".join(
                f"{name} {value:.3g}" for name, value in rounds[-1].items()))
    bound, own = GOALS.get(nodes, (None, None))
    for name, what, unit, goal in (
            ("first_told_s", "first victim marked after the gang's last pod", "s", FIRST_MARKED_S),
            ("last_gone_s", "last victim gone", "s", None),
            ("all_bound_s", "the gang is bound", "s", bound),
            ("own_cpu_s", "CPU of the scheduler itself", "s", own),
            ("all_cpu_s", "CPU of all processes", "s", None),
            ("writes", "writes to the API", "", None)):
        report.add(name, what, statistics.median(each[name] for each in rounds), unit,
                   goal and ("<=", goal))
    worst = max((each["victims"] for each in rounds), key=lambda count: abs(count - gang * GPUS))
    report.promise("victims", "victims, of the round that is furthest off", worst, gang * GPUS)
    return report
