# SPDX-License-Identifier: Apache-2.0
"""Jobs that have GPUs and do not use them are warned, and then parked or ended, or kept."""
import pathlib
import sys

from parking_test import SESSION
from server_case import ServerCase, eventually, main

# What a program on simulated GPUs does it says itself: nothing, or much while a file is there.
SAYS = """
import os, pathlib, sys, threading, time
def says(busy):
    folder, gpu = os.environ["BERTH_SIMULATED_GPUS"], os.environ["CUDA_VISIBLE_DEVICES"]
    file = f"{folder}.{gpu}.{os.getpid()}"
    while True:
        percent = 90 if pathlib.Path(busy).exists() else 0
        with open(file + "~.0", "w") as written: written.write(f"{percent:3} {10:3}\\n")
        os.replace(file + "~.0", file)
        time.sleep(0.02)
"""
IDLER = SAYS + "says(sys.argv[1])"
PARKED = SAYS + """
threading.Thread(target=says, args=(sys.argv[1] + "/busy",), daemon=True).start()
""" + SESSION


class Idle(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G", "--min-runtime", "0")

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.server.data) / "turns"
        self.folder.mkdir()

    def rule(self, **settings):
        words = [f"{name}={value}" for name, value in settings.items()]
        self.server.berth("policy", "set", *words)

    def idler(self, **spec):
        command = [sys.executable, "-c", IDLER, str(self.folder / "busy")]
        return self.server.submit(command, **spec)["id"]

    def idle(self, job):
        return eventually(lambda: self.server.get(f"jobs/{job}")["idle"])

    def events(self, job):
        answer = self.server.get(f"events?job={job}&limit=1000")
        return [event["type"] for event in answer["items"]]

    def test_an_idle_job_is_warned_in_every_client_and_then_ended(self):
        self.rule(idle_after="400ms", idle_warning="1500ms", idle_act="end")
        job = self.idler()
        warning = self.idle(job)
        self.assertEqual(warning["act"], "end")
        ended = self.server.wait(job)
        self.assertEqual(ended["state"], "failed")
        self.assertRegex(ended["detail"], r"its GPUs did nothing for .* \(idle_act=end\)")
        self.assertRegex(self.log(job), rf"it is ended in \ds; berth keep {job} keeps it")

    def test_a_countdown_is_shown_and_keep_ends_it(self):
        self.rule(idle_after="400ms", idle_warning="1h", idle_act="end")
        job = self.idler()
        self.idle(job)
        self.assertRegex(self.server.berth("ls").stdout, r"idle \d.*, ended in 59m")
        page = self.server.berth("show", job).stdout
        self.assertRegex(page, rf"idle .*, ended in 59m.* berth keep {job} keeps it")
        said = self.server.berth("keep", job, "--for", "1d").stdout
        self.assertRegex(said, rf"job {job} .* is kept for ")
        kept = self.server.get(f"jobs/{job}")
        self.assertIsNone(kept["idle"])
        page = self.server.berth("show", job).stdout
        self.assertRegex(page, "kept +for .* more, also while idle")
        self.server.kill()
        self.server.up()
        self.assertEqual(self.server.get(f"jobs/{job}")["kept_until"], kept["kept_until"])
        self.assertEqual(self.events(job).count("job_kept"), 1)

    def test_work_takes_a_warning_back(self):
        self.rule(idle_after="400ms", idle_warning="1h", idle_act="end")
        job = self.idler()
        self.idle(job)
        (self.folder / "busy").touch()
        eventually(lambda: self.server.get(f"jobs/{job}")["idle"] is None)
        self.assertIn("job_busy", self.events(job))

    def test_how_busy_whole_gpus_were_is_in_the_report_and_in_its_efficiency(self):
        self.rule(idle_after="400ms", idle_warning="1h", idle_act="warn")  # looks often
        job = self.idler()
        self.idle(job)
        (self.folder / "busy").touch()
        eventually(lambda: self.server.get(f"jobs/{job}")["idle"] is None)
        self.server.berth("cancel", job)
        times = self.server.wait(job)["milli_gpu_ms"]
        self.assertGreater(times["busy"], 0)
        self.assertGreater(times["allocated_idle"], 400 * 1000 * 0.8)
        self.assertLess(times["busy"], 9 * times["allocated_idle"] + 400 * 1000)
        self.assertIn("job_used", self.events(job))
        self.assertRegex(self.server.berth("eff", job).stdout, r"allocated_idle|idle")

    def test_a_project_has_a_rule_of_its_own(self):
        self.server.berth("project", "create", "lab", "--quota", "1", "--idle-after", "400ms")
        other = self.idler()
        job = self.idler(project="lab")
        warning = self.idle(job)
        self.assertEqual((warning["act"], warning["acts_at"]), ("warn", None))
        self.assertIsNone(self.server.get(f"jobs/{other}")["idle"])
        self.server.berth("project", "set", "lab", "--idle-after", "inherit")
        eventually(lambda: self.server.get(f"jobs/{job}")["idle"] is None)

    def test_a_job_is_parked_and_its_next_call_finds_its_memory_again(self):
        self.rule(idle_after="400ms", idle_warning="400ms", idle_act="park")
        job = self.server.submit([sys.executable, "-c", PARKED, str(self.folder)])["id"]
        parked = eventually(lambda: (lambda seen: seen["parked_since"] and seen)(
            self.server.get(f"jobs/{job}")))
        self.assertEqual((parked["state"], parked["tasks"], parked["idle"]), ("paused", [], None))
        (self.folder / "busy").touch()
        (self.folder / "0").touch()
        eventually(lambda: "turn 0 finds 0" in self.log(job))

    def test_a_wrong_time_is_refused_and_says_what_is_wanted(self):
        job = self.idler()
        for wrong in ("soon", "31d", "-1s"):
            refused = self.server.berth("keep", job, f"--for={wrong}", check=False)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn("for", refused.stderr)
        self.assertEqual(self.server.berth("keep", "77", check=False).returncode, 127)


if __name__ == "__main__":
    main()
