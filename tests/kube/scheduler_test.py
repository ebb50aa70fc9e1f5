# SPDX-License-Identifier: Apache-2.0
"""berth kube scheduler on a real server: which gangs are placed, which wait and why, which are
paused for which, and what a scheduler that takes over knows."""
import contextlib
import signal
import socket
import sys
import time

from install_case import KINDS
from kube_case import eventually, main
import kinds_cases
import metrics
from scheduler_case import ACCOUNT, BATCH, SYSTEM, SchedulerCase, template

PROGRAM = sys.argv.pop(1)


class Placing(SchedulerCase):
    PROGRAM = PROGRAM

    def tearDown(self):
        self.assertEqual(self.refused_by_kubelets(), [])

    def test_a_pod_with_nothing_said_is_placed_in_a_project_and_left_alone_elsewhere(self):
        self.start_deciding()
        self.project("vision", 4)
        self.pod("vision", "plain", 1)
        self.pod("default", "plain", 1)
        self.await_bound(1, "vision")
        eventually(lambda: self.pods("vision")[0]["status"]["phase"] == "Running", "it runs")
        self.stays(lambda: self.bound("default") == 0)
        self.assertEqual(self.reason("default", "plain"), (None, None))
        self.api.delete("/api/v1/namespaces/default/pods/plain")

    def test_a_gang_is_bound_whole_or_not_at_all(self):
        self.start_deciding()
        self.project("vision", 16)
        self.pod("vision", "in-the-way", 1)
        self.await_bound(1, "vision")
        self.job("vision", "gang", 2, 8)
        eventually(lambda: len(self.pods("vision")) == 3, "its pods are there")
        self.stays(lambda: self.bound("vision", "gang") == 0)
        first = min(pod["metadata"]["name"] for pod in self.pods("vision")
                    if pod["metadata"]["name"].startswith("gang"))
        reason, message = eventually(lambda: self.reason("vision", first)[1] and
                                     self.reason("vision", first), "its first pod says why")
        self.assertEqual(reason, "Unschedulable")
        self.assertIn("16 GPUs", message)
        self.api.delete("/api/v1/namespaces/vision/pods/in-the-way")
        self.await_bound(2, "vision", "gang")

    def test_what_is_above_a_quota_waits_for_the_quota(self):
        self.start_deciding()
        self.project("vision", 2)
        self.pod("vision", "bare", 3)
        reason, message = eventually(lambda: self.reason("vision", "bare")[1] and
                                     self.reason("vision", "bare"), "it says why")
        self.assertIn("quota", message)
        self.api.patch("/apis/berth.dev/v1alpha1/projects/vision", {"spec": {"quota": 3}})
        self.await_bound(1, "vision")

    def test_an_owner_takes_back_what_was_lent_and_the_borrower_goes_on_by_itself(self):
        self.start_deciding()
        self.project("owner", 16)
        self.project("borrower", 0)
        self.job("borrower", "long", 2, 8)
        self.await_bound(2, "borrower")
        self.job("owner", "urgent", 1, 8)
        self.await_bound(1, "owner", "urgent")
        paused = self.annotations("borrower", "long")
        self.assertTrue(paused["berth.dev/last-pause"]["paused"])
        self.assertEqual(paused["berth.dev/last-pause"]["rule"], "reclaim")
        self.assertEqual(paused["berth.dev/last-pause"]["for"],
                         self.api.get(f"{BATCH}/owner/jobs/urgent")["metadata"]["uid"])
        self.assertGreater(paused["berth.dev/history"]["attained_gpu_ms"], 0)
        self.stays(lambda: self.bound("borrower") == 0)
        eventually(lambda: self.use("owner") == (16, 8, 8, 0, 0) and
                   self.use("borrower") == (0, 8, 0, 0, 1),
                   "the Projects say who uses what and who waits")
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(2, "borrower", "long")
        after = self.annotations("borrower", "long")
        self.assertFalse(after["berth.dev/last-pause"]["paused"])
        self.assertEqual(after["berth.dev/history"]["pauses"], 1)
        job = self.api.get(f"{BATCH}/borrower/jobs/long")
        self.assertEqual(job["status"].get("failed", 0), 0)

    def test_many_small_victims_leave_at_once_and_none_of_them_counts_as_failed(self):
        self.start_deciding()
        self.project("owner", 16)
        self.project("borrower", 0)
        for number in range(16):
            self.job("borrower", f"small-{number}", 1, 1)
        self.await_bound(16, "borrower")
        self.job("owner", "urgent", 2, 8)
        self.await_bound(2, "owner", "urgent")
        jobs = self.api.get(f"{BATCH}/borrower/jobs")["items"]
        self.assertTrue(all(job["spec"]["suspend"] for job in jobs))
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(16, "borrower")
        for job in self.api.get(f"{BATCH}/borrower/jobs")["items"]:
            self.assertEqual((job["status"].get("failed", 0), job["status"].get("succeeded", 0)),
                             (0, 0))

    def test_a_bare_pod_is_deleted_for_an_owner_only_if_it_says_that_it_may_be(self):
        self.start_deciding()
        self.project("owner", 16)
        self.project("borrower", 8)
        self.pod("borrower", "stays", 8)
        self.await_bound(1, "borrower")
        self.pod("borrower", "willing", 8, labels={"berth.dev/preemptible": "true"})
        self.await_bound(2, "borrower")
        self.job("owner", "urgent", 1, 8)
        self.await_bound(1, "owner", "urgent")
        self.assertEqual([pod["metadata"]["name"] for pod in self.pods("borrower")], ["stays"])

    def test_a_job_under_a_disruption_budget_is_not_paused_and_waits_for_its_quota(self):
        self.start_deciding()
        self.project("owner", 8)
        self.project("borrower", 8)
        budgets = "/apis/policy/v1/namespaces/borrower/poddisruptionbudgets"
        self.api.create(budgets, {"metadata": {"name": "guard"}, "spec": {
            "minAvailable": 1, "selector": {"matchExpressions": [
                {"key": "batch.kubernetes.io/job-name", "operator": "In",
                 "values": ["guarded", "above"]}]}}})
        self.addCleanup(self.api.send, "DELETE", f"{budgets}/guard")
        # The last one that came would be the first to go.
        self.job("borrower", "plain", 1, 8)
        self.await_bound(1, "borrower")
        self.job("borrower", "guarded", 1, 8)
        self.await_bound(2, "borrower")
        self.job("owner", "urgent", 1, 8)
        self.await_bound(1, "owner")
        self.await_bound(0, "borrower", "plain")
        self.assertEqual(self.bound("borrower", "guarded"), 1)
        self.assertTrue(self.api.get(f"{BATCH}/borrower/jobs/plain")["spec"]["suspend"])
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(1, "borrower", "plain")
        self.api.delete(f"{BATCH}/borrower/jobs/plain?propagationPolicy=Background")
        self.job("borrower", "above", 1, 8)
        above = eventually(lambda: [
            pod["metadata"]["name"] for pod in self.pods("borrower")
            if pod["metadata"]["name"].startswith("above")], "its pod is there")[0]
        reason, message = eventually(lambda: self.reason("borrower", above)[1] and
                                     self.reason("borrower", above), "it says why")
        self.assertEqual(reason, "QuotaExceeded")
        self.assertIn('because PodDisruptionBudget "guard" selects its pods', message)
        self.api.delete(f"{budgets}/guard")
        self.await_bound(1, "borrower", "above")

    def test_a_job_that_somebody_suspends_is_his(self):
        self.start_deciding()
        self.project("vision", 16)
        self.job("vision", "mine", 1, 1)
        self.await_bound(1, "vision")
        self.api.patch(f"{BATCH}/vision/jobs/mine", {"spec": {"suspend": True}})
        eventually(lambda: not self.pods("vision"), "its pods are gone")
        self.stays(lambda: self.api.get(f"{BATCH}/vision/jobs/mine")["spec"]["suspend"])
        self.api.patch(f"{BATCH}/vision/jobs/mine", {"spec": {"suspend": False}})
        self.await_bound(1, "vision")

    def test_a_project_uses_the_pools_in_which_it_has_rights(self):
        pools = f"{KINDS}/pools"
        self.api.create(pools, {"apiVersion": "berth.dev/v1alpha1", "kind": "Pool",
                                "metadata": {"name": "apart"},
                                "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-00001"}}})
        self.addCleanup(self.api.delete, f"{pools}/apart")
        self.start_deciding()
        self.project("vision", 8, pools={"apart": {"quota": 8}})
        for node in ("node-00000", "node-00001"):
            self.pod("vision", node, 8, nodeSelector={"kubernetes.io/hostname": node})
        self.await_bound(2, "vision")

    def test_pools_say_how_much_idles(self):
        self.start_deciding()
        pools = f"{KINDS}/pools"
        self.api.create(pools, {"apiVersion": "berth.dev/v1alpha1", "kind": "Pool",
                                "metadata": {"name": "first"},
                                "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-00000"}}})
        self.addCleanup(self.api.delete, f"{pools}/first")
        eventually(lambda: self.api.get(f"{pools}/first").get("status") ==
                   {"nodes": 1, "gpus": 8, "idle": 8}, "the Pool says so")

    def test_what_it_does_not_do_is_refused_by_the_fields_name(self):
        self.start_deciding()
        self.project("vision", 16)
        self.pod("vision", "port", 1, containers=[{
            "name": "main", "image": "fake", "ports": [{"containerPort": 80, "hostPort": 80}]}])
        _, message = eventually(lambda: self.reason("vision", "port")[1] and
                                self.reason("vision", "port"), "it says why")
        self.assertIn("hostPort", message)


