# SPDX-License-Identifier: Apache-2.0
"""A sync of the log fails: the server reads its log again, and nothing is lost or run twice."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from server_case import Refused, Server, eventually, main

SOURCE = pathlib.Path(__file__).resolve().parent.parent / "support/failing_sync.c"


class FailingSync(unittest.TestCase):
    def setUp(self):
        self.side = pathlib.Path(tempfile.mkdtemp(prefix="berth-side-"))
        self.addCleanup(shutil.rmtree, self.side, ignore_errors=True)
        library = self.side / "failing_sync.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, SOURCE, "-ldl"], check=True)
        self.flag = self.side / "fail"
        self.server = Server("--gpus", "sim:8x80G", environment={
            "LD_PRELOAD": str(library), "BERTH_TEST_FAIL_SYNC": str(self.flag)})
        self.enterContext(self.server)

    def fail_next_sync(self):
        self.flag.touch()

    def runs(self, name):
        return f"echo x >> {self.side}/{name}.runs"

    def check_ran_once(self, name):
        self.assertEqual((self.side / f"{name}.runs").read_text(), "x\n")

    def jobs(self):
        return self.server.get("jobs?finished=100")["items"]

    def test_a_submission_is_asked_again_with_its_key_and_made_once(self):
        pid = self.server.pid
        for i in range(5):
            self.fail_next_sync()
            done = self.server.berth("submit", "-q", "--", "sh", "-c", self.runs(f"job{i}"))
            self.assertFalse(self.flag.exists())
            self.server.close()
            self.assertEqual(self.server.wait(int(done.stdout))["exit_code"], 0)
            self.check_ran_once(f"job{i}")
        self.assertEqual(len(self.jobs()), 5)
        self.assertEqual(self.server.pid, pid)

    def test_who_asks_over_http_is_told_to_ask_again(self):
        self.fail_next_sync()
        script = ["sh", "-c", self.runs("job")]
        with self.assertRaises(Refused) as caught:
            self.server.submit(script, key="k")
        self.assertEqual(caught.exception.status, 503)
        self.assertIn("unknown whether this was done: ask again with the same key",
                      caught.exception.body)

        def ask_again():
            self.server.close()
            try:
                return self.server.submit(script, key="k")
            except OSError:  # it is just reading its log
                return None
        job = eventually(ask_again)
        self.assertEqual(self.server.wait(job["id"])["exit_code"], 0)
        self.check_ran_once("job")
        self.assertEqual(len(self.jobs()), 1)

    def test_running_jobs_go_on(self):
        script = (f"{self.runs('job')}; while [ -d {self.side} ] && [ ! -e {self.side}/end ]; "
                  "do sleep 0.05; done; exit 6")
        job = self.server.submit(["sh", "-c", script])["id"]
        self.server.wait_for_state(job, "running")
        self.fail_next_sync()
        self.server.berth("submit", "--", "true")
        (self.side / "end").touch()
        self.server.close()
        ended = self.server.wait(job)
        self.assertEqual((ended["exit_code"], ended["attempts"]), (6, 1))
        self.check_ran_once("job")


if __name__ == "__main__":
    main()
