# SPDX-License-Identifier: Apache-2.0
"""Jobs of one pod and one GPU on all GPUs of a cluster, lent by an owner without a pod.

Each is suspended when the owner comes, and resumed when it has gone. Kubelets say how their
processes ended, as real ones do: one that exits 0 on the signal to end would count as completed if
it ended before its finalizer was off.
"""
import json

import berth
import commands
from reclaim import GPUS, job_of

CONTROLLERS = "kube-controller-manager"
BATCH = "/apis/batch/v1/namespaces"
JOBS = f"{BATCH}/borrower/jobs"
HURRY = 200  # requests a second of the controllers, where they are not what is measured
LATE_S = 600


class LentJobs:
    def __init__(self, plane, nodes):
        self.plane = plane
        self.nodes = nodes
        berth.add_project(plane.api, "owner", nodes * GPUS)
        berth.add_project(plane.api, "borrower", 0)

    def control(self, requests_per_second):
        """From now on the controllers may ask so much."""
        self.plane.kill(CONTROLLERS)
        self.plane.run(CONTROLLERS, commands.controller_manager(self.plane.programs,
                                                                requests_per_second))

    def lend(self, notes):
        """One Job for each of these annotations; returns when all of them run."""
        for number, annotations in enumerate(notes):
            job = job_of(f"lent-{number:03}", 1, 1)
            job["spec"]["template"]["metadata"] = {"labels": {"app": "lent"},
                                                   "annotations": annotations}
            self.plane.api.create(JOBS, job)
        self.await_running()

    def await_running(self):
        """All that have not ended."""
        berth.until(self._all_run, "all Jobs run", LATE_S)

    def _all_run(self):
        rest = [job for job in self.jobs() if not ended(job)]
        if not all(job["status"].get("ready") and not job["spec"].get("suspend") for job in rest):
            return False
        # A Job controller that was killed says what was.
        pods = self.plane.api.get("/api/v1/namespaces/borrower/pods")["items"]
        return len(rest) == sum(pod["status"]["phase"] == "Running" and
                                "deletionTimestamp" not in pod["metadata"] for pod in pods)

    def jobs(self):
        return self.plane.api.get(JOBS)["items"]

    def ask(self, pods):
        """The owner comes with a gang that wants whole nodes."""
        self.plane.api.create(f"{BATCH}/owner/jobs", job_of("urgent", pods))

    def leave(self):
        self.plane.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")

    def clear(self):
        self.plane.api.send("DELETE", f"{JOBS}?propagationPolicy=Background")
        berth.until(lambda: not any(
            self.plane.api.get(f"/api/v1/namespaces/{name}/pods")["items"]
            for name in ("owner", "borrower")), "all pods are gone", LATE_S)


def ended(job):
    return any(condition["type"] in ("Complete", "Failed") and condition["status"] == "True"
               for condition in job["status"].get("conditions", []))


def note_of(job, name):
    return json.loads(job["metadata"].get("annotations", {}).get(f"berth.dev/{name}", "{}"))
