# SPDX-License-Identifier: Apache-2.0
"""kill -9 at each write point, and at random moments under load.

BERTH_KILLS says at how many random moments; bench/crash_storm.py runs this with 500.
"""
import os
import random
import time
import unittest

from server_case import PATIENCE, Server, eventually, main
from crash_load import Load

POINTS = ("before-commit", "after-commit", "after-ack", "after-launch", "after-stop",
          "before-snapshot", "after-snapshot", "before-spawn", "after-spawn",
          "before-exit-report")
FLAGS = ("--gpus", "sim:16x80G", "--snapshot-events", "40")


class Crash(unittest.TestCase):
    def one_point(self, point, passage):
        with Server(*FLAGS) as server:
            server.kill()
            server.up(BERTH_CRASH_AT=f"{point}:{passage}")
            load = Load(server)
            self.addCleanup(load.stop)
            load.start()
            begin = time.monotonic()
            while server.is_alive() and time.monotonic() - begin < PATIENCE:
                self.steer(server, load)
            self.assertFalse(server.is_alive(), f"{point} was not passed {passage} times")
            server.up()
            time.sleep(0.2)
            load.stop()
            load.check(self)

    def steer(self, server, load):
        """A job that is paused, resumed and cancelled, for the points on that way."""
        try:
            job = server.submit(["sleep", "1000"])["id"]
            server.wait_for_state(job, "running")
            server.request("POST", f"jobs/{job}/pause", {"grace": 1})
            server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
        except Exception:  # the server is gone, as it should be
            server.close()
            time.sleep(0.01)

    def test_nothing_is_lost_or_done_twice_at_any_write_point(self):
        for point in POINTS:
            for passage in (1, 7):
                with self.subTest(point=point, passage=passage):
                    self.one_point(point, passage)

    def test_nothing_is_lost_or_done_twice_at_random_moments(self):
        kills = int(os.environ.get("BERTH_KILLS", "15"))
        dice = random.Random(7)
        with Server(*FLAGS) as server:
            load = Load(server)
            self.addCleanup(load.stop)
            load.start()
            for _ in range(kills):
                time.sleep(dice.uniform(0.005, 0.2))
                server.kill()
                server.up()
            load.stop()
            load.check(self, seconds=600)
            print(f"{kills} kills, {len(load.answered)} jobs", end=" ", flush=True)

    def test_running_jobs_go_on_through_crashes(self):
        with Server(*FLAGS) as server:
            flag = server.data / "flag"
            script = f"while [ ! -e {flag} ]; do sleep 0.01; done; exit 9"
            job = server.submit(["sh", "-c", script])["id"]
            server.wait_for_state(job, "running")
            for _ in range(5):
                server.kill()
                server.up()
            server.wait_for_state(job, "running")
            flag.touch()
            ended = eventually(lambda: server.wait(job))
            self.assertEqual((ended["exit_code"], ended["attempts"]), (9, 1))


if __name__ == "__main__":
    main()
