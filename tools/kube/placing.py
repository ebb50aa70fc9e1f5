# SPDX-License-Identifier: Apache-2.0
"""What does a scheduler cost for each pod that it places, beside others on the same server?

In turns, each alone: the others' processes do not run meanwhile, nor do kubelets, whose writes are
the same for all. Pods are bare, of one GPU. Either they are all there before the scheduler starts
(a queue): what its start costs without them, measured right before, is taken off, and pods/s are
counted from the first that it binds to the last. Or they are made while it runs (live): what their
making costs without a scheduler is taken off, and pods/s begin with the first that is made. The
floor is a program that binds pods to nodes by their number, 16 at once, and looks at nothing.
"""
import dataclasses
import resource
import time

import berth
import seen
from processes import TICKS
from spent import Spent

FLOOR, BERTH, DEFAULT = "floor", "berth", "kube-scheduler"
NAMESPACE = "placing"
PATIENCE = 900


@dataclasses.dataclass
class Turn:
    rate: float  # pods a second
    all: float  # milliseconds of processor time a pod, of all processes
    own: float  # of the scheduler alone
    writes: float  # to the API, for each pod


class Placing:
    """No scheduler runs when it is made, nor afterwards."""

    def __init__(self, plane, program, pods, *, is_live=False):
        self.plane = plane
        self.program = program
        self.count = pods
        self.is_live = is_live
        self.making = None  # Spent of making all pods, with no scheduler: of the last floor
        berth.add_project(plane.api, NAMESPACE, pods + 1)

    def turn(self, who):
        """Nothing of it is left but what was counted."""
        self.plane.tool("delete")
        if who == FLOOR:
            return self._floor()
        return self._live(who) if self.is_live else self._queue(who)

    def _floor(self):
        self.making = Spent(self.plane)
        self._make(FLOOR, "bench", self.count)
        time.sleep(1)  # controllers follow
        self.making.stop()
        used = processor_time_of_children()
        spent, pods = self._until_bound(lambda: self.plane.tool("bind", "-count", self.count))
        own = processor_time_of_children() - used
        return Turn(rate_of(pods, "bound"), self._a_pod(spent.all_cpu() + own), self._a_pod(own),
                    spent.writes() / self.count)

    def _queue(self, who):
        idle = self._start_alone(who)
        self._stop(who)
        self._make(who, "bench", self.count)
        time.sleep(1)  # controllers follow
        spent, pods = self._until_bound(lambda: self._start(who))
        self._stop(who)
        return Turn(rate_of(pods, "bound"), self._a_pod(spent.all_cpu() - idle.all_cpu()),
                    self._a_pod(spent.cpu[who] - idle.cpu[who]),
                    (spent.writes() - idle.writes() + 1) / self.count)

    def _live(self, who):
        self._start_alone(who)
        spent, pods = self._until_bound(lambda: self._make(who, "bench", self.count))
        self._stop(who)
        return Turn(rate_of(pods, "seen"), self._a_pod(spent.all_cpu() - self.making.all_cpu()),
                    self._a_pod(spent.cpu[who]), spent.writes() / self.count - 1)

    def _a_pod(self, seconds):
        """In milliseconds. Less than one tick of the kernel is not known."""
        return max(seconds, 1 / TICKS) * 1000 / self.count

    def _start_alone(self, who):
        """Until it has bound one pod, by which it is known that it works."""
        self._make(who, "first", 1)
        spent, _ = self._until_bound(lambda: self._start(who), "first", 1)
        self.plane.tool("delete")
        return spent

    def _start(self, who):
        if who == BERTH:
            berth.run_scheduler(self.plane, self.program)
        else:
            self.plane.restart(who)

    def _stop(self, who):
        self.plane.end(who)

    def _make(self, who, app, count):
        namespace = NAMESPACE if who == BERTH else "default"
        scheduler = {BERTH: "berth", DEFAULT: "default-scheduler", FLOOR: "no-scheduler"}[who]
        self.plane.tool("pods", "-count", count, "-gpus", 1, "-prefix", app, "-namespace",
                        namespace, "-scheduler", scheduler)

    def _until_bound(self, act, app="bench", count=None):
        count = count or self.count
        with seen.Seen(self.plane) as watch:
            spent = Spent(self.plane)
            act()
            berth.until(lambda: seen.reached(watch.of(app), "bound") >= count,
                        f"{count} pods are bound", PATIENCE)
            return spent.stop(), watch.of(app)


def rate_of(pods, since):
    took = seen.last(pods, "bound") - seen.first(pods, since)
    return (len(pods) - 1) / took


def processor_time_of_children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
