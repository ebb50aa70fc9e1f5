# SPDX-License-Identifier: Apache-2.0
"""berth kube why, ls and fairshare on a real server, under the rights of who asks, and what the
scheduler writes so that they can."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from install_case import KINDS, InstallCase
from kube_case import PATIENCE, eventually, main
from scheduler_case import BATCH, SchedulerCase, template

PROGRAM = sys.argv.pop(1)


class Numbers(SchedulerCase):
    """What a Project's status says."""

    PROGRAM = PROGRAM

    def test_what_a_department_has_is_what_its_projects_have(self):
        self.start_deciding()
        self.project("research", 12)
        self.project("vision", 8, parent="research")
        self.project("nlp", 0)
        self.job("vision", "train", 2, 5)
        self.await_bound(2, "vision")
        self.job("nlp", "waits", 1, 8)
        eventually(lambda: self.use("vision") == (8, 10, 10, 2, 0) and
                   self.use("research") == (12, 10, 10, 0, 0), "who uses what is said")
        eventually(lambda: self.use("nlp")[4] == 1, "who waits is said")

    def test_each_pool_is_counted_by_itself_until_it_is_gone(self):
        pools = f"{KINDS}/pools"
        self.api.create(pools, {"apiVersion": "berth.dev/v1alpha1", "kind": "Pool",
                                "metadata": {"name": "apart"},
                                "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-00001"}}})
        self.addCleanup(self.api.send, "DELETE", f"{pools}/apart")
        self.start_deciding()
        self.project("vision", 2, pools={"apart": {"quota": 8}})
        self.pod("vision", "here", 1, nodeSelector={"kubernetes.io/hostname": "node-00000"})
        self.pod("vision", "there", 8, nodeSelector={"kubernetes.io/hostname": "node-00001"})
        self.await_bound(2, "vision")
        eventually(lambda: self.use("vision", "default") == (2, 1, 1, 0, 0) and
                   self.use("vision", "apart") == (8, 8, 8, 0, 0) and
                   self.use("vision") == (10, 9, 9, 0, 0), "each pool is counted")
        self.api.send("DELETE", "/api/v1/namespaces/vision/pods")
        eventually(lambda: not self.pods("vision"), "its pods are gone")
        self.api.patch(f"{KINDS}/projects/vision", {"spec": {"pools": None}})
        self.api.delete(f"{pools}/apart")
        eventually(lambda: self.use("vision", "apart") == (None,) * 5, "it is not named any more")

    def test_a_project_that_cannot_be_in_force_yet_says_so(self):
        self.start_deciding()
        self.project("vision", 16)
        self.job("vision", "runs", 1, 8)
        self.await_bound(1, "vision")
        self.project("below", 4, parent="vision")

        def accepted():
            status = self.api.get(f"{KINDS}/projects/below").get("status", {})
            return status.get("conditions", [{}])[0]

        eventually(lambda: accepted().get("status") == "False", "it is not in force")
        self.assertIn("has jobs of its own", accepted()["message"])
        self.api.delete(f"{BATCH}/vision/jobs/runs?propagationPolicy=Background")
        eventually(lambda: accepted().get("status") == "True", "it is in force")

    def test_a_project_that_is_made_again_is_told_again(self):
        self.start_deciding()
        self.project("vision", 2)
        eventually(lambda: self.use("vision")[0] == 2, "its numbers are there")
        self.api.delete(f"{KINDS}/projects/vision")
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": "vision"},
            "spec": {"quota": 2}})
        eventually(lambda: self.use("vision")[0] == 2, "its numbers are there again")


