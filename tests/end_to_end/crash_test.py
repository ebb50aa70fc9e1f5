# SPDX-License-Identifier: Apache-2.0
"""kill -9 at each write point, and at random moments under load.

BERTH_KILLS says at how many random moments; bench/crash_storm.py runs this with 500.
"""
import os
import pathlib
import random
import signal
import subprocess
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

    def test_no_attempt_runs_beside_what_is_left_of_the_one_before(self):
        with Server(*FLAGS) as server:
            pids = server.data / "pids"
            lives = "grep -qs 'State:.[^Z]' /proc/$pid/status"
            script = (f"for pid in $(cat {pids}); do {lives} && echo $pid beside; done; "
                      f"setsid sh -c 'echo $$ >>{pids}; exec env -i sleep 1000' "
                      "</dev/null >/dev/null 2>&1 & sleep 1000")
            pids.touch()
            job = server.submit(["sh", "-c", script])["id"]
            for attempt in (1, 2, 3):
                eventually(lambda: pids.read_text().count("\n") == attempt)
                status = server.data / f"jobs/0/{job}.{attempt}.status"
                supervisor = int(status.read_text().partition("starting ")[2].split()[1])
                stat = pathlib.Path(f"/proc/{supervisor}/stat").read_text()
                spawner = int(stat.rpartition(")")[2].split()[1])
                if attempt == 3:
                    break
                for pid in (supervisor, spawner) if attempt == 1 else (spawner, supervisor):
                    os.kill(pid, signal.SIGKILL)
                server.kill()
                server.up()
            self.assertEqual(server.get(f"jobs/{job}/log"), b"")
            os.kill(supervisor, signal.SIGSTOP)
            server.berth("cancel", str(job))
            self.assertEqual(server.wait(job)["state"], "cancelled")
            for pid in pids.read_text().split():
                self.assertNotEqual(subprocess.run(["sh", "-c", f"pid={pid}; {lives}"]).returncode,
                                    0)

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
