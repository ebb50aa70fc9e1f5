# SPDX-License-Identifier: Apache-2.0
"""What tests of the scheduler on a real server begin with: Berth installed, nodes, kubelets, and
the program running as its own ServiceAccount with the role that is shipped."""
import atexit
import json
import pathlib
import shutil
import subprocess
import tempfile
import time

from install_case import KINDS, InstallCase
from kube_case import PATIENCE, eventually

SYSTEM = "berth-system"
ACCOUNT = "berth-scheduler"
BATCH = "/apis/batch/v1/namespaces"


def template(gpus, **spec):
    return {"restartPolicy": "Never", "containers": [
        {"name": "main", "image": "fake", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}],
        "terminationGracePeriodSeconds": 1, **spec}


# What the account has asked of the API servers of all tests of this process.
AUDIT = pathlib.Path(tempfile.mkdtemp(prefix="berth-audit-"))
atexit.register(shutil.rmtree, AUDIT)
(AUDIT / "policy.json").write_text(json.dumps({
    "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata", "users": [f"system:serviceaccount:{SYSTEM}:{ACCOUNT}"]},
              {"level": "None"}]}))


class SchedulerCase(InstallCase):
    NODES = 2

    @classmethod
    def setUpClass(cls):
        cls.OPTIONS = {**cls.OPTIONS,
                       "api_flags": [f"--audit-policy-file={AUDIT}/policy.json",
                                     f"--audit-log-path={AUDIT}/{cls.__name__}.log"]}
        super().setUpClass()
        subprocess.run([cls.PROGRAM, "kube", "install", "--kubeconfig",
                        cls.plane.path / "kubeconfig"], check=True, capture_output=True,
                       timeout=PATIENCE)
        cls.config = cls.plane.kubeconfig_of(ACCOUNT, SYSTEM)
        cls.make_nodes()

    @classmethod
    def make_nodes(cls):
        cls.plane.tool("nodes", "-count", cls.NODES)
        cls.plane.run_kubelets()

    @staticmethod
    def audited():
        """({(verb, resource)}, [what was forbidden]) until now."""
        used, refused = set(), []
        for line in "".join(log.read_text() for log in AUDIT.glob("*.log")).splitlines():
            event = json.loads(line)
            of = event["objectRef"]
            resource = "/".join(filter(None, (of["resource"], of.get("subresource"))))
            used.add((event["verb"], resource))
            if event.get("responseStatus", {}).get("code") == 403:
                refused.append((event["verb"], resource))
        return used, refused

    def start(self, *flags):
        """A scheduler, which ends with the test; it is known what it said."""
        process = subprocess.Popen([self.PROGRAM, "kube", "scheduler", "--kubeconfig", self.config,
                                    *flags], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.stderr.closed:
            return
        process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.stderr.close()

    def await_line(self, process, beginning):
        """The first line that begins so, of those that were not read yet."""
        for line in process.stderr:
            if line.startswith(beginning):
                return line
        self.fail(f"the scheduler ended and never said {beginning!r}")

    def start_listening(self):
        """One with pages, and where they are."""
        process = self.start("--listen", "127.0.0.1:0")
        return process, self.await_line(process, "listens").split()[-1]

    def start_deciding(self):
        process = self.start()
        self.await_line(process, "decides")
        return process

    def project(self, name, quota, **spec):
        """With a namespace of its name."""
        self.api.call("PATCH", f"/api/v1/namespaces/{name}?fieldManager=tests", {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {
                "name": name, "labels": {"berth.dev/project": name}}},
            "application/apply-patch+yaml")
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": name},
            "spec": {"quota": quota, **spec}})
        eventually(lambda: "default" in self.names(
            f"/api/v1/namespaces/{name}/serviceaccounts"), "the namespace has its account")
        self.addCleanup(self.clear, name)

    def clear(self, name):
        """Leaves nothing that holds a GPU."""
        for path in (f"{BATCH}/{name}/jobs", f"/api/v1/namespaces/{name}/pods"):
            self.api.send("DELETE", path + "?propagationPolicy=Background")
        eventually(lambda: not self.pods(name), "its pods are gone")
        self.api.delete(f"{KINDS}/projects/{name}")

    def pod(self, namespace, name, gpus, labels=None, **spec):
        return self.api.create(f"/api/v1/namespaces/{namespace}/pods", {
            "metadata": {"name": name, "labels": labels or {}}, "spec": template(gpus, **spec)})

    def job(self, namespace, name, pods, gpus, **spec):
        return self.api.create(f"{BATCH}/{namespace}/jobs", {
            "metadata": {"name": name}, "spec": {
                "parallelism": pods, "completions": pods, "template": {"spec": template(gpus)},
                **spec}})

    def pods(self, namespace):
        return self.api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]

    def bound(self, namespace, job=None):
        """How many pods have a node, of one Job if it is named."""
        chosen = [pod for pod in self.pods(namespace) if not job or
                  pod["metadata"]["labels"].get("batch.kubernetes.io/job-name") == job]
        return sum("nodeName" in pod["spec"] for pod in chosen)

    def await_bound(self, count, namespace, job=None):
        try:
            eventually(lambda: self.bound(namespace, job) == count, f"{count} pods are bound")
        except TimeoutError as late:
            raise TimeoutError(f"{late}; in {namespace} are {self.content(namespace)}") from None

    def content(self, namespace):
        """Its Jobs and pods, as far as they say why nothing goes on."""
        jobs = self.api.get(f"{BATCH}/{namespace}/jobs")["items"]
        return ([(job["metadata"]["name"], job["metadata"]["uid"], job["spec"].get("suspend"),
                  job.get("status")) for job in jobs] +
                [(pod["metadata"]["name"], pod["metadata"].get("deletionTimestamp"),
                  pod["metadata"].get("ownerReferences"), pod["spec"].get("nodeName"),
                  pod["status"]) for pod in self.pods(namespace)])

    def stays(self, question, seconds=1.5):
        """Nothing happens for this time, which is many decisions."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.assertTrue(question())
            time.sleep(0.1)

    def reason(self, namespace, name):
        """(reason, message) of the condition PodScheduled=False, if there is one."""
        pod = self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")
        for condition in pod["status"].get("conditions", []):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                return condition.get("reason"), condition.get("message")
        return None, None

    def use(self, project, pool=None):
        """(quota, fair share, used, over, waiting) as its status has it, or says of one pool."""
        status = self.api.get(f"{KINDS}/projects/{project}").get("status", {})
        said = status.get("pools", {}).get(pool, {}) if pool else status
        return tuple(said.get(key) for key in ("quota", "fairShare", "used", "over", "waiting"))

    def annotations(self, namespace, job):
        meta = self.api.get(f"{BATCH}/{namespace}/jobs/{job}")["metadata"]
        return {key: json.loads(value) for key, value in meta.get("annotations", {}).items()
                if key.startswith("berth.dev/")}

    def refused_by_kubelets(self):
        return [pod["metadata"]["name"] for pod in self.api.get("/api/v1/pods")["items"]
                if pod["status"].get("reason") == "UnexpectedAdmissionError"]
