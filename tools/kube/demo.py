# SPDX-License-Identifier: Apache-2.0
"""Susan, Joe and Jemma share 100 nodes of eight GPUs through a real API server (./dev kube-demo).

Susan's Jobs take all that idles; Joe and Jemma come back for what is theirs; Susan's Jobs go on by
themselves and end. Nodes and kubelets are fakes, all else is real: the API server, its controllers,
Jobs, and berth kube scheduler with its own account and role. Each line says what was promised and
what was seen; one that does not hold is marked, and the exit code is 1.
"""
import argparse
import json
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.append(str(HERE.parent.parent / "bench"))
import berth  # noqa: E402
import figures  # noqa: E402
import programs  # noqa: E402
from control_plane import ControlPlane  # noqa: E402
from placing import BERTH, DEFAULT, FLOOR, Placing  # noqa: E402

NODES, GPUS = 100, 8
QUOTAS = {"susan": 200, "joe": 300, "jemma": 300}
SUSANS = 100  # Jobs of one pod on all GPUs of a node
GANGS = {"joe": 36, "jemma": 37}  # pods of one Job, each on a whole node
PLACED = 700  # pods of one GPU, for the table
# Seconds before something is given up: an owner's wait is promised below a hundredth of that.
PATIENCE = 150
RUNS = "kubetool/run-seconds"


class Story:
    def __init__(self, plane):
        self.plane = plane
        self.api = plane.api
        self.broken = 0
        self.began = time.monotonic()

    def tell(self, holds, text):
        self.broken += not holds
        mark = "ok    " if holds else "BROKEN"
        print(f"{time.monotonic() - self.began:6.1f} s  {mark}  {text}", flush=True)

    def say(self, text):
        print(f"{time.monotonic() - self.began:6.1f} s          {text}", flush=True)

    # --- what is asked of the cluster

    def submit(self, project, name, pods, seconds):
        resources = {"limits": {"nvidia.com/gpu": str(GPUS)}}
        self.api.create(f"/apis/batch/v1/namespaces/{project}/jobs", {
            "metadata": {"name": name}, "spec": {
                "parallelism": pods, "completions": pods, "backoffLimit": 0, "template": {
                    "metadata": {"annotations": {RUNS: str(seconds)}}, "spec": {
                        "restartPolicy": "Never", "terminationGracePeriodSeconds": 1,
                        "containers": [{"name": "main", "image": "train",
                                        "resources": resources}]}}}})

    # --- what is seen

    def pods(self, project):
        return self.api.get(f"/api/v1/namespaces/{project}/pods")["items"]

    def bound(self, project):
        return sum("nodeName" in pod["spec"] and pod["status"]["phase"] in ("Pending", "Running")
                   for pod in self.pods(project))

    def jobs(self, project):
        return self.api.get(f"/apis/batch/v1/namespaces/{project}/jobs")["items"]

    def until(self, question):
        """Seconds until it is true; None when it is not in time."""
        began = time.monotonic()
        while not question():
            if time.monotonic() - began > PATIENCE:
                return None
            time.sleep(0.1)
        return time.monotonic() - began

    # --- the story

    def play(self):
        for name, quota in QUOTAS.items():
            berth.add_project(self.api, name, quota)
        self.say(f"{NODES} nodes of {GPUS} GPUs; quotas: " +
                 ", ".join(f"{name} {quota}" for name, quota in QUOTAS.items()))
        for number in range(SUSANS):
            self.submit("susan", f"sweep-{number:03}", 1, 30)
        took = self.until(lambda: self.bound("susan") == SUSANS)
        self.tell(took is not None, f"Susan's {SUSANS} Jobs take all {NODES * GPUS} GPUs, "
                  f"{NODES * GPUS - QUOTAS['susan']} of them lent" + seconds(took))
        for name, pods in GANGS.items():
            self.submit(name, "train", pods, 20)
        took = self.until(lambda: all(self.bound(name) == pods for name, pods in GANGS.items()))
        self.tell(took is not None, "Joe and Jemma come back: gangs of " +
                  " and ".join(f"{pods} x {GPUS}" for pods in GANGS.values()) +
                  " GPUs run whole" + seconds(took))
        paused = [job for job in self.jobs("susan") if job["spec"].get("suspend")]
        wanted = sum(GANGS.values())
        self.tell(len(paused) == wanted,
                  f"{len(paused)} of Susan's Jobs are suspended, {wanted} were needed; "
                  f"she keeps {self.bound('susan') * GPUS} GPUs of her quota of "
                  f"{QUOTAS['susan']}")
        receipts = [json.loads(job["metadata"]["annotations"]["berth.dev/last-pause"])
                    for job in paused]
        owners = {self.api.get(f"/apis/batch/v1/namespaces/{name}/jobs/train")["metadata"]["uid"]
                  for name in GANGS}
        self.tell(all(receipt["for"] in owners for receipt in receipts),
                  "each has the receipt of its pause: by which rule, and for whom")
        took = self.until(lambda: all(ended(job) for name in GANGS for job in self.jobs(name)))
        self.tell(took is not None, "Joe's and Jemma's gangs end" + seconds(took))
        took = self.until(lambda: all(ended(job) for job in self.jobs("susan")))
        done = [job for job in self.jobs("susan") if ended(job) == "Complete"]
        self.tell(len(done) == SUSANS, f"{len(done)} of Susan's {SUSANS} Jobs resumed by "
                  "themselves and are complete, none failed" + seconds(took))
        refused = sum(pod["status"].get("reason") == "UnexpectedAdmissionError"
                      for name in QUOTAS for pod in self.pods(name))
        self.tell(refused == 0, f"kubelets refused {refused} pods: no GPU was given twice")


