# SPDX-License-Identifier: Apache-2.0
"""Jobs from submission to their end."""
from server_case import Refused, ServerCase, eventually, main


class Jobs(ServerCase):
    def test_a_job_runs_on_its_gpus_and_its_exit_code_is_kept(self):
        job = self.shell('echo "on $CUDA_VISIBLE_DEVICES"; exit 7', gpus=2)
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["exit_code"]), ("failed", 7))
        self.assertEqual(self.log(job), "on 0,1\n")

    def test_a_gang_gets_ranks_and_one_address_to_meet_at(self):
        job = self.shell('echo "$RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_PORT"', gpus=2,
                         tasks_min=3, tasks_max=3)
        self.assertEqual(self.server.wait(job)["state"], "succeeded")
        lines = [self.server.get(f"jobs/{job}/log?task={task}").decode().split()
                 for task in range(3)]
        self.assertEqual([line[0] for line in lines], ["0/3", "1/3", "2/3"])
        self.assertEqual([line[1] for line in lines], ["0", "1", "2"])
        self.assertEqual(len({line[2] for line in lines}), 1)

    def test_jobs_that_share_a_gpu_run_together(self):
        jobs = [self.shell("sleep 60", request={"share": 0.5}) for _ in range(16)]
        eventually(lambda: all(self.state(job) == "running" for job in jobs))
        self.assertEqual(self.server.get("status")["gpus"]["idle"], 0)

    def test_a_waiting_job_says_why_with_numbers(self):
        self.shell("sleep 60", gpus=8)
        job = self.shell("true", gpus=3)
        why = self.server.get(f"jobs/{job}/why")
        self.assertEqual((why["asks"], why["idle"], why["capacity"]), (3, 0, 8))
        self.assertIn("0 of 8 idle", why["text"])
        self.assertEqual(why["blockers"], [1])

    def test_a_job_that_can_never_run_is_refused_with_the_verdict(self):
        with self.assertRaises(Refused) as refused:
            self.shell("true", gpus=9)
        self.assertEqual(refused.exception.status, 422)
        self.assertIn('"reason":"NeverFits"', refused.exception.body)
        self.assertEqual(self.server.get("status")["last_job"], 0)

    def test_an_unknown_project_is_named_with_the_likely_one(self):
        with self.assertRaises(Refused) as refused:
            self.shell("true", project="defualt")
        self.assertEqual(refused.exception.status, 404)
        self.assertIn("default", refused.exception.body)

    def test_a_command_that_cannot_be_run_fails_with_127(self):
        job = self.server.submit(["/no/such/program"])["id"]
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["exit_code"]), ("failed", 127))

    def test_cancel_ends_the_whole_process_group(self):
        job = self.shell("sleep 1000 & sleep 1000 & echo ready; wait")
        eventually(lambda: "ready" in self.log(job))
        self.server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
        self.assertEqual(self.server.wait(job)["state"], "cancelled")

    def test_the_log_can_be_followed_while_it_grows(self):
        job = self.shell("echo one; sleep 0.3; echo two")
        self.server.wait(job, until="running")
        seen = b""
        while b"two" not in seen:
            seen += self.server.get(f"jobs/{job}/log?offset={len(seen)}&wait=5")
        self.assertEqual(seen, b"one\ntwo\n")


if __name__ == "__main__":
    main()
