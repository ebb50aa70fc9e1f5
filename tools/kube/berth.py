# SPDX-License-Identifier: Apache-2.0
"""How does Berth come onto a control plane, with projects and a scheduler that decides?"""
import re
import subprocess
import time

from control_plane import PATIENCE

PROJECTS = "/apis/berth.dev/v1alpha1/projects"
NAME = "berth"  # of its process


def install(plane, program):
    subprocess.run([program, "kube", "install", "--kubeconfig", plane.path / "kubeconfig"],
                   check=True, stdout=subprocess.DEVNULL)
    # What runs here is a process: nodes of fakes have no images.
    plane.api.patch("/apis/apps/v1/namespaces/berth-system/deployments/berth-scheduler",
                    {"spec": {"replicas": 0}})


def run_scheduler(plane, program):
    """As its own account with the role that is shipped; returns when it decides."""
    log = plane.path / f"log/{NAME}.log"
    said = log.read_text().count("decides") if log.exists() else 0
    if NAME in plane.commands():
        plane.restart(NAME)
    else:
        plane.run(NAME, [program, "kube", "scheduler", "--kubeconfig",
                         plane.kubeconfig_of("berth-scheduler", "berth-system"),
                         "--listen", "127.0.0.1:0"])
    plane.wait_for(NAME, lambda: log.read_text().count("decides") > said)


def pages_of(plane):
    """Where the scheduler listens, such as 127.0.0.1:8080."""
    return re.findall(r"^listens on (\S+)$", (plane.path / f"log/{NAME}.log").read_text(), re.M)[-1]


def add_project(api, name, quota):
    """With a namespace of its name."""
    api.create("/api/v1/namespaces", {
        "metadata": {"name": name, "labels": {"berth.dev/project": name}}})
    api.create(PROJECTS, {"apiVersion": "berth.dev/v1alpha1", "kind": "Project",
                          "metadata": {"name": name}, "spec": {"quota": quota}})
    until(lambda: api.send("GET", f"/api/v1/namespaces/{name}/serviceaccounts/default")[0] == 200,
          "the namespace has its account")


def until(question, what, patience=PATIENCE):
    """Asks until the answer is true; answers it."""
    deadline = time.monotonic() + patience
    while not (answer := question()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: did not come true in {patience} s")
        time.sleep(0.02)
    return answer
