# SPDX-License-Identifier: Apache-2.0
"""Which pods belong together, by the kind of what makes them: one test for each row of the table.

Of JobSet and Ray only the definitions are here, as loose as can be; the test does what their
controllers do."""
from install_case import CRDS
from kube_case import eventually
from scheduler_case import BATCH, SchedulerCase, template

FOREIGN = {"jobsets": ("jobset.x-k8s.io", "v1alpha2", "JobSet"),
           "rayclusters": ("ray.io", "v1", "RayCluster"), "rayjobs": ("ray.io", "v1", "RayJob")}
APPS = "/apis/apps/v1/namespaces"


def path_of(plural, namespace):
    group, version, _ = FOREIGN[plural]
    return f"/apis/{group}/{version}/namespaces/{namespace}/{plural}"


def owned_by(owner):
    return [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "controller": True,
             "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"]}]


class KindsCase(SchedulerCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for plural, (group, version, kind) in FOREIGN.items():
            cls.api.create(CRDS, {
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": f"{plural}.{group}"}, "spec": {
                    "group": group, "scope": "Namespaced",
                    "names": {"plural": plural, "singular": kind.lower(), "kind": kind},
                    "versions": [{"name": version, "served": True, "storage": True,
                                  "schema": {"openAPIV3Schema": {
                                      "type": "object", "x-kubernetes-preserve-unknown-fields": True
                                  }}}]}})
            eventually(lambda: cls.api.send("GET", path_of(plural, "default"))[0] == 200,
                       f"{plural} are served")

    def setUp(self):
        self.process = self.start_deciding()
        self.project("owner", 16)
        self.project("borrower", 0)
        for plural in FOREIGN:
            for namespace in ("owner", "borrower"):
                self.addCleanup(self.api.send, "DELETE", path_of(plural, namespace))

    def make(self, plural, name, spec, owner=None):
        group, version, kind = FOREIGN[plural]
        return self.api.create(path_of(plural, "borrower"), {
            "apiVersion": f"{group}/{version}", "kind": kind, "spec": spec,
            "metadata": {"name": name, "ownerReferences": owned_by(owner) if owner else []}})

    def make_pod(self, name, owner, gpus=8, namespace="borrower"):
        return self.api.create(f"/api/v1/namespaces/{namespace}/pods", {
            "metadata": {"name": name, "ownerReferences": owned_by(owner)}, "spec": template(gpus)})

    def is_suspended(self, plural, name):
        return self.api.get(f"{path_of(plural, 'borrower')}/{name}")["spec"].get("suspend", False)

    def gives_way_and_goes_on(self, plural, name, stop, again):
        """Its two pods run, of which one has no GPU or few; an owner comes back, and goes."""
        self.await_bound(2, "borrower")
        self.job("owner", "urgent", 2, 8)
        eventually(lambda: self.is_suspended(plural, name), "it is suspended")
        stop()
        self.await_bound(2, "owner", "urgent")
        receipt = self.api.get(f"{path_of(plural, 'borrower')}/{name}")["metadata"]["annotations"]
        self.assertIn("reclaim", receipt["berth.dev/last-pause"])
        eventually(lambda: ("Paused", name) in self.events("borrower"), "an event says so")
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        eventually(lambda: not self.is_suspended(plural, name), "it goes on")
        again()
        self.await_bound(2, "borrower")
        self.assertEqual(self.refused_by_kubelets(), [])

    def events(self, namespace):
        events = self.api.get(f"/apis/events.k8s.io/v1/namespaces/{namespace}/events")["items"]
        return {(event["reason"], event["regarding"]["name"]) for event in events}