class Asking(SchedulerCase):
    """jemma may look at namespace vision, and at nothing else."""

    PROGRAM = PROGRAM

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plane.user("jemma")
        cls.jemma = cls.plane.path / "pki/jemma.kubeconfig"
        cls.api.create("/api/v1/namespaces", {"metadata": {"name": "vision"}})
        cls.plane.kubectl("create", "rolebinding", "jemma", "--clusterrole", "view", "--user",
                          "jemma", "-n", "vision")

    def as_jemma(self, *words, code=0):
        return self.berth(*words, code=code, config=self.jemma)

    def words(self, *words, **how):
        """What it says, as one line."""
        return " ".join(self.berth("why", *words, **how).stdout.split())

    def why(self, name, *words, **how):
        return json.loads(self.berth("why", name, "-o", "json", *words, **how).stdout)

    def ls(self, *words, **how):
        """Rows by name."""
        listed = json.loads(self.berth("ls", "-o", "json", *words, **how).stdout)
        return {row["namespace"] + "/" + row["name"]: row for row in listed["items"]}

    def await_state(self, name, state, why=""):
        """As ls and why both say it, at one moment or another."""
        def is_so():
            row = self.ls("-A", "-a").get(name)
            if not row or row["state"] != state or why not in row["why"]:
                return None
            alone = self.why(name)
            for said in (row, alone):
                said.get("last_pause", {}).pop("beneficiary", None)
            return {"apiVersion": "berth/v1", "kind": "KubeJob", **row} == alone and row
        return eventually(is_so, f"{name} is {state} to ls and to why")

    def await_reason(self, namespace, pod):
        return eventually(lambda: self.reason(namespace, pod)[1] and self.reason(namespace, pod),
                          "its pod says why")

    # --- what is said ------------------------------------------------------------------------

    def test_why_says_what_the_condition_says_also_while_no_scheduler_runs(self):
        scheduler = self.start_deciding()
        self.project("vision", 2)
        self.pod("vision", "bare", 3)
        reason, message = self.await_reason("vision", "bare")
        self.end(scheduler)
        for name in ("bare", "pod/bare", "vision/pod/bare"):
            said = " ".join(self.as_jemma("why", name, "-n", "vision").stdout.split())
            self.assertTrue(said.startswith(f"pod/bare waits: {message}. [{reason}]"), said)
            self.assertIn("project vision asks 3 GPUs since", said)
        row = self.ls("-n", "vision", config=self.jemma)["vision/pod/bare"]
        self.assertEqual((row["state"], row["reason"], row["why"]), ("queued", reason, message))

    def test_a_paused_job_says_for_whom_as_far_as_who_asks_may_know(self):
        self.start_deciding()
        self.project("owner", 16)
        self.project("vision", 0)
        self.job("vision", "long", 2, 8)
        self.await_bound(2, "vision")
        self.await_state("vision/job/long", "running")
        self.assertRegex(self.words("job/long", "-n", "vision"),
                         r"^job/long is running on node-00000, node-00001; it does not wait. "
                         r"project vision has 16 GPUs as 2 pods since \d\d:\d\d:\d\d, \S+ ago$")
        self.job("owner", "urgent", 1, 8)
        self.await_bound(1, "owner", "urgent")
        row = self.await_state("vision/job/long", "paused", "reclaimed lent GPUs")
        self.assertEqual((row["gpus"], row["pauses"], row["last_pause"]["rule"]),
                         (16, 1, "reclaim"))
        receipt = self.annotations("vision", "long")
        self.assertEqual(row["history"]["attained_gpu_seconds"],
                         receipt["berth.dev/history"]["attained_gpu_ms"] // 1000)
        self.assertRegex(self.words("job/long", "-n", "vision"),
                         r"paused \d\d:\d\d:\d\d for owner/job/urgent, .* "
                         "resumes as soon as GPUs are free")
        said = " ".join(self.as_jemma("why", "job/long", "-n", "vision").stdout.split())
        self.assertRegex(said, r"paused \d\d:\d\d:\d\d for a job of another namespace, ")
        self.assertNotIn("urgent", said)
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(2, "vision", "long")
        row = self.await_state("vision/job/long", "running")
        self.assertEqual(row["pauses"], 1)

    def test_for_whom_a_job_of_the_same_namespace_was_paused_all_who_see_it_may_know(self):
        self.start_deciding()
        self.project("vision", 16)
        classes = "/apis/scheduling.k8s.io/v1/priorityclasses"
        self.api.create(classes, {"metadata": {"name": "sooner"}, "value": 90})
        self.addCleanup(self.api.delete, f"{classes}/sooner")
        self.job("vision", "long", 2, 8)
        self.await_bound(2, "vision")
        self.api.create(f"{BATCH}/vision/jobs", {"metadata": {"name": "first"}, "spec": {
            "template": {"spec": template(8, priorityClassName="sooner")}}})
        self.await_bound(1, "vision", "first")
        self.await_state("vision/job/long", "paused", "a job of its project goes first")
        said = " ".join(self.as_jemma("why", "long", "-n", "vision").stdout.split())
        self.assertIn(" for vision/job/first, ", said)

    def test_what_is_on_its_way_says_so(self):
        """Without kubelets nothing that is bound starts, and nothing that is to end does."""
        self.start_deciding()
        self.plane.kill("kubelets")
        self.addCleanup(lambda: "kubelets" in self.plane.children or self.plane.run_kubelets())
        self.project("owner", 16)
        self.project("vision", 0)
        self.job("vision", "long", 2, 8)
        row = self.await_state("vision/job/long", "starting", "its containers are being started")
        self.assertEqual(row["nodes"], {"node-00000": 1, "node-00001": 1})
        self.job("owner", "urgent", 1, 8)
        row = self.await_state("vision/job/long", "pausing", "reclaimed lent GPUs")
        self.assertEqual(sum(row["nodes"].values()), 2)
        self.await_state("owner/job/urgent", "queued", "8 GPUs are being freed")
        self.plane.run_kubelets()
        self.await_state("owner/job/urgent", "running")
        self.await_state("vision/job/long", "paused")

    def test_a_gang_of_unlike_pods_says_so(self):
        self.start_deciding()
        self.project("vision", 16)
        group = {"labels": {"pod-group-name": "unlike"},
                 "annotations": {"kai.scheduler/batch-min-member": "2"}}
        for name, cpu in (("unlike-0", "1"), ("unlike-1", "2")):
            spec = template(8)
            spec["containers"][0]["resources"]["limits"]["cpu"] = cpu
            self.api.create("/api/v1/namespaces/vision/pods",
                            {"metadata": {"name": name, **group}, "spec": spec})
        # Either pod gives the group its name.
        reason = "its pods ask for the same GPUs and for different CPU or memory"
        eventually(lambda: [row for row in self.ls("-A", "-a").values()
                            if row["state"] == "queued" and reason in row["why"]], reason)

    def test_what_waits_for_something_else_than_berth_says_for_what(self):
        self.start_deciding()
        self.project("vision", 16)
        held = {"metadata": {"name": "limit"}, "spec": {"hard": {"count/pods": "0"}}}
        self.job("vision", "mine", 1, 1, suspend=True)
        self.await_state("vision/job/mine", "paused", "on hold: a user set spec.suspend")
        self.assertIn("kubectl patch job/mine -n vision", self.words("mine", "-n", "vision"))
        self.pod("vision", "gated", 1, schedulingGates=[{"name": "example.org/wait"}])
        self.await_state("vision/pod/gated", "queued",
                         "scheduling gates must be removed first: example.org/wait")
        self.api.create("/api/v1/namespaces/vision/resourcequotas", held)
        limit = "/api/v1/namespaces/vision/resourcequotas/limit"
        self.addCleanup(self.api.send, "DELETE", limit)
        # Admission passes over one whose use was not counted yet.
        eventually(lambda: self.api.get(limit).get("status", {}).get("hard"), "the quota is kept")
        self.job("vision", "none", 2, 1)
        self.await_state("vision/job/none", "queued", "its pods do not exist yet")

    def test_what_is_not_berths_is_not_listed_and_says_whose_it_is(self):
        self.start_deciding()
        self.project("vision", 16)
        self.pod("default", "plain", 1)
        self.addCleanup(self.api.delete, "/api/v1/namespaces/default/pods/plain")
        self.pod("vision", "own", 1, schedulerName="volcano")
        self.pod("vision", "ignored", 1, labels={"berth.dev/ignore": "true"})
        for name, why in (("default/pod/plain", "namespace default has no label berth.dev/project"),
                          ("vision/pod/own", "its spec.schedulerName says so"),
                          ("vision/pod/ignored", 'its label berth.dev/ignore is "true"')):
            self.assertIn(f"not for Berth: {why}", self.words(name))
            self.assertNotIn(name, self.ls("-A"))

    def test_what_has_ended_is_listed_on_request_and_a_pod_of_a_job_is_its_job(self):
        self.start_deciding()
        self.project("vision", 16)
        self.job("vision", "short", 1, 1)
        self.await_bound(1, "vision")
        pod = self.pods("vision")[0]["metadata"]["name"]
        self.assertEqual(self.why(f"pod/{pod}", "-n", "vision")["name"], "job/short")
        self.api.patch(f"/api/v1/namespaces/vision/pods/{pod}/status",
                       {"status": {"phase": "Succeeded"}})
        self.await_state("vision/job/short", "succeeded")
        self.assertNotIn("vision/job/short", self.ls("-A"))

    def test_ls_why_and_fairshare_agree(self):
        self.start_deciding()
        self.project("research", 8)
        self.project("vision", 4, parent="research")
        self.job("vision", "runs", 2, 3)
        self.await_bound(2, "vision")
        self.job("vision", "waits", 2, 8)
        runs = self.await_state("vision/job/runs", "running")
        waits = self.await_state("vision/job/waits", "queued", "GPUs")
        self.assertEqual((runs["gpus"], runs["nodes"], waits["gpus"]), (6, runs["nodes"], 16))
        eventually(lambda: self.use("vision")[2:] == (6, 2, 1), "its numbers are shown")
        quota, fair, used, over, waiting = self.use("vision")
        text = self.berth("fairshare", "vision").stdout
        self.assertEqual(text.split("\n")[0],
                         f"vision is entitled to {fair} GPUs of the pool default now")
        self.assertEqual(text.split("\n")[3].split(),
                         ["vision", *map(str, (quota, fair, used, over, waiting))])
        tree = self.berth("fairshare").stdout.split("\n")
        self.assertRegex(tree[1], r"^research +8 ")
        self.assertRegex(tree[2], r"^  vision +4 ")
        listed = self.ls("-A", "-p", "vision").values()
        self.assertEqual(sum(row["gpus"] for row in listed if row["nodes"]), used)
        self.assertEqual(sum(row["state"] == "queued" for row in listed), waiting)
        self.assertEqual(self.berth("ls", "-A", "-q", "-p", "research").stdout, "")
        self.assertEqual(sorted(self.berth("ls", "-n", "vision", "-o", "name").stdout.split()),
                         ["job/runs", "job/waits"])

    def test_a_list_of_more_than_a_page_is_whole(self):
        self.project("vision", 1)
        for number in range(502):
            self.job("vision", f"held-{number}", 1, 1, suspend=True)
        rows = self.ls("-n", "vision")
        self.assertEqual(len(rows), 502)
        self.assertTrue(all(row["held"] for row in rows.values()))

    # --- rights ------------------------------------------------------------------------------

    def test_who_may_read_one_namespace_is_told_what_gives_the_right_to_another(self):
        self.project("owner", 1)
        self.pod("owner", "secret", 1)
        for words in (("why", "secret", "-n", "owner"), ("ls", "-n", "owner"), ("ls", "-A")):
            refused = self.as_jemma(*words, code=126)
            self.assertNotIn("secret waits", refused.stdout)
            self.assertIn('User "jemma" cannot ', refused.stderr)
        self.follow(self.as_jemma("ls", "-n", "owner", code=126).stderr)
        self.addCleanup(self.plane.kubectl, "delete", "rolebinding", "jemma-view", "-n", "owner")
        eventually(lambda: "pod/secret" in self.berth_says("ls", "-n", "owner"), "she may")

    def test_projects_are_for_those_who_may_view_the_cluster(self):
        self.project("elsewhere", 1)
        listed = {"metadata": {"name": "listed"}}
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", **listed, "kind": "Project",
            "spec": {"namespaces": ["vision"]}})
        self.addCleanup(self.api.delete, f"{KINDS}/projects/listed")
        self.api.patch("/api/v1/namespaces/vision", {"metadata": {"labels": {
            "berth.dev/project": None}}})
        self.pod("vision", "asks", 1, schedulerName="berth")
        self.addCleanup(self.api.send, "DELETE", "/api/v1/namespaces/vision/pods/asks")
        said = self.as_jemma("ls", "-n", "vision")
        self.assertRegex(said.stdout, r"(?m)^pod/asks +- ")
        self.assertIn("not read: Projects: ", said.stderr)
        refused = self.as_jemma("fairshare", code=126)
        self.assertIn("berth-view", refused.stderr)
        self.follow(refused.stderr)
        self.addCleanup(self.plane.kubectl, "delete", "clusterrolebinding", "jemma-berth-view")
        eventually(lambda: "elsewhere" in self.berth_says("fairshare"), "she may")
        self.assertRegex(self.as_jemma("ls", "-n", "vision").stdout, r"(?m)^pod/asks +listed ")

    def test_view_of_the_cluster_has_projects_in_it(self):
        self.plane.user("victor")
        self.plane.kubectl("create", "clusterrolebinding", "victor", "--clusterrole", "view",
                           "--user", "victor")
        self.project("seen", 1)
        config = self.plane.path / "pki/victor.kubeconfig"
        eventually(lambda: "seen" in self.berth_says("fairshare", config=config), "the user may")
        victor = self.plane.client("victor")
        self.assert_refused(403, victor.patch, f"{KINDS}/projects/seen", {"spec": {"quota": 9}})

    def berth_says(self, *words, config=None):
        """Whether it is allowed by now or not."""
        return subprocess.run(
            [PROGRAM, "kube", *words], capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, "KUBECONFIG": str(config or self.jemma)}).stdout

    def follow(self, error):
        """Does what the error says an administrator does."""
        command = error.split("gives the right: kubectl ")[1].split("\n")[0]
        self.plane.kubectl(*command.split())

    # --- errors, and kubectl -----------------------------------------------------------------

    def test_unknown_names_are_answered_with_the_nearest(self):
        self.project("vision", 1)
        self.job("vision", "train", 1, 1)
        for words, error in (
                (("why", "trian", "-n", "vision"),
                 'no job or pod "trian" in namespace "vision", did you mean "train"?'),
                (("why", "pod/train", "-n", "vision"), 'no pod "train" in namespace "vision"'),
                (("why", "train", "-n", "visoin"), 'no namespace "visoin"'),
                (("fairshare", "visoin"), 'no project "visoin", did you mean "vision"?')):
            self.assertIn(error, self.berth(*words, code=127).stderr)
        self.assertIn("wanted job/NAME, pod/NAME or NAME",
                      self.berth("why", "a/deployment/b", code=124).stderr)
        self.assertIn("-n and -A: one of them", self.berth("ls", "-A", "-n", "x", code=124).stderr)

    def test_kubectl_runs_it_as_its_plugin(self):
        self.project("vision", 1)
        self.job("vision", "train", 1, 1, suspend=True)
        with tempfile.TemporaryDirectory() as folder:
            plugin = pathlib.Path(folder) / "kubectl-berth"
            plugin.symlink_to(PROGRAM)
            environment = {**os.environ, "KUBECONFIG": str(self.plane.path / "kubeconfig"),
                           "PATH": f"{folder}:{os.environ['PATH']}"}

            def kubectl(*words):
                return subprocess.run([self.plane.kubectl_command()[0], "berth", *words], text=True,
                                      env=environment, capture_output=True, timeout=PATIENCE)
            said = kubectl("why", "job/train", "-n", "vision")
            self.assertEqual(said.stdout, self.berth("why", "job/train", "-n", "vision").stdout)
            self.assertEqual(kubectl("why", "job/trian", "-n", "vision").returncode, 127)
            for words in ((), ("--help",), ("help",)):
                self.assertIn("berth kube why", kubectl(*words).stdout)


class NotInstalled(InstallCase):
    PROGRAM = PROGRAM

    def test_a_server_that_is_not_there_is_named(self):
        config = (self.plane.path / "kubeconfig").read_text()
        with tempfile.NamedTemporaryFile("w", suffix=".kubeconfig") as file:
            file.write(config.replace(self.plane.server, "https://127.0.0.1:1"))
            file.flush()
            said = self.berth("ls", "--timeout", "100ms", code=125, config=file.name).stderr
        self.assertIn("https://127.0.0.1:1: ", said)

    def test_a_cluster_without_berth_says_so(self):
        for words in (("why", "x"), ("ls",), ("fairshare",)):
            said = self.berth(*words, code=1).stderr
            self.assertIn("Berth is not installed on https://127.0.0.1:", said)
            self.assertIn("berth kube install", said)


if __name__ == "__main__":
    main()
