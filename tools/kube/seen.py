# SPDX-License-Identifier: Apache-2.0
"""When did a watch see what of each pod?"""
import dataclasses
import json
import threading
import time


@dataclasses.dataclass
class Moments:
    """By time.monotonic(). `reasons`: what the pod said of why it waits, each when it was new."""
    name: str
    namespace: str
    app: str
    seen: float | None = None
    bound: float | None = None
    running: float | None = None
    marked: float | None = None  # as one that has to end
    gone: float | None = None
    reasons: list = dataclasses.field(default_factory=list)


class Seen:
    """Of all pods that are made or changed from now on, until the end of `with`."""

    def __init__(self, plane):
        self.pods = {}
        self.version = plane.api.get("/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        self.api = plane.client("admin")
        self.is_over = False
        self.thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        while self.thread.is_alive():
            self.api.hang_up()  # also from what it began just now
            self.thread.join(0.1)

    def of(self, app=None, namespace=None):
        return [pod for pod in list(self.pods.values())
                if app in (None, pod.app) and namespace in (None, pod.namespace)]

    def _read(self):
        """The server ends a watch that is slow: it goes on from there."""
        while not self.is_over:
            for line in self.api.lines(f"/api/v1/pods?watch=1&resourceVersion={self.version}"):
                event = json.loads(line)
                if event["type"] not in ("ADDED", "MODIFIED", "DELETED"):
                    raise RuntimeError(f"a watch ended with {line.decode()}")
                self.version = event["object"]["metadata"]["resourceVersion"]
                self._take(event["type"], event["object"], time.monotonic())

    def _take(self, kind, pod, now):
        meta, status = pod["metadata"], pod["status"]
        known = self.pods.get(meta["uid"])
        if known is None:
            known = Moments(meta["name"], meta["namespace"], meta.get("labels", {}).get("app"))
            self.pods[meta["uid"]] = known
        reached = {"seen": True, "bound": "nodeName" in pod["spec"],
                   "running": status.get("phase") == "Running",
                   "marked": kind == "DELETED" or "deletionTimestamp" in meta,
                   "gone": kind == "DELETED"}
        for moment, is_reached in reached.items():
            if is_reached and getattr(known, moment) is None:
                setattr(known, moment, now)
        for condition in status.get("conditions", []):
            if condition["type"] != "PodScheduled" or condition["status"] != "False":
                continue
            said = (condition.get("reason"), condition.get("message"))
            if not known.reasons or known.reasons[-1][1] != said:
                known.reasons.append((now, said))


def first(pods, moment):
    return min(getattr(pod, moment) for pod in pods if getattr(pod, moment) is not None)


def last(pods, moment):
    return max(getattr(pod, moment) for pod in pods if getattr(pod, moment) is not None)


def reached(pods, moment):
    return sum(getattr(pod, moment) is not None for pod in pods)