def seconds(took):
    return ": never" if took is None else f", after {took:.1f} s"


def ended(job):
    return next((condition["type"] for condition in job["status"].get("conditions", [])
                 if condition["type"] in ("Complete", "Failed") and condition["status"] == "True"),
                None)


def table(plane, program):
    """Said, and as figures."""
    print(f"\nbeside kube-scheduler on this server: {PLACED} pods of one GPU, twice in turns")
    turns = Placing(plane, program, PLACED)
    rows = {who: [] for who in (FLOOR, BERTH, DEFAULT)}
    for _ in range(2):
        for who, row in rows.items():
            row.append(turns.turn(who))
    print(f"{'':20} {'pods/s':>8} {'CPU ms a pod, all':>18} {'its own':>8}")
    said = {"bench": "kube_demo", "pods": PLACED}
    for who, row in rows.items():
        rate, counted, own = (sum(getattr(turn, name) for turn in row) / len(row)
                              for name in ("rate", "all", "own"))
        print(f"{who:20} {rate:8.0f} {counted:18.2f} {own:8.2f}")
        said[who] = {"pods_per_s": round(rate), "all_cpu_ms": round(counted, 2),
                     "own_cpu_ms": round(own, 2)}
    print("(the pods are there before; floor: bound by their number, without a look)")
    return said


def main():
    parser = argparse.ArgumentParser(prog="./dev kube-demo", description=__doc__.split("\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--no-table", action="store_true",
                        help="without the measurement beside kube-scheduler")
    parser.add_argument("--to", type=pathlib.Path, metavar="FILE",
                        help="where a line of its figures is appended")
    chosen = parser.parse_args()
    programs.find_or_skip()
    with ControlPlane(scheduler=not chosen.no_table) as plane:
        story = Story(plane)
        if not chosen.no_table:
            plane.end(DEFAULT)  # until it has its turn
        berth.install(plane, chosen.program)
        plane.tool("nodes", "-count", NODES)
        plane.run_kubelets()
        berth.run_scheduler(plane, chosen.program)
        story.play()
        if not chosen.no_table:
            plane.kill("kubelets")
            plane.end(BERTH)
            said = table(plane, chosen.program)
            if chosen.to:
                figures.note(said, chosen.to)
        print(f"\n{story.broken} promises broken" if story.broken else "\nevery promise was kept")
        sys.exit(1 if story.broken else 0)


if __name__ == "__main__":
    main()
