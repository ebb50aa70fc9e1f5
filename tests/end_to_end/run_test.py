# SPDX-License-Identifier: Apache-2.0
"""berth run behaves like the command it runs."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from server_case import BIN, PATIENCE, ServerCase, eventually, handles, main

BERTH = str(BIN / "berth")


def set_size(file, rows, columns):
    fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    """A program on a pseudo terminal of its own, as a user has it."""

    def __init__(self, *words, environment, rows=40, columns=120):
        self.pid, self.file = pty.fork()
        if self.pid == 0:
            set_size(0, rows, columns)
            os.execve(words[0], list(words), dict(environment, TERM="xterm", LANG="C.UTF-8"))
        self.seen = ""
        self.code = None

    def resize(self, rows, columns):
        set_size(self.file, rows, columns)

    def type(self, text):
        os.write(self.file, text.encode())

    def read(self, seconds):
        if not select.select([self.file], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.file, 65536)
        except OSError:
            return False
        self.seen += piece.decode(errors="replace")
        return bool(piece)

    def expect(self, pattern, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.seen):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{pattern!r} did not appear in {self.seen!r}")
            self.read(0.1)

    def wait(self, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while self.code is None:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                raise TimeoutError(f"still running; so far {self.seen!r}")
        while self.read(0.05):
            pass
        return self.code

    def close(self):
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.file)


class Run(ServerCase):
    def berth(self, *words, **options):
        return self.server.berth(*words, check=False, **options)

    def terminal(self, *words):
        terminal = Terminal(BERTH, *words, environment=self.server.environment)
        self.addCleanup(terminal.close)
        return terminal

    def start(self, *words):
        process = subprocess.Popen([BERTH, *words], env=self.server.environment, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(lambda: process.poll() is None and (process.kill(), process.wait()))
        return process

    def newest(self):
        return max(job["id"] for job in self.server.get("jobs?finished=9")["items"])

    # --- as a filter

    def test_output_error_and_code_are_the_commands(self):
        result = self.berth("run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("out\n", "err\n", 7))

    def test_input_passes_byte_for_byte_and_ends(self):
        data = bytes(range(256)) * 5000
        result = subprocess.run([BERTH, "run", "--", "cat"], input=data, capture_output=True,
                                env=self.server.environment, timeout=PATIENCE)
        self.assertEqual(result.stdout, data)
        self.assertEqual(result.returncode, 0)

    def test_no_dashes_are_needed(self):
        result = self.berth("run", "-g", "2", "sh", "-c", "echo $CUDA_VISIBLE_DEVICES $0", "-x")
        self.assertEqual(result.stdout, "0,1 -x\n")

    def test_directory_and_environment_are_the_callers(self):
        self.server.environment["MINE"] = "a b\nc"
        self.addCleanup(self.server.environment.pop, "MINE")
        result = self.berth("run", "--", "sh", "-c", 'pwd; printf "%s" "$MINE"', cwd="/usr/lib")
        self.assertEqual(result.stdout, "/usr/lib\na b\nc")

    def test_a_reader_that_leaves_ends_the_command(self):
        pipe = subprocess.run(f"{BERTH} run -- yes | head -1", shell=True, capture_output=True,
                              text=True, env=self.server.environment, timeout=PATIENCE)
        self.assertEqual(pipe.stdout, "y\n")
        self.server.wait(self.newest())

    def test_codes_above_99_and_signals_become_100(self):
        for script, code in (("exit 130", "130"), ("kill -KILL $$", "137"), ("exit 99", None)):
            result = self.berth("run", "--", "sh", "-c", script)
            self.assertEqual(result.returncode, 100 if code else 99)
            if code:
                self.assertIn(f"exit code {code}", result.stderr)

    def test_a_command_that_is_not_there(self):
        result = self.berth("run", "--", "no-such-command")
        self.assertEqual(result.returncode, 100)
        self.assertIn("no-such-command", result.stderr)

    # --- waiting

    def test_it_says_once_why_it_waits_and_then_runs(self):
        self.shell("sleep 2", gpus=8)
        result = self.berth("run", "--", "echo", "done")
        self.assertEqual(result.stdout, "done\n")
        self.assertRegex(result.stderr, r"^berth: job \d+ waits \d+s: .*8 idle")
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_an_interrupt_while_it_waits_cancels_it(self):
        self.shell("sleep 1000", gpus=8)
        process = self.start("run", "--", "echo", "never")
        eventually(lambda: len(self.server.get("jobs")["items"]) == 2)
        eventually(lambda: handles(process.pid, signal.SIGINT))
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 102, error)
        self.assertEqual(output, "")
        self.assertEqual(self.state(self.newest()), "cancelled")

    def test_it_gives_up_waiting(self):
        self.shell("sleep 1000", gpus=8)
        result = self.berth("run", "--max-wait", "1s", "--", "true")
        self.assertEqual(result.returncode, 111, result.stderr)
        self.assertEqual(self.state(self.newest()), "cancelled")

    def test_what_can_never_run_is_refused(self):
        result = self.berth("run", "-g", "9", "--", "true")
        self.assertEqual(result.returncode, 110, result.stderr)

    def test_detached_it_prints_its_number(self):
        result = self.berth("run", "-d", "--", "sh", "-c", "echo hello")
        job = int(result.stdout)
        self.server.wait(job)
        self.assertEqual(self.berth("logs", job).stdout, "hello\n")

    # --- steering

    def test_an_interrupt_goes_to_the_command(self):
        script = "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done"
        process = self.start("run", "--", "sh", "-c", script)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((output, process.returncode), ("caught\n", 5), error)

    def test_two_interrupts_end_what_ignores_them(self):
        script = "trap '' INT; echo ready; sleep 1000"
        process = self.start("run", "--grace", "1s", "--", "sh", "-c", script)
        self.assertEqual(process.stdout.readline(), "ready\n")
        while process.poll() is None:  # two that come within a second
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        self.assertEqual(process.returncode, 102)

    def test_after_a_pause_it_takes_up_the_next_attempt(self):
        script = "trap 'exit 0' TERM; echo attempt $BERTH_ATTEMPT; while :; do sleep 0.05; done"
        process = self.start("run", "--", "sh", "-c", script)
        self.assertEqual(process.stdout.readline(), "attempt 1\n")
        job = self.newest()
        self.berth("pause", job)
        eventually(lambda: self.state(job) == "paused")
        self.berth("resume", job)
        self.assertEqual(process.stdout.readline(), "attempt 2\n")
        self.berth("cancel", job)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 102)

    def test_it_outlives_the_server(self):
        go = self.server.data / "go"
        process = self.start("run", "--", "sh", "-c", f"echo ready; while [ ! -e {go} ]; do "
                             "sleep 0.02; done; echo over; exit 3")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.server.kill()
        self.server.up()
        go.touch()
        output, error = process.communicate(timeout=PATIENCE)
        self.assertEqual((output, process.returncode), ("over\n", 3), error)

    # --- on a terminal

    def test_the_command_has_a_terminal_of_the_same_size(self):
        terminal = self.terminal("run", "--", "sh", "-c",
                                 "test -t 0 && test -t 1 && test -t 2 && stty size; "
                                 "until stty size | grep '30 90'; do sleep 0.02; done")
        terminal.expect(r"40 120")
        terminal.resize(30, 90)
        terminal.expect(r"30 90")
        self.assertEqual(terminal.wait(), 0)

    def test_keys_reach_it_and_control_c_is_its_own(self):
        terminal = self.terminal("run", "--", "sh", "-c", "echo ready; cat; echo not reached")
        terminal.expect("ready")
        terminal.type("some text\n")
        terminal.expect("some text\r\nsome text")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 100)
        self.assertNotIn("not reached\r\n", terminal.seen.split("ready")[-1])

    def test_waiting_is_one_line_that_disappears(self):
        job = self.shell("sleep 1000", gpus=8)
        terminal = self.terminal("run", "--", "echo", "finally")
        terminal.expect(r"waits 0s: pool full")
        terminal.expect(r"waits 1s")
        self.assertNotIn("\n", terminal.seen)
        self.berth("cancel", job)
        terminal.expect("finally")
        self.assertEqual(terminal.wait(), 0)
        self.assertIn("\r\x1b[Kfinally", terminal.seen)

    def test_control_c_while_it_waits(self):
        self.shell("sleep 1000", gpus=8)
        terminal = self.terminal("run", "--", "echo", "never")
        terminal.expect("waits")
        terminal.type("\x03")
        self.assertEqual(terminal.wait(), 102)


if __name__ == "__main__":
    main()
