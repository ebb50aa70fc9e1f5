# SPDX-License-Identifier: Apache-2.0
"""The event log: what becomes of a server whose log was set back, copied or lost."""
import os
import shutil
import sqlite3
import threading

from server_case import Server, ServerCase, eventually, main


class TheLog(ServerCase):
    def database(self):
        return self.server.data / "berth.db"

    def end_job(self, code):
        return self.server.wait(self.shell(f"exit {code}"))["id"]

    def run_until_down(self):
        """Ends three jobs with code 3; answers a copy of the log of before them."""
        self.end_job(0)
        self.server.berth("down")
        older = self.server.data.parent / f"{self.server.data.name}-older.db"
        shutil.copy(self.database(), older)
        self.addCleanup(older.unlink)
        self.server.up()
        for _ in range(3):
            self.end_job(3)
        return older

    def refusal(self):
        up = self.server.berth("up", "--port", "0", *self.server.flags, check=False)
        self.assertEqual(up.returncode, 1, up.stderr)
        self.assertIn("berth restore FILE", up.stderr)
        self.assertIn("--accept-older-log", up.stderr)
        return up.stderr

    def accept(self):
        self.server.flags.append("--accept-older-log")
        try:
            return self.server.up()
        finally:
            self.server.flags.pop()

    def jobs_run(self, number):
        """That many new jobs end with the code that their own command gave."""
        for code in range(number):
            mark = self.server.data / f"ran-{code}"
            job = self.shell(f"touch {mark}; exit {code}")
            self.assertEqual(self.server.wait(job)["exit_code"], code)
            self.assertTrue(mark.exists())
            yield job

    def test_after_down_the_one_file_is_the_whole_log(self):
        job = self.end_job(7)
        self.server.berth("down")
        self.assertFalse((self.server.data / "berth.db-wal").exists())
        copy = self.server.data / "copy.db"
        shutil.copy(self.database(), copy)
        with sqlite3.connect(copy) as log:
            [(payload,)] = log.execute("SELECT payload FROM finished WHERE job = ?", (job,))
        self.assertIn('"exit_code":7', payload)

    def test_a_log_that_was_set_back_is_refused_with_both_numbers(self):
        older = self.run_until_down()
        self.server.berth("down")
        newest = last_sequence(self.database())
        shutil.copy(older, self.database())
        refusal = self.refusal()
        self.assertIn(f"ends at event {last_sequence(older)} and job 1", refusal)
        self.assertIn(f"come to event {newest} and job 4", refusal)

    def test_a_lost_write_ahead_log_is_noticed(self):
        self.end_job(0)
        self.server.kill()
        (self.server.data / "berth.db-wal").unlink()
        (self.server.data / "berth.db-shm").unlink(missing_ok=True)
        self.assertIn("empty", self.refusal())

    def test_an_empty_log_beside_a_used_folder_is_refused(self):
        self.end_job(0)
        self.server.berth("down")
        self.database().unlink()
        self.assertIn("empty", self.refusal())
        (self.server.data / "high").unlink()
        self.assertIn("this directory has files of job 1", self.refusal())

    def test_a_log_that_was_cut_off_is_refused_with_what_to_do(self):
        self.run_until_down()
        self.server.berth("down")
        os.truncate(self.database(), self.database().stat().st_size // 2)
        up = self.server.berth("up", "--port", "0", *self.server.flags, check=False)
        self.assertNotEqual(up.returncode, 0)
        self.assertIn("berth restore FILE", up.stderr)
        check = self.server.berth("check", check=False)
        self.assertEqual(check.returncode, 1, check.stderr)
        self.assertIn("berth restore FILE", check.stderr)

    def test_the_log_of_another_directory_is_refused(self):
        self.run_until_down()
        self.server.berth("down")
        other = self.server.data / "other"
        environment = dict(self.server.environment, BERTH_DATA=str(other))
        self.server.environment, before = environment, self.server.environment
        self.server.up()
        self.server.berth("down")
        self.server.environment = before
        shutil.copy(other / "berth.db", self.database())
        self.assertIn("with another log", self.refusal())

    def test_what_a_job_printed_is_not_told_of_its_namesake_in_a_restored_log(self):
        self.server.berth("run", "--", "echo", "of this directory")
        self.server.berth("down")
        backup = self.server.data / "backup"
        other = self.server.data / "other"
        environment = dict(self.server.environment, BERTH_DATA=str(other))
        self.server.environment, before = environment, self.server.environment
        self.server.up()
        self.server.berth("run", "--", "echo", "of the other")
        self.server.berth("backup", str(backup))
        self.server.berth("down")
        self.server.environment = before
        self.server.berth("restore", str(backup))
        self.server.up()
        done = self.server.berth("logs", "1", check=False)
        self.assertEqual((done.returncode, done.stdout), (127, ""))
        self.assertIn("the files of that number are of another event log", done.stderr)

    def test_jobs_of_an_accepted_older_log_run_themselves_under_new_numbers(self):
        older = self.run_until_down()
        self.server.berth("down")
        shutil.copy(older, self.database())
        self.accept()
        jobs = list(self.jobs_run(3))
        self.assertEqual(jobs, [5, 6, 7])
        self.server.berth("down")
        self.server.up()  # it goes on without a word
        self.assertEqual(list(self.jobs_run(1)), [8])

    def test_what_an_older_log_does_not_know_is_ended_and_what_it_knows_goes_on(self):
        known = self.shell("sleep 1000")
        self.server.wait_for_state(known, "running")
        older = self.run_until_down()
        mark = self.server.data / "unknown"
        unknown = self.shell(f"while [ ! -e {mark} ]; do sleep 0.02; done")
        self.server.wait_for_state(unknown, "running")
        self.server.berth("down")
        shutil.copy(older, self.database())
        answer = self.accept()
        self.assertIn(f"unknown to this log: {unknown} (attempt 1)", answer)
        self.assertEqual(self.server.get(f"jobs/{known}")["attempts"], 1)
        self.server.wait_for_state(known, "running")
        eventually(lambda: not any(str(mark) in command for command in commands()))

    def test_an_attempt_that_two_logs_began_is_not_taken_from_the_other(self):
        flag = self.server.data / "flag"
        before = self.shell(f"while [ ! -e {flag} ]; do sleep 0.01; done; exit 5")
        self.server.wait_for_state(before, "running")
        job = self.shell("exit 3", gpus=8)
        self.server.berth("down")
        older = self.server.data / "older.db"
        shutil.copy(self.database(), older)
        self.server.up()
        self.assertEqual(self.state(job), "queued")
        flag.touch()
        self.assertEqual(self.server.wait(job)["exit_code"], 3)
        self.server.berth("down")
        status = self.server.data / f"jobs/0/{job}.1.status"
        status.write_text(status.read_text().replace("exit 3 ", "exit 44 "))
        shutil.copy(older, self.database())
        self.accept()
        ended = self.server.wait(job)
        self.assertEqual((ended["exit_code"], ended["attempts"]), (3, 1))
        # This one both logs began: its end is known.
        known = self.server.wait(before)
        self.assertEqual((known["exit_code"], known["attempts"]), (5, 1))


class CopiesAndChecks(ServerCase):
    def run_some(self, number):
        for code in range(number):
            self.server.wait(self.shell(f"exit {code % 3}"))

    def test_a_backup_beside_a_busy_server_comes_back_whole(self):
        backup = self.server.data / "backup.db"
        self.run_some(3)
        running = self.shell("sleep 1000")
        self.server.wait_for_state(running, "running")
        stop = threading.Event()
        client = Server(data=self.server.data)
        acknowledged = []

        def submit():
            while not stop.is_set():
                acknowledged.append(client.submit(["true"])["id"])
            client.close()

        busy = threading.Thread(target=submit)
        busy.start()
        while len(acknowledged) < 20:
            stop.wait(0.01)
        before = list(acknowledged)
        answer = self.server.berth("backup", backup).stdout
        stop.set()
        busy.join()
        self.assertIn("found sound", answer)
        again = self.server.berth("backup", backup, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("exists; choose another name", again.stderr)
        refused = self.server.berth("restore", backup, check=False)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("berth down", refused.stderr)
        self.server.wait(acknowledged[-1])
        self.server.berth("down")
        answer = self.server.berth("restore", backup).stdout
        self.assertIn("the log of before is in", answer)
        self.assertEqual(self.server.berth("check").returncode, 0)
        self.server.up()
        for job in before:
            self.assertEqual(self.server.wait(job)["exit_code"], 0)
        self.assertEqual(self.server.get(f"jobs/{running}")["attempts"], 1)
        self.server.wait_for_state(running, "running")
        self.assertEqual(self.server.wait(self.shell("exit 9"))["id"], acknowledged[-1] + 1)
        self.assertIn("sound", self.server.berth("check").stdout)

    def test_a_copy_of_the_file_after_down_is_as_good_as_a_backup(self):
        self.run_some(3)
        self.server.berth("down")
        copy = self.server.data.parent / f"{self.server.data.name}-copy.db"
        shutil.copy(self.server.data / "berth.db", copy)
        self.addCleanup(copy.unlink)
        with Server("--gpus", "sim:8x80G", data=self.server.data / "elsewhere") as other:
            other.berth("down")
            other.berth("restore", copy)
            other.up()
            self.assertEqual(other.get("jobs/3")["exit_code"], 2)

    def test_check_is_silent_about_a_sound_log_and_finds_what_is_not(self):
        self.run_some(4)
        paused = self.shell("sleep 1000")
        self.server.wait_for_state(paused, "running")
        self.server.request("POST", f"jobs/{paused}/pause", {"grace": 0})
        self.server.wait_for_state(paused, "paused")
        for end in (lambda: None, self.server.kill, lambda: None):
            end()
            self.assertIn("sound: ", self.server.berth("check").stdout)
            if not self.server.is_alive():
                self.server.up()
        self.server.berth("down")
        self.assertIn("sound: ", self.server.berth("check").stdout)
        status = self.server.data / "jobs/0/2.1.status"
        sound = status.read_text()
        status.write_text(sound.replace("exit 1 ", "exit 0 "))
        self.expect("attempt 1 of job 2 ended with 0 by its status file and with 1 by the log")
        status.write_text(sound)
        extra = self.server.data / "jobs/0/77.1.status"
        extra.write_text(sound)
        self.expect("attempt 1 of job 77 has a status file, and the log knows no such job")
        extra.unlink()
        with sqlite3.connect(self.server.data / "berth.db") as log:
            log.execute('UPDATE events SET payload = payload || " " WHERE sequence = 3')
        self.expect("the checksum of event")

    def expect(self, finding):
        check = self.server.berth("check", check=False)
        self.assertEqual(check.returncode, 1)
        self.assertIn(finding, check.stdout)
        self.assertIn("\n  next  ", check.stdout)


class AnotherOrder(ServerCase):
    """The order of jobs follows from the log, however the server is started again."""

    FLAGS = ("--gpus", "sim:64x80G", "--min-runtime", "0", "--snapshot-events", "5")

    def receipts(self, job):
        return [line for line in self.server.berth("why", str(job), "--paused",
                                                          check=False).stdout.splitlines()
                if line.startswith("  order ")]

    def test_receipts_stay_and_the_log_is_sound(self):
        sleep = 'trap "exit 0" TERM; while sleep 0.1; do :; done'
        first = self.shell(sleep, gpus=64)
        self.server.wait_for_state(first, "running")
        others = [self.shell(sleep, gpus=64) for _ in range(2)]
        eventually(lambda: self.receipts(first), 30)
        before = self.receipts(first)
        for order in ("age", "levels", "learned"):
            self.server.kill()
            self.server.flags += ["--order", order]
            self.server.up()
            self.assertEqual(self.receipts(first), before, order)
            self.assertIn("sound: ", self.server.berth("check").stdout)
        self.server.berth("policy", "set", "order=levels", "order.tail=20")
        for job in (first, *others):
            self.server.berth("cancel", str(job))
            self.server.wait(job)
        self.server.berth("down")
        self.assertIn("sound: ", self.server.berth("check").stdout)
        self.server.berth("backup", self.server.data / "kept.db")


def last_sequence(database):
    with sqlite3.connect(database) as log:
        [(sequence,)] = log.execute("SELECT max(sequence) FROM events")
    return sequence


def commands():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                yield file.read().decode(errors="replace")
        except OSError:
            pass


if __name__ == "__main__":
    main()