class Mischief(SchedulerCase):
    """What people do to a cluster, on purpose and otherwise."""

    PROGRAM = PROGRAM

    def test_a_quota_is_for_the_namespaces_of_its_project(self):
        self.start_deciding()
        self.project("poor", 0)
        self.project("rich", 16)
        self.pod("poor", "thief", 1, labels={"berth.dev/project": "rich"})
        _, message = eventually(lambda: self.reason("poor", "thief")[1] and
                                self.reason("poor", "thief"), "it says why")
        self.assertIn("in no project", message)

    def test_a_paused_job_whose_template_was_changed_is_placed_as_it_asks_now(self):
        self.start_deciding()
        self.project("owner", 16)
        self.project("borrower", 0)
        self.job("borrower", "changed", 1, 2)
        self.await_bound(1, "borrower")
        self.job("owner", "urgent", 2, 8)
        self.await_bound(2, "owner")
        self.api.patch(f"{BATCH}/borrower/jobs/changed", {"spec": {"template": {"spec": {
            "containers": template(8)["containers"]}}}})
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.pod("owner", "beside", 1)
        self.await_bound(1, "borrower", "changed")
        eventually(lambda: self.pods("borrower")[0]["status"]["phase"] == "Running", "it runs")
        self.assertEqual(self.refused_by_kubelets(), [])

    def test_pods_that_a_deleted_job_leaves_behind_keep_their_gpus_and_end(self):
        self.start_deciding()
        self.project("vision", 16)
        self.job("vision", "left", 2, 4)
        self.await_bound(2, "vision")
        self.api.delete(f"{BATCH}/vision/jobs/left?propagationPolicy=Orphan")
        eventually(lambda: not any(pod["metadata"].get("ownerReferences")
                                   for pod in self.pods("vision")), "they have no owner")
        self.job("vision", "next", 2, 8)
        self.stays(lambda: self.bound("vision") == 2)
        self.api.send("DELETE", "/api/v1/namespaces/vision/pods?labelSelector="
                      "batch.kubernetes.io/job-name%3Dleft")
        self.await_bound(2, "vision", "next")
        self.assertEqual(self.refused_by_kubelets(), [])

    def test_it_begins_whatever_is_declared_and_runs(self):
        first = self.start_deciding()
        self.project("vision", 16)
        self.pod("vision", "runs", 1)
        self.await_bound(1, "vision")
        # Its project becomes a department, the levels are others, a node has labels beyond reason.
        self.project("below", 4, parent="vision")
        self.api.create(f"{KINDS}/policies", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "default"},
            "spec": {"levels": ["rack"]}})
        self.addCleanup(self.api.delete, f"{KINDS}/policies/default")
        self.api.patch("/api/v1/nodes/node-00001", {"metadata": {"labels": {
            f"many-{number}": "x" for number in range(300)}}})
        self.end(first)
        self.start_deciding()
        self.pod("below", "new", 1)
        self.await_bound(1, "below")


