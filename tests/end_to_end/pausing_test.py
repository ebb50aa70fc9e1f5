# SPDX-License-Identifier: Apache-2.0
"""Pausing and resuming, by hand and for the owner of a quota."""
import time

from server_case import Refused, ServerCase, eventually, main

# Saves on TERM what it has counted, and goes on from there.
COUNTER = """
cd "$BERTH_CHECKPOINT_DIR"
count=$(cat count 2>/dev/null || echo 0)
trap 'echo $count > count; echo "saved $count"; exit 0' TERM
echo "attempt $BERTH_ATTEMPT from $count"
while [ $count -lt %d ]; do count=$((count + 1)); sleep 0.01; done
echo "done $count"
"""


class Pausing(ServerCase):
    FLAGS = ("--gpus", "sim:8x80G", "--min-runtime", "0")

    def test_a_paused_job_goes_on_where_it_was(self):
        job = self.shell(COUNTER % 60)
        eventually(lambda: "attempt 1" in self.log(job))
        self.server.request("POST", f"jobs/{job}/pause")
        paused = self.server.wait_for_state(job, "paused")
        self.assertTrue(paused["last_pause"]["saved"])
        self.server.request("POST", f"jobs/{job}/resume")
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["attempts"], ended["pauses"]), ("succeeded", 2, 1))
        saved = self.log(job, attempt=1).split("saved ")[1].strip()
        self.assertIn(f"attempt 2 from {saved}", self.log(job, attempt=2))
        self.assertIn("done 60", self.log(job, attempt=2))

    def test_a_job_without_a_handler_is_ended_and_counts_as_not_saved(self):
        job = self.server.submit(["sleep", "1000"])["id"]
        self.server.wait_for_state(job, "running")
        self.server.request("POST", f"jobs/{job}/pause")
        paused = self.server.wait_for_state(job, "paused")
        self.assertFalse(paused["last_pause"]["saved"])

    def test_a_job_that_will_not_stop_is_killed_at_the_end_of_its_grace(self):
        job = self.shell("trap '' TERM; echo ready; while :; do sleep 0.1; done")
        eventually(lambda: "ready" in self.log(job))
        self.server.request("POST", f"jobs/{job}/pause", {"grace": 0.3})
        paused = self.server.wait_for_state(job, "paused")
        self.assertFalse(paused["last_pause"]["saved"])

    def test_cancelled_while_it_pauses_it_ends_once_its_task_has(self):
        """What its task leaves behind is not given the rest of the grace, here ten minutes."""
        job = self.shell("trap 'exit 0' TERM; (trap '' TERM; echo ready; sleep 3000) & wait; wait")
        eventually(lambda: "ready" in self.log(job))
        self.server.request("POST", f"jobs/{job}/pause", {"grace": "10m"})
        time.sleep(0.1)  # by then its task has ended, and what it leaves has 0.1 s more
        self.server.request("POST", f"jobs/{job}/cancel", {"grace": "10m"})
        self.assertEqual(self.server.wait(job)["state"], "cancelled")

    def test_a_grace_beyond_its_limit_is_refused_and_the_job_runs_on(self):
        job = self.server.submit(["sleep", "1000"])["id"]
        self.server.wait_for_state(job, "running")
        for verb in ("pause", "cancel"):
            for grace in (601, "24h"):
                with self.assertRaises(Refused) as refused:
                    self.server.request("POST", f"jobs/{job}/{verb}", {"grace": grace})
                self.assertEqual(refused.exception.status, 400)
                self.assertIn("grace: wanted 0s to 10m, found", str(refused.exception))
        self.assertEqual(self.state(job), "running")

    def test_the_owner_of_a_quota_gets_it_back_and_the_borrower_resumes_by_itself(self):
        for name, quota in (("owner", 4), ("borrower", 0)):
            self.server.request("PUT", f"projects/{name}", {"quota": quota})
        lent = [self.shell(COUNTER % 400, project="borrower", gpus=4) for _ in range(2)]
        for job in lent:
            eventually(lambda: "attempt 1" in self.log(job))
        owner = self.shell("echo mine; sleep 0.5", project="owner", gpus=4)
        self.assertEqual(self.server.wait(owner)["state"], "succeeded")
        ended = [self.server.wait(job) for job in lent]
        self.assertEqual([job["state"] for job in ended], ["succeeded", "succeeded"])
        self.assertEqual(sum(job["pauses"] for job in ended), 1)
        paused = next(job for job in ended if job["pauses"] == 1)
        self.assertEqual(paused["last_pause"]["rule"], "reclaim")
        self.assertEqual(paused["last_pause"]["beneficiary"], owner)


class Moving(ServerCase):
    FLAGS = ("--gpus", "sim:2x80G", "--min-runtime", "0")

    def test_a_job_in_the_way_restarts_at_another_gpu_with_its_next_attempt(self):
        half = {"share": 0.5}
        counters = [self.shell(COUNTER % 400, request=half) for _ in range(4)]  # two on each GPU
        for job in counters:
            self.server.wait_for_state(job, "running")
            eventually(lambda job=job: "attempt 1" in self.log(job))
        places = {job: self.place(job) for job in counters}
        stays = counters[0]
        moves = next(job for job in counters if places[job] != places[stays])
        for job in counters:
            if job not in (stays, moves):
                self.server.request("POST", f"jobs/{job}/cancel")
                self.server.wait(job)
        whole = self.shell("echo whole")
        self.assertEqual(self.server.wait(whole)["state"], "succeeded")
        ended = [self.server.wait(job) for job in (stays, moves)]
        self.assertEqual([job["state"] for job in ended], ["succeeded", "succeeded"])
        moved = next(job for job in ended if job["attempts"] == 2)
        self.assertEqual(sum(job["pauses"] for job in ended), 1)
        self.assertEqual(moved["last_pause"]["rule"], "consolidate")
        self.assertEqual(moved["last_pause"]["beneficiary"], whole)
        self.assertIn("attempt 2 from", self.log(moved["id"], attempt=2))
        self.assertIn("done 400", self.log(moved["id"], attempt=2))

    def place(self, job):
        return self.server.get(f"jobs/{job}")["tasks"][0]["gpus"]


if __name__ == "__main__":
    main()
