# SPDX-License-Identifier: Apache-2.0
"""berth kube scheduler on a real server: who is placed, who waits and is told why, who is paused
for whom, and what a scheduler that takes over knows."""
import signal
import sys
import time

from kube_case import eventually, main
from scheduler_case import BATCH, SchedulerCase

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
        eventually(lambda: self.status("owner") == {"used": 8, "over": 0, "waiting": 0} and
                   self.status("borrower") == {"used": 0, "over": 0, "waiting": 1},
                   "the Projects say who uses what and who waits")
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(2, "borrower", "long")
        after = self.annotations("borrower", "long")
        self.assertFalse(after["berth.dev/last-pause"]["paused"])
        self.assertEqual(after["berth.dev/history"]["pauses"], 1)
        job = self.api.get(f"{BATCH}/borrower/jobs/long")
        self.assertEqual(job["status"].get("failed", 0), 0)

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

    def test_what_it_does_not_do_is_refused_by_the_fields_name(self):
        self.start_deciding()
        self.project("vision", 16)
        self.pod("vision", "port", 1, containers=[{
            "name": "main", "image": "fake", "ports": [{"containerPort": 80, "hostPort": 80}]}])
        _, message = eventually(lambda: self.reason("vision", "port")[1] and
                                self.reason("vision", "port"), "it says why")
        self.assertIn("hostPort", message)


class TakingOver(SchedulerCase):
    PROGRAM = PROGRAM

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
        attained = self.annotations("borrower", "long")["berth.dev/history"]["attained_gpu_ms"]
        began = time.monotonic()
        first.kill()
        self.await_line(second, "decides")
        print(f"failover after kill -9: {time.monotonic() - began:.2f} s")
        self.api.delete(f"{BATCH}/owner/jobs/urgent?propagationPolicy=Background")
        self.await_bound(1, "borrower", "long")
        again = self.annotations("borrower", "long")
        self.assertFalse(again["berth.dev/last-pause"]["paused"])
        self.assertGreaterEqual(again["berth.dev/history"]["attained_gpu_ms"], attained)
        self.assertEqual(self.refused_by_kubelets(), [])


if __name__ == "__main__":
    main()
