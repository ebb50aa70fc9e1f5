# SPDX-License-Identifier: Apache-2.0
"""Jobs from submission to their end."""
from server_case import BIN, Refused, ServerCase, eventually, main


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
        jobs = [self.shell("sleep 1000", request={"share": 0.5}) for _ in range(16)]
        eventually(lambda: all(self.state(job) == "running" for job in jobs))
        self.assertEqual(self.server.get("status")["gpus"]["idle"], 0)

    def test_a_waiting_job_says_why_with_numbers(self):
        self.shell("sleep 1000", gpus=8)
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


class Files(ServerCase):
    FLAGS = ("--gpus", "sim:8x80G", "--log-limit", "1M", "--grace", "1s")

    def test_a_log_has_a_limit_and_keeps_its_ends(self):
        script = "echo first; yes 0123456789 | head -c 20000000; echo last"
        job = self.shell(script)
        self.assertEqual(self.server.wait(job)["state"], "succeeded")
        files = list((self.server.data / "jobs/0").glob(f"{job}.1.task-0.log"))
        self.assertLess(files[0].stat().st_blocks * 512, 1_100_000)
        text = self.server.berth("logs", job).stdout
        self.assertEqual((text[:6], text[-5:]), ("first\n", "last\n"))
        self.assertIn("MiB are cut out here: a log may take 1M]", text)
        self.assertNotIn("\0", text)
        self.assertLess(len(text), 1_200_000)

    def test_a_job_says_that_it_has_saved_and_goes_on(self):
        touching = self.shell('touch "$BERTH_SAVED_FILE"; sleep 1000')
        saying = self.shell(f"{BIN}/berth checkpointed; sleep 1000")
        silent = self.shell("sleep 1000")
        for job in (touching, saying):
            eventually(lambda j=job: self.server.get(f"jobs/{j}").get("last_checkpoint"))
        self.assertIsNone(self.server.get(f"jobs/{silent}").get("last_checkpoint"))
        self.assertIn("saved", self.server.berth("ls").stdout)

    def test_who_is_still_writing_at_the_end_of_the_grace_gets_a_little_more(self):
        saving = """
            cd "$BERTH_CHECKPOINT_DIR"
            trap 'for i in 1 2 3 4 5 6; do echo $i >> part; sleep 0.5; done; exit 0' TERM
            while :; do sleep 0.1; done"""
        writes = self.shell(saving)
        hangs = self.shell(saving.replace("echo $i >> part; ", ""))
        for job in (writes, hangs):
            self.server.wait_for_state(job, "running")
        eventually(lambda: len(list((self.server.data / "jobs/0").glob("*.checkpoint"))) == 2)
        for job in (writes, hangs):
            self.server.request("POST", f"jobs/{job}/pause")
        self.assertTrue(self.server.wait_for_state(writes, "paused")["last_pause"]["saved"])
        self.assertFalse(self.server.wait_for_state(hangs, "paused")["last_pause"]["saved"])


if __name__ == "__main__":
    main()
