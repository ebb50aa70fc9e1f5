# SPDX-License-Identifier: Apache-2.0
"""A small file system is filled up by a job, then freed.

The data directory lies on a tmpfs of 3 MB in a mount namespace of its own, which takes root.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import cuda_program
from server_case import Refused, Server, eventually, main

INSIDE = "BERTH_TEST_MOUNTS"
JOBS = 48
FULL = "the disk is full"


class FullDisk(unittest.TestCase):
    def setUp(self):
        # What lies here has room: flags, and what tells how often each job ran.
        self.side = pathlib.Path(tempfile.mkdtemp(prefix="berth-side-"))
        self.addCleanup(shutil.rmtree, self.side, ignore_errors=True)
        disk = pathlib.Path(tempfile.mkdtemp(prefix="berth-full-"))
        option = "size=3m,mode=700"
        subprocess.run(["mount", "-t", "tmpfs", "-o", option, "tmpfs", disk], check=True)
        self.addCleanup(disk.rmdir)
        self.addCleanup(subprocess.run, ["umount", "--lazy", disk], check=True)
        self.server = Server("--gpus", "sim:64x80G", data=disk)
        self.enterContext(self.server)

    def free_bytes(self):
        about = os.statvfs(self.server.data)
        return about.f_bavail * about.f_frsize

    def job(self, name, script, key=None):
        """A job that says outside of the disk that it began."""
        return self.server.submit(["sh", "-c", f"echo x >> {self.side}/{name}.runs; {script}"],
                                  key=key)["id"]

    def until(self, flag):
        # Not beyond this test, whatever becomes of its server.
        return f"while [ -d {self.side} ] && [ ! -e {self.side}/{flag} ]; do sleep 0.05; done"

    def fill(self):
        """A job takes all the room there is, until the flag `free`."""
        filler = self.server.data / "filler"
        script = (f"dd if=/dev/zero of={filler} bs=1k 2>/dev/null; touch {self.side}/filled; "
                  f"{self.until('free')}; rm {filler}")
        job = self.job("filler", script)
        eventually((self.side / "filled").exists)
        self.assertLess(self.free_bytes(), 4096)
        return job

    def free(self):
        (self.side / "free").touch()
        eventually(lambda: self.free_bytes() > 1 << 20)

    def submits_again(self):
        def submit():
            try:
                return self.job("after", "exit 0")
            except Refused as refused:
                self.assertIn('"storage-full"', refused.body)
                return None
        return eventually(submit)

    def check_ran_once(self, name):
        self.assertEqual((self.side / f"{name}.runs").read_text(), "x\n", name)

    def refusal(self):
        """Of the first submission that is refused."""
        def ask():
            try:
                self.server.submit(["true"])
            except Refused as refused:
                return refused
            return None
        return eventually(ask)

    def test_a_full_disk_is_told_everywhere_and_nothing_is_lost(self):
        names = {self.job(f"job{i}", f"{self.until('end')}; exit {i % 100}"): i
                 for i in range(JOBS)}
        for job in names:
            self.server.wait(job, "running")
        goes = self.job("goes", "sleep 1000")
        self.server.wait(goes, "running")
        filler = self.fill()
        pid = self.server.pid

        answer = self.refusal()
        self.assertEqual(answer.status, 503)
        for part in ('"storage-full"', FULL, str(self.server.data), "free", "wanted"):
            self.assertIn(part, answer.body)
        for words in (["ls"], ["status"], ["show", goes], ["top", "--once"], ["gpus"]):
            with self.subTest(words=words):
                done = self.server.berth(*words)
                self.assertIn(FULL, done.stdout + done.stderr)
        for words in (["submit", "--", "true"], ["run", "true"], ["project", "create", "p"]):
            with self.subTest(words=words):
                done = self.server.berth(*words, check=False)
                self.assertEqual(done.returncode, 125)
                self.assertIn(FULL, done.stderr)
                self.assertIn(str(self.server.data), done.stderr)
        # What ends jobs still works, and more of them end than the log has reserved room for.
        self.server.berth("cancel", goes)
        (self.side / "end").touch()
        time.sleep(1)
        self.assertTrue(self.server.is_alive())
        self.server.berth("ls")

        self.free()
        last = self.submits_again()
        self.assertEqual(self.server.pid, pid, "the server is still the same process")
        for job, i in names.items():
            ended = self.server.wait(job)
            self.assertEqual((ended["exit_code"], ended["attempts"]), (i % 100, 1))
            self.check_ran_once(f"job{i}")
        for job in (filler, last):
            self.assertEqual(self.server.wait(job)["exit_code"], 0)
        self.assertEqual(self.server.wait(goes)["state"], "cancelled")
        self.check_ran_once("filler")
        self.assertNotIn(FULL, self.server.berth("status").stdout)

    def test_a_server_killed_on_a_full_disk_starts_on_it_and_goes_on_when_there_is_room(self):
        jobs = [self.job(f"job{i}", f"{self.until('end')}; exit 7") for i in range(8)]
        for job in jobs:
            self.server.wait(job, "running")
        self.fill()
        self.server.kill()
        (self.side / "end").touch()
        self.server.up()
        answer = self.refusal()
        self.assertIn(FULL, answer.body)
        self.server.kill()
        self.server.up()
        self.free()
        self.server.wait(self.submits_again())
        for i, job in enumerate(jobs):
            ended = self.server.wait(job)
            self.assertEqual((ended["exit_code"], ended["attempts"]), (7, 1))
            self.check_ran_once(f"job{i}")

    def fill_without_a_server(self):
        with open(self.server.data / "filler", "wb", buffering=0) as filler:
            with self.assertRaises(OSError):
                while True:
                    filler.write(bytes(1024))

    def test_a_start_on_a_full_disk_after_an_end_in_order_says_what_is_lacking(self):
        self.server.berth("down")
        self.fill_without_a_server()
        up = self.server.berth("up", "--port", "0", *self.server.flags, check=False)
        self.assertEqual(up.returncode, 1)
        self.assertIn(f'the disk is full: the log in "{self.server.data}"', up.stderr)
        (self.server.data / "filler").unlink()
        self.server.up()

    def test_starts_on_a_full_disk_leave_no_process_and_shares_come_back_with_the_room(self):
        first = self.job("first", self.until("end"))
        self.server.wait(first, "running")
        self.server.kill()
        shutil.rmtree(self.server.data / "run/vgpu", ignore_errors=True)
        self.fill_without_a_server()
        for _ in range(3):
            self.server.up()
            self.server.kill()
        self.server.up()
        (self.server.data / "filler").unlink()
        self.submits_again()
        (self.side / "end").touch()
        job = eventually(lambda: self.server.berth("submit", "-q", "-g", "0.5", "--", "true",
                                                   check=False).stdout.strip())
        self.assertEqual(self.server.wait(int(job))["state"], "succeeded")
        arbiters = subprocess.run(["pgrep", "-f", f"berth-arbiter --dir {self.server.data}"],
                                  capture_output=True, text=True).stdout.split()
        self.assertLessEqual(len(arbiters), 1)

    def test_a_queued_job_waits_for_room_to_start(self):
        first = self.job("first", self.until("end"))
        self.server.wait(first, "running")
        waits = self.server.submit(
            ["sh", "-c", f"echo x >> {self.side}/waits.runs"], gpus=64)["id"]
        self.fill()
        self.refusal()
        (self.side / "end").touch()
        time.sleep(1)
        self.assertEqual(self.server.get(f"jobs/{waits}")["state"], "queued")
        self.free()
        self.assertEqual(self.server.wait(waits)["exit_code"], 0)
        self.check_ran_once("waits")

    def test_logs_give_way_and_attached_output_flows(self):
        lines = 600_000
        script = f"seq {lines}; echo x >> {self.side}/loud.runs"
        # More than the disk holds.
        done = self.server.berth("run", "sh", "-c", script)
        self.assertEqual(done.stdout.count("\n"), lines)
        log = (self.server.data / "jobs/0/1.1.task-0.log").read_text(errors="replace")
        notes = [line for line in log.splitlines() if line.startswith("[berth: ")]
        self.assertRegex("\n".join(notes), r"\d+ (MiB are cut out|bytes are missing) here")
        self.assertTrue(self.server.is_alive())
        quiet = self.submits_again()
        self.assertEqual(self.server.wait(quiet)["exit_code"], 0)


class FullMemory(unittest.TestCase):
    """Any user can fill /dev/shm, where the memory of simulated GPUs lies."""

    def fill(self, folder):
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
        self.addCleanup(subprocess.run, ["umount", "--lazy", folder], check=True)
        with open(f"{folder}/filler", "wb", buffering=0) as filler:
            with self.assertRaises(OSError):
                while True:
                    filler.write(bytes(4096))

    def up(self):
        self.server = self.enterContext(Server("--gpus", "sim:2x16G", "--sharing", "interposer"))

    def share(self):
        program = cuda_program.OPEN + cuda_program.START
        job = self.server.submit([sys.executable, "-c", program], request={"share": 0.5})["id"]
        return self.server.wait(job)["exit_code"], self.server.get(f"jobs/{job}/log").decode()

    def test_when_the_server_starts_their_memory_is_on_the_disk(self):
        self.fill("/dev/shm")
        self.up()
        self.assertEqual(self.share(), (0, ""))

    def test_later_a_program_is_told_so(self):
        self.up()
        described = (self.server.sharing / "sim1.gpus").read_text()
        state = described.split("state = ")[1].split("\n")[0]
        self.fill(os.path.dirname(state))
        code, log = self.share()
        self.assertIn(f'state "{state}": cannot grow: No space left on device', log)
        self.assertEqual(code, 3)


def run():
    if os.environ.get(INSIDE):
        return main()
    inside = ["unshare", "--mount", "--propagation", "private"]
    can_mount = os.geteuid() == 0 and subprocess.run(
        [*inside, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0
    if not can_mount:
        print("skipped: a mount namespace with a tmpfs of its own takes root")
        return sys.exit(77)
    words = [*inside, sys.executable, "-B", __file__, *sys.argv[1:]]
    return sys.exit(subprocess.run(words, env=dict(os.environ, **{INSIDE: "1"})).returncode)


if __name__ == "__main__":
    run()
