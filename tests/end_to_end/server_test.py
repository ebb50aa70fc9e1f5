# SPDX-License-Identifier: Apache-2.0
"""Starting and ending the server; jobs outlive it."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

from server_case import BIN, PATIENCE, Server, ServerCase, cpu_seconds, eventually, main


def is_alive(pid):
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


class TheServer(ServerCase):
    def test_up_takes_less_than_a_second_of_a_processor_and_says_what_there_is(self):
        self.server.berth("down")
        banner = self.server.up()
        self.assertLess(cpu_seconds(self.server.pid), 1)
        self.assertIn("8", banner)
        self.assertIn(str(self.server.data / "berth.sock"), banner)
        self.assertTrue(self.server.is_alive())

    def test_levels_and_where_the_machine_stands_are_told_to_up_and_asked_for_at_submission(self):
        self.server.berth("down")
        self.server.flags += ["--levels", "hall,row", "--topology", "hall=h1,row=w1"]
        self.server.up()
        node = self.server.get("nodes")["items"][0]
        self.assertEqual(node["topology"], {"hall": "h1", "row": "w1"})
        gang = ("submit", "-g", "1", "--tasks", "2", "-q")
        job = self.server.berth(*gang, "--required", "row", "--preferred", "node", "--", "true")
        self.assertEqual(self.server.wait(int(job.stdout))["state"], "succeeded")
        refused = self.server.berth(*gang, "--required", "rack", "--", "true", check=False)
        self.assertIn('no level "rack"; the levels are hall, row, node', refused.stderr)

    def test_a_second_server_in_the_same_directory_is_refused(self):
        again = subprocess.run([BIN / "berth", "up", *self.server.flags], text=True,
                               env=self.server.environment, capture_output=True)
        self.assertNotEqual(again.returncode, 0)
        self.assertIn("in use by another server", again.stderr)
        self.assertEqual(self.server.get("status")["pid"], self.server.pid)

    def test_running_jobs_go_on_without_the_server_and_their_ends_are_known(self):
        flag = self.server.data / "flag"
        ends = self.shell("exit 3")
        self.server.wait(ends)
        job = self.shell(f"while [ ! -e {flag} ]; do sleep 0.01; done; echo done; exit 5")
        during = self.shell("sleep 0.2; exit 6")
        self.server.wait_for_state(job, "running")
        self.server.wait_for_state(during, "running")
        for end in (lambda: self.server.berth("down"), self.server.kill):
            end()
            self.assertFalse(self.server.is_alive())
            self.server.up()
            self.assertEqual(self.server.wait(during)["exit_code"], 6)
            self.assertEqual(self.server.get(f"jobs/{job}")["attempts"], 1)
            self.server.wait_for_state(job, "running")
        flag.touch()
        ended = self.server.wait(job)
        self.assertEqual((ended["exit_code"], ended["attempts"]), (5, 1))
        self.assertEqual(self.server.get(f"jobs/{ends}")["exit_code"], 3)

    def test_without_a_server_its_last_process_ends_with_the_last_job(self):
        flag = self.server.data / "flag"
        jobs = [self.shell(f"while [ ! -e {flag} ]; do sleep 0.01; done") for _ in range(3)]
        for job in jobs:
            self.server.wait_for_state(job, "running")
        children = pathlib.Path(f"/proc/{self.server.pid}/task/{self.server.pid}/children")
        names = {pid: pathlib.Path(f"/proc/{pid}/cmdline").read_text()
                 for pid in children.read_text().split()}
        spawner, = (pid for pid, name in names.items() if "spawner" in name)
        self.server.kill()
        flag.touch()
        eventually(lambda: not is_alive(spawner))

    def test_down_can_end_the_jobs_first(self):
        job = self.shell("sleep 1000")
        waiting = self.shell("true", gpus=8)
        self.server.wait_for_state(job, "running")
        self.server.berth("down", "--jobs", "cancel")
        self.server.up()
        self.assertEqual(self.state(job), "cancelled")
        self.assertEqual(self.state(waiting), "cancelled")

    def test_down_says_when_jobs_have_not_ended_in_its_time(self):
        job = self.shell("trap '' TERM; echo $$; while :; do sleep 1; done", grace=600)
        eventually(lambda: self.log(job).strip())
        pid = int(self.log(job))
        down = self.server.berth("down", "--jobs", "cancel", check=False, timeout=180)
        self.assertEqual(down.returncode, 1, down)
        self.assertIn("jobs that have not ended in 90 s go on", down.stderr)
        self.server.up()
        self.assertEqual(self.state(job), "cancelling")
        os.kill(pid, 9)
        self.server.wait_for_state(job, "cancelled")

    def test_a_signal_ends_the_server_in_an_orderly_way(self):
        job = self.shell("sleep 1000")
        os.kill(self.server.pid, 15)
        eventually(lambda: not self.server.is_alive())
        self.assertFalse((self.server.data / "berth.sock").exists())
        self.server.up()
        self.server.wait_for_state(job, "running")

    def test_ports_and_tokens(self):
        port = int((self.server.data / "port").read_text())
        token = (self.server.data / "token").read_text().strip()
        self.assertEqual((self.server.data / "token").stat().st_mode & 0o777, 0o600)
        for header, status in (("", b"401"), ("Authorization: Bearer x\r\n", b"401"),
                               (f"Authorization: Bearer {token}\r\n", b"200")):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(f"GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\n{header}"
                               "Connection: close\r\n\r\n".encode())
                self.assertIn(status, client.recv(100))

    def test_a_changed_machine_keeps_its_log(self):
        job = self.shell("true")
        self.server.wait(job)
        self.server.berth("down")
        with Server("--gpus", "sim:2x4x80G", data=self.server.data) as changed:
            self.assertEqual(changed.get("status")["gpus"]["ready"], 8)
            self.assertEqual(changed.get(f"jobs/{job}")["state"], "succeeded")

    def test_every_command_finds_the_folder_of_a_relative_home_and_behind_a_link(self):
        root = self.server.data / "root"
        (root / "large").mkdir(parents=True)
        (root / "home/.local/share").mkdir(parents=True)
        (root / "home/.local/share/berth").symlink_to(root / "large")
        environment = {"PATH": os.environ["PATH"], "HOME": "home"}

        def berth(*words):
            return subprocess.run([BIN / "berth", *words], cwd=root, env=environment, text=True,
                                  capture_output=True, timeout=PATIENCE)
        up = berth("up", "--gpus", "sim:2x80G", "--port", "0")
        status, down = berth("status"), berth("down")
        self.assertEqual((up.returncode, status.returncode, down.returncode), (0, 0, 0), up.stderr)
        self.assertTrue((root / "large/berth.db").exists())

    def test_a_job_that_ended_while_no_server_was_there_has_run_until_its_end(self):
        flag = self.server.data / "flag"
        job = self.shell(f"while [ ! -e {flag} ]; do sleep 0.01; done")
        self.server.wait_for_state(job, "running")
        self.server.kill()
        flag.touch()
        status = self.server.data / f"jobs/0/{job}.1.status"
        eventually(lambda: "\nexit 0" in status.read_text())
        long_ago = time.time() - 1000
        os.utime(status, (long_ago, long_ago))
        self.server.up()
        ended = self.server.wait(job)
        # It can have ended no sooner than the server last saw it, which is when it began to run.
        self.assertEqual(ended["exit_code"], 0)
        events = self.server.get("events?after=0&limit=1000")["items"]
        running, = [event for event in events if event["type"] == "job_running"]
        self.assertEqual(ended["finished"], running["time"])

    def test_without_a_home_folder_it_says_what_to_give(self):
        if os.geteuid() != 0:
            self.skipTest("takes a user that the system does not know")
        berth = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", BIN / "berth"]
        for words in (["up"], ["status"], ["check"], ["restore", "/tmp"]):
            done = subprocess.run([*berth, *words], env={"PATH": os.environ["PATH"]}, text=True,
                                  capture_output=True, timeout=PATIENCE)
            self.assertEqual(done.returncode, 124)
            self.assertIn("HOME is not set, and the system does not know user 54321; name the "
                          "data directory with --data or BERTH_DATA", done.stderr)

    def test_a_path_that_is_too_long_is_refused_with_what_to_do(self):
        above = self.server.data.parent / (self.server.data.name + "-long")
        self.addCleanup(shutil.rmtree, above, ignore_errors=True)

        def up(length):
            data = above
            while len(str(data)) < length - 1:
                data /= "x" * min(200, length - 1 - len(str(data)))
            done = subprocess.run([BIN / "berth", "up", "--data", data, "--port", "0"], text=True,
                                  capture_output=True, timeout=PATIENCE)
            return data, done
        data, done = up(495)
        self.assertEqual(done.returncode, 0, done.stderr)
        subprocess.run([BIN / "berth", "down", "--data", data], check=True, capture_output=True)
        data, done = up(496)
        self.assertEqual(done.returncode, 124)
        self.assertIn("has 505 bytes, of which SQLite takes 504; choose a folder with a shorter "
                      "path", done.stderr)

    def test_too_few_open_files_are_refused_with_what_to_do(self):
        data = self.server.data.parent / (self.server.data.name + "-few")
        words = [str(BIN / "berth"), "up", "--data", str(data), "--port", "0"]
        result = subprocess.run(["sh", "-c", 'ulimit -n 100; exec "$@"', "sh", *words],
                                capture_output=True, text=True, timeout=PATIENCE)
        shutil.rmtree(data, ignore_errors=True)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("may have 100 files open here and needs 512", result.stderr)


if __name__ == "__main__":
    main()
