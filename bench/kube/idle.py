# SPDX-License-Identifier: Apache-2.0
"""What does the scheduler take of a processor where nothing is to be decided, but nodes report?

Each node that reports patches the times of its conditions, as kubelets do; one of some changes what
it offers too, or is cordoned and back. Some pods run, none waits.
"""
import threading
import time

import berth
import metrics
import seen
from control_plane import ControlPlane
from report import Report
from spent import Spent

NODES, PODS, SECONDS = 5000, 1000, 60
CHANGES_PER_SECOND = 100
THREADS = 4
ONE_MATTERS_OF = 20
HEARTBEATS = ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure")


class Reports:
    """Nodes in turn, evenly over time, until stop()."""

    def __init__(self, plane, nodes):
        self.plane = plane
        self.nodes = nodes
        self.sent = [0] * THREADS
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self._run, args=(part, plane.client("admin")))
                        for part in range(THREADS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()

    def _run(self, part, api):
        step = THREADS / CHANGES_PER_SECOND
        due = time.monotonic() + step * part / THREADS
        while not self.is_over.wait(max(0, due - time.monotonic())):
            self._report(api, self.sent[part] * THREADS + part)
            self.sent[part] += 1
            due += step

    def _report(self, api, number):
        path = f"/api/v1/nodes/node-{number % self.nodes:05}"
        turn = number // ONE_MATTERS_OF
        if number % ONE_MATTERS_OF == 0 and turn % 2 == 0:
            now = api.get(path)["spec"].get("unschedulable", False)
            return api.patch(path, {"spec": {"unschedulable": None if now else True}})
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        status = {"conditions": [{"type": kind, "lastHeartbeatTime": now} for kind in HEARTBEATS]}
        if number % ONE_MATTERS_OF == 0:
            status["allocatable"] = {"memory": f"{2000 + turn % 40}Gi"}
        return api.patch(path + "/status", {"status": status},
                         "application/strategic-merge-patch+json")


def measure(program, given):
    nodes, pods = given.nodes or NODES, given.pods or PODS
    seconds = given.seconds or SECONDS
    report = Report("idle", f"{nodes:,} nodes, {CHANGES_PER_SECOND} of which report each second, "
                    f"{pods:,} pods run; {seconds} s", nodes=nodes, pods=pods)
    with ControlPlane() as plane:
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        plane.run_kubelets()
        berth.run_scheduler(plane, program)
        berth.add_project(plane.api, "vision", pods)
        with seen.Seen(plane) as watch:
            plane.tool("pods", "-count", pods, "-prefix", "run", "-namespace", "vision",
                       "-scheduler", "berth")
            berth.until(lambda: seen.reached(watch.of("run"), "running") == pods, "they run", 300)
        quiet = span(plane, seconds / 4)
        reports = Reports(plane, nodes)
        pages = berth.pages_of(plane)
        before = metrics.read(pages)
        reports.start()
        busy = span(plane, seconds)
        reports.stop()
        decisions = metrics.Times("berth_decision_seconds", before, metrics.read(pages))
    rate = sum(reports.sent) / busy.seconds
    report.add("node_changes_per_s", "nodes that reported a second", rate)
    report.add("own_cpu_percent", "of a processor, the scheduler itself", percent(busy, "berth"),
               "%", ("<=", 5))
    report.add("quiet_cpu_percent", "... where no node reports", percent(quiet, "berth"), "%")
    report.add("decisions", "decisions meanwhile", int(decisions.count))
    report.add("decision_p50_ms", "a decision, half of them at most",
               decisions.quantile(0.5) * 1000, "ms")
    report.add("decision_p99_ms", "... 99 of 100 at most", decisions.quantile(0.99) * 1000, "ms",
               ("<=", 5))
    report.add("server_cpu_percent", "the API server", percent(busy, "kube-apiserver"), "%")
    return report


def span(plane, seconds):
    spent = Spent(plane)
    time.sleep(seconds)
    return spent.stop()


def percent(spent, name):
    return spent.cpu[name] * 100 / spent.seconds