class Kinds(KindsCase):
    def test_a_cron_jobs_job_is_a_gang(self):
        cron = self.api.create(f"{BATCH}/borrower/cronjobs", {
            "metadata": {"name": "nightly"}, "spec": {
                "schedule": "0 3 * * *", "suspend": True, "jobTemplate": {"spec": {
                    "template": {"spec": template(8)}}}}})
        self.addCleanup(self.api.send, "DELETE", f"{BATCH}/borrower/cronjobs/nightly")
        self.api.create(f"{BATCH}/borrower/jobs", {
            "metadata": {"name": "nightly-1", "ownerReferences": owned_by(
                {**cron, "apiVersion": "batch/v1", "kind": "CronJob"})},
            "spec": {"parallelism": 2, "template": {"spec": template(8)}}})
        self.await_bound(2, "borrower", "nightly-1")

    def test_the_jobs_of_a_jobset_are_one_gang(self):
        jobs = {name: {"spec": {"parallelism": 1, "completions": 1,
                                "template": {"spec": template(gpus)}}}
                for name, gpus in (("driver", 0), ("workers", 8))}
        jobset = self.make("jobsets", "set", {"replicatedJobs": [
            {"name": name, "replicas": 1, "template": job} for name, job in jobs.items()]})
        for name, job in jobs.items():
            self.stays(lambda: self.bound("borrower") == 0, 0.5)
            self.api.create(f"{BATCH}/borrower/jobs", {
                "metadata": {"name": name, "ownerReferences": owned_by(jobset)}, **job})

        def suspend(is_suspended):
            for name in jobs:
                self.api.patch(f"{BATCH}/borrower/jobs/{name}", {"spec": {"suspend": is_suspended}})
        self.gives_way_and_goes_on("jobsets", "set", lambda: suspend(True), lambda: suspend(False))

    def test_a_jobset_goes_on_with_the_pods_that_are_left(self):
        job = {"spec": {"parallelism": 2, "completions": 2, "template": {"spec": template(8)}}}
        jobset = self.make("jobsets", "left", {"replicatedJobs": [
            {"name": "workers", "replicas": 1, "template": job}]})
        self.api.create(f"{BATCH}/borrower/jobs", {
            "metadata": {"name": "left-workers-0", "ownerReferences": owned_by(jobset),
                         "labels": {"jobset.sigs.k8s.io/replicatedjob-name": "workers"}}, **job})
        self.await_bound(2, "borrower")
        # Its node says so once: what is written before that is overwritten.
        eventually(lambda: self.pods("borrower")[0]["status"]["phase"] == "Running", "it runs")
        done = self.pods("borrower")[0]["metadata"]["name"]
        self.api.patch(f"/api/v1/namespaces/borrower/pods/{done}/status",
                       {"status": {"phase": "Succeeded"}})
        eventually(lambda: self.use("borrower")[2] == 8, "it holds what is left of it")
        self.job("owner", "first", 1, 8)
        self.await_bound(1, "owner", "first")
        self.assertFalse(self.is_suspended("jobsets", "left"))
        self.job("owner", "second", 1, 8)
        eventually(lambda: self.is_suspended("jobsets", "left"), "it is suspended")
        path = f"{BATCH}/borrower/jobs/left-workers-0"
        self.api.patch(path, {"spec": {"suspend": True}})
        self.await_bound(1, "owner", "second")
        self.api.delete(f"{BATCH}/owner/jobs/second?propagationPolicy=Background")
        eventually(lambda: not self.is_suspended("jobsets", "left"), "it goes on")
        self.api.patch(path, {"spec": {"suspend": False}})
        eventually(lambda: sum("nodeName" in pod["spec"] and
                               pod["status"]["phase"] != "Succeeded"
                               for pod in self.pods("borrower")) == 1, "its last pod is bound")

    def ray(self, plural, name, spec, gpus_of_head=0):
        """What KubeRay does: the pods of a RayCluster, which a RayJob has."""
        top = self.make(plural, name, spec)

        def begin():
            cluster = top if plural == "rayclusters" else self.make(
                "rayclusters", f"{name}-x", spec["rayClusterSpec"], top)
            self.make_pod(f"{name}-head", cluster, gpus_of_head)
            self.stays(lambda: self.bound("borrower") == 0, 0.5)
            self.make_pod(f"{name}-worker", cluster)

        def stop():
            if plural == "rayjobs":
                self.api.delete(f"{path_of('rayclusters', 'borrower')}/{name}-x")
            for pod in ("head", "worker"):  # the garbage collector may have been first
                self.api.send("DELETE", f"/api/v1/namespaces/borrower/pods/{name}-{pod}")
            eventually(lambda: not self.pods("borrower"), "its pods are gone")
        begin()
        self.gives_way_and_goes_on(plural, name, stop, begin)

    RAY = {"headGroupSpec": {"template": {"spec": template(0)}}, "workerGroupSpecs": [
        {"groupName": "workers", "replicas": 1, "template": {"spec": template(8)}}]}

    def test_a_ray_cluster_is_a_gang(self):
        self.ray("rayclusters", "notebook", self.RAY)

    def test_a_head_with_a_gpu_and_workers_with_eight_are_one_gang(self):
        head = {"headGroupSpec": {"template": {"spec": template(1)}}}
        self.ray("rayclusters", "learner", {**self.RAY, **head}, gpus_of_head=1)
        eventually(lambda: self.use("borrower")[2] == 9, "all its GPUs count")

    def test_a_ray_cluster_that_runs_grows_beside_its_head_and_shrinks(self):
        cluster = self.make("rayclusters", "autoscaled", self.RAY)
        path = f"{path_of('rayclusters', 'borrower')}/autoscaled"
        workers = [{**self.RAY["workerGroupSpecs"][0], "replicas": 2}]
        self.make_pod("head", cluster, gpus=0)
        self.make_pod("worker-1", cluster)
        self.await_bound(2, "borrower")
        self.job("owner", "other", 1, 8)
        self.await_bound(1, "owner")
        self.api.patch(path, {"spec": {"workerGroupSpecs": workers}})
        self.make_pod("worker-2", cluster)
        reason = "1 of its 2 pods run; for one more: "
        eventually(lambda: reason in str(self.reason("borrower", "worker-2")),
                   "it is said why the other one waits")
        self.api.delete(f"{BATCH}/owner/jobs/other?propagationPolicy=Background")
        self.await_bound(3, "borrower")
        eventually(lambda: self.use("borrower")[2] == 16, "all its GPUs count")
        self.api.patch(path, {"spec": self.RAY})
        self.api.delete("/api/v1/namespaces/borrower/pods/worker-1")
        eventually(lambda: self.use("borrower")[2] == 8, "it is known that its GPUs are free")
        self.job("owner", "other", 1, 8)
        self.await_bound(1, "owner", "other")
        self.await_bound(2, "borrower")
        self.assertFalse(self.is_suspended("rayclusters", "autoscaled"))

    def test_gpus_of_pods_that_have_succeeded_go_to_others_while_the_job_runs(self):
        self.job("owner", "train", 4, 4)
        self.await_bound(4, "owner", "train")
        self.job("owner", "next", 2, 4)
        done = [pod["metadata"]["name"] for pod in self.pods("owner")
                if "nodeName" in pod["spec"]][:2]
        self.stays(lambda: self.bound("owner", "next") == 0)
        for name in done:
            self.api.patch(f"/api/v1/namespaces/owner/pods/{name}/status",
                           {"status": {"phase": "Succeeded"}})
        self.await_bound(2, "owner", "next")
        self.assertEqual(self.refused_by_kubelets(), [])
        job = self.api.get(f"{BATCH}/owner/jobs/train")
        self.assertFalse(job["spec"]["suspend"])
        self.assertEqual(job["status"]["succeeded"], 2)

    def test_a_job_that_is_scaled_up_while_it_runs_grows(self):
        self.api.create(f"{BATCH}/owner/jobs", {"metadata": {"name": "queue"}, "spec": {
            "parallelism": 1, "template": {"spec": template(8)}}})
        self.await_bound(1, "owner")
        self.api.patch(f"{BATCH}/owner/jobs/queue", {"spec": {"parallelism": 2}})
        self.await_bound(2, "owner")

    def test_a_ray_job_is_a_gang_with_its_cluster(self):
        self.ray("rayjobs", "sweep", {"entrypoint": "true", "rayClusterSpec": self.RAY})

    def test_plain_pods_that_name_a_group_are_a_gang(self):
        for number, (label, size) in enumerate((
                ("kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"),
                ("pod-group-name", "kai.scheduler/batch-min-member"))):
            group = {"labels": {label: f"group-{number}"}, "annotations": {size: "2"}}
            for pod in range(2):
                self.stays(lambda: self.bound("owner") == 2 * number, 0.5)
                self.api.create("/api/v1/namespaces/owner/pods", {
                    "metadata": {"name": f"plain-{number}-{pod}", **group}, "spec": template(4)})
            self.await_bound(2 * number + 2, "owner")

    def test_pods_of_deployments_and_stateful_sets_are_placed_one_by_one_and_stay(self):
        labels = {"app": "serve"}
        spec = {**template(8), "restartPolicy": "Always"}
        for plural in ("deployments", "statefulsets"):
            self.api.create(f"{APPS}/owner/{plural}", {
                "metadata": {"name": plural}, "spec": {
                    "replicas": 3, "selector": {"matchLabels": {**labels, "of": plural}},
                    "template": {"metadata": {"labels": {**labels, "of": plural}}, "spec": spec}}})
            self.await_bound(2, "owner")
            self.stays(lambda: self.bound("owner") == 2)
            self.api.delete(f"{APPS}/owner/{plural}/{plural}?propagationPolicy=Background")
            eventually(lambda: not self.pods("owner"), "its pods are gone")

    def test_objects_that_make_no_sense_stop_nobody_else(self):
        self.make("jobsets", "odd", {"replicatedJobs": [{"name": "a", "replicas": "2"}]})
        self.make("rayclusters", "odd", {"workerGroupSpecs": {"deep": [[[[[]]]]]}})
        self.api.create("/api/v1/namespaces/borrower/pods", {
            "metadata": {"name": "zero", "annotations": {"kai.scheduler/x": "a\0b"}},
            "spec": template(1)})
        self.end(self.process)
        self.start_deciding()
        self.api.create("/api/v1/namespaces/owner/pods", {
            "metadata": {"name": "plain"}, "spec": template(1)})
        self.await_bound(1, "owner")

    def test_pods_of_a_kind_that_nobody_knows_are_placed_alone_and_an_event_says_so(self):
        owner = {"apiVersion": "example.org/v1", "kind": "Thing", "metadata": {
            "name": "thing", "uid": "01234567-89ab-4def-8edc-ba9876543210"}}
        self.make_pod("thing-0", owner, namespace="owner")
        self.await_bound(1, "owner")
        eventually(lambda: ("UnknownKind", "thing") in self.events("owner"), "an event says so")