class Kinds(kinds_cases.Kinds):
    PROGRAM = PROGRAM


class TakingOver(SchedulerCase):
    PROGRAM = PROGRAM

    def test_it_goes_on_when_the_api_server_was_killed(self):
        self.start_deciding()
        self.project("vision", 16)
        self.pod("vision", "before", 1)
        self.await_bound(1, "vision")
        self.plane.restart("kube-apiserver")
        eventually(self.plane.is_ready, "the API server is ready")
        began = time.monotonic()
        self.pod("vision", "after", 1)
        self.await_bound(2, "vision")
        print(f"first bind after the API server is ready again: {time.monotonic() - began:.2f} s")

    def test_the_next_one_takes_over_at_once_when_the_first_is_ended(self):
        first = self.start_deciding()
        second = self.start()
        self.await_line(second, "waits")
        self.project("vision", 16)
        self.pod("vision", "before", 1)
        self.await_bound(1, "vision")
        began = time.monotonic()
        first.send_signal(signal.SIGTERM)
        self.await_line(second, "decides")
        took = time.monotonic() - began
        self.assertEqual(first.wait(), 0)
        print(f"failover after SIGTERM: {took:.2f} s")
        self.pod("vision", "after", 1)
        self.await_bound(2, "vision")

    def test_a_killed_leader_is_followed_by_one_that_knows_what_was_paused(self):
        first = self.start_deciding()
        second = self.start()
        self.project("owner", 16)
        self.project("borrower", 0)
        self.job("borrower", "long", 1, 8)
        self.await_bound(1, "borrower")
        self.job("owner", "urgent", 2, 8)
        self.await_bound(2, "owner", "urgent")
        paused = self.annotations("borrower", "long")
        attained = paused["berth.dev/history"]["attained_gpu_ms"]
        began = time.monotonic()
        first.kill()
        self.await_line(second, "decides")
        print(f"failover after kill -9: {time.monotonic() - began:.2f} s")
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(1, "borrower", "long")
        again = self.annotations("borrower", "long")
        self.assertEqual(again["berth.dev/last-pause"],
                         {**paused["berth.dev/last-pause"], "paused": False})
        self.assertGreaterEqual(again["berth.dev/history"]["attained_gpu_ms"], attained)
        self.assertEqual(again["berth.dev/history"]["pauses"], 1)
        self.assertEqual(self.refused_by_kubelets(), [])

    def test_a_gang_keeps_what_it_was_promised_when_the_leader_is_killed(self):
        policies = f"{KINDS}/policies"
        self.api.create(policies, {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Policy", "metadata": {"name": "default"},
            "spec": {"settings": {"reservation_hold": "1h"}}})
        self.addCleanup(self.api.delete, f"{policies}/default")
        first = self.start_deciding()
        second = self.start()
        self.project("owner", 16)
        self.project("borrower", 0)
        self.job("borrower", "one", 1, 8)
        self.await_bound(1, "borrower")
        pod = self.pods("borrower")[0]["metadata"]
        stays = f"/api/v1/namespaces/borrower/pods/{pod['name']}"
        self.api.patch(stays, {"metadata": {"finalizers": [
            *pod.get("finalizers", []), "tests.berth.dev/stays"]}})
        self.addCleanup(self.let_go, stays)
        self.job("borrower", "other", 1, 8)
        self.await_bound(2, "borrower")
        self.job("owner", "gang", 2, 8)
        promise = eventually(lambda: self.annotations("owner", "gang").get("berth.dev/promise"),
                             "it is written down")
        self.assertEqual(sorted(place["node"] for place in promise["places"]),
                         ["node-00000", "node-00001"])
        self.await_bound(1, "borrower")
        first.kill()
        # One GPU goes before sixteen, by the order of jobs.
        self.job("owner", "next", 1, 1)
        eventually(lambda: len(self.pods("owner")) == 3, "its pod is there")
        self.await_line(second, "decides")
        self.stays(lambda: self.bound("owner") == 0)
        self.let_go(stays)
        self.await_bound(2, "owner", "gang")
        self.assertEqual(self.bound("owner", "next"), 0)
        self.assertEqual(self.annotations("owner", "gang")["berth.dev/promise"], promise)
        self.assertEqual(self.refused_by_kubelets(), [])

    def let_go(self, path):
        self.api.send("PATCH", path, {"metadata": {"finalizers": None}},
                      "application/merge-patch+json")

    def test_it_is_ready_when_it_decides_or_could_take_over(self):
        self.plane.kill("kube-apiserver")
        first, its = self.start_listening()
        self.assertEqual(metrics.page(its, "/healthz"), (200, "ok\n"))
        status, words = eventually(lambda: "Lease" in metrics.page(its, "/readyz")[1] and
                                   metrics.page(its, "/readyz"), "it says what it lacks")
        self.assertEqual(status, 503, words)
        self.assertEqual(metrics.read(its)["berth_leads"], 0)
        self.plane.restart("kube-apiserver")
        eventually(self.plane.is_ready, "the API server is ready")
        leads = (200, "leads, and decides\n")
        eventually(lambda: metrics.page(its, "/readyz") == leads, "it leads")
        self.assertEqual(metrics.read(its)["berth_leads"], 1)
        second, others = self.start_listening()
        self.await_line(second, "waits")
        status, words = metrics.page(others, "/readyz")
        self.assertEqual((status, words[:7]), (200, "waits: "))
        self.assertEqual(metrics.read(others)["berth_leads"], 0)
        first.kill()
        eventually(lambda: metrics.page(others, "/readyz") == leads, "the other one leads")

    def test_its_metrics_count_what_it_did(self):
        _, its = self.start_listening()
        eventually(lambda: metrics.page(its, "/readyz")[0] == 200, "it decides")
        before = metrics.read(its)
        self.project("owner", 16)
        self.project("borrower", 0)
        self.job("borrower", "long", 2, 8)
        self.await_bound(2, "borrower")
        self.job("owner", "urgent", 1, 8)
        self.await_bound(1, "owner", "urgent")
        after = metrics.read(its)
        grown = {name: after[name] - before[name] for name in before if name.endswith("_total")}
        self.assertEqual(grown["berth_pods_bound_total"], 3)
        self.assertEqual(grown["berth_pauses_total"], 1)
        self.assertEqual(grown["berth_binds_refused_total"], 0)
        self.assertGreater(grown["berth_watch_events_total"], 0)
        self.assertEqual((after['berth_jobs{state="paused"}'], after['berth_jobs{state="queued"}']),
                         (1, 0))
        times = metrics.Times("berth_decision_seconds", before, after)
        self.assertGreaterEqual(times.count, 2)
        self.assertGreater(times.quantile(0.5), 0)

    def test_its_deployment_probes_pages_that_are_there(self):
        _, its = self.start_listening()
        eventually(lambda: metrics.page(its, "/readyz")[0] == 200, "it decides")
        deployment = self.api.get(f"/apis/apps/v1/namespaces/{SYSTEM}/deployments/{ACCOUNT}")
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        self.assertIn("--listen :8080", " ".join(container["args"]))
        self.assertEqual(container["ports"],
                         [{"name": "metrics", "containerPort": 8080, "protocol": "TCP"}])
        for probe in ("livenessProbe", "readinessProbe"):
            get = container[probe]["httpGet"]
            self.assertEqual(get["port"], "metrics")
            self.assertEqual(metrics.page(its, get["path"])[0], 200)
        self.assertEqual(metrics.page(its, "/other")[0], 404)

    def test_who_holds_connections_keeps_no_probe_from_its_page(self):
        _, its = self.start_listening()
        host, port = its.split(":")
        with contextlib.ExitStack() as held:
            for number in range(300):
                one = held.enter_context(socket.create_connection((host, int(port))))
                if number < 250:
                    one.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
                    one.recv(1)
            self.assertEqual(metrics.page(its, "/healthz"), (200, "ok\n"))


class Rights(SchedulerCase):
    """Its role has the rights that it uses and no others: what the API server's audit has seen in
    the tests above. (A pod is read when the answer to a bind is lost, which no test here does.)"""

    PROGRAM = PROGRAM
    UNSEEN = {("get", "pods")}

    def test_all_of_them_are_used_and_nothing_is_refused(self):
        used, refused = self.audited()
        self.assertEqual(refused, [])
        self.assertEqual(used | self.UNSEEN, self.granted())

    def granted(self):
        roles = "/apis/rbac.authorization.k8s.io/v1"
        rules = (self.api.get(f"{roles}/clusterroles/{ACCOUNT}")["rules"] +
                 self.api.get(f"{roles}/namespaces/{SYSTEM}/roles/{ACCOUNT}")["rules"])
        return {(verb, resource) for rule in rules for resource in rule["resources"]
                for verb in rule["verbs"]}


if __name__ == "__main__":
    main()
