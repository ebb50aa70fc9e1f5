# SPDX-License-Identifier: Apache-2.0
"""Every verb of the command line against a real server: what it prints, where, and its code."""
import csv
import io
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from server_case import BIN, PATIENCE, ServerCase, eventually, handles, main

BERTH = str(BIN / "berth")
RFC_3339 = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")


class Verbs(ServerCase):
    def berth(self, *words, code=0, **options):
        result = self.server.berth(*words, check=False, **options)
        self.assertEqual(result.returncode, code, f"{words}: {result.stdout}{result.stderr}")
        return result

    def out(self, *words, **options):
        result = self.berth(*words, **options)
        self.assertEqual(result.stderr, "", words)
        return result.stdout

    def setUp(self):
        super().setUp()
        self.node = self.server.get("nodes")["items"][0]["name"]

    def submit(self, *words):
        return int(self.out("submit", "-q", *words))

    def submit_shell(self, script, *flags):
        return self.submit(*flags, "--", "sh", "-c", script)

    # --- looking

    def test_people_are_shown_the_first_page_of_a_long_list_and_programs_all_of_it(self):
        count = 60
        for _ in range(count):
            self.server.submit(["sleep", "600"], gpus=8)
        shown = self.server.berth("ls").stdout.splitlines()
        self.assertEqual(len(shown), 1 + 50 + 1)
        self.assertEqual(shown[-1], "and 10 more: berth ls --all")
        self.assertEqual(len(self.server.berth("ls", "--all").stdout.splitlines()), 1 + count)
        self.assertEqual(len(self.server.berth("ls", "-q").stdout.splitlines()), count)

    def test_ls_shows_live_jobs_and_with_a_finished_ones(self):
        done = self.submit("-n", "first", "--", "true")
        self.server.wait(done)
        job = self.submit("-n", "second", "--", "sleep", "1000")
        self.server.wait_for_state(job, "running")
        lines = self.out("ls").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], rf"^ *{job}  second  default  1 +RUNNING  {self.node}:0 ")
        self.assertRegex(self.out("ps", "-a"), r"first +default +1 +SUCCEEDED .*exit 0")
        self.assertEqual(self.out("queue", "-q"), f"{job}\n")
        self.assertEqual(self.out("ls", "--state", "succeeded", "-q"), f"{done}\n")
        self.assertEqual(self.out("ls", "-u", "stranger", "-q"), "")
        self.assertEqual(self.out("ls", "-u", "me", "-q"), f"{job}\n")

    def test_forms_for_scripts(self):
        job = self.submit("-n", "a,b", "--", "sleep", "1000")
        self.server.wait_for_state(job, "running")
        document = json.loads(self.out("ls", "-o", "json"))
        self.assertEqual((document["apiVersion"], document["kind"]), ("berth/v1", "JobList"))
        self.assertEqual(document["items"][0]["id"], job)
        self.assertRegex(document["items"][0]["created"], RFC_3339)
        self.assertEqual(json.loads(self.out("ls", "--json")), document)
        rows = list(csv.DictReader(io.StringIO(self.out("ls", "-o", "csv"))))
        self.assertEqual((rows[0]["name"], rows[0]["state"]), ("a,b", "RUNNING"))
        self.assertEqual(self.out("ls", "-o", "name"), f"{job}\n")
        self.assertIn("COMMAND", self.out("ls", "-o", "wide"))
        for verb in ("status", "gpus", "projects", f"show {job}", f"why {job}"):
            json.loads(self.out(*verb.split(), "-o", "json"))
        for line in self.out("events", "--json").splitlines():
            self.assertRegex(json.loads(line)["time"], RFC_3339)

    def test_tables_fit_their_width_and_have_no_colour_in_a_pipe(self):
        name = "a-name-that-is-much-longer-than-any-table-will-ever-be-wide-and-goes-on"
        self.submit("-n", name, "--", "sleep", "1000")
        self.submit("-n", "waits", "-g", "8", "--", "sleep", "1000")
        for columns in ("80", "100"):
            self.server.environment["COLUMNS"] = columns
            for verb in ("ls", "gpus", "project ls", "top --once"):
                text = self.out(*verb.split())
                self.assertTrue(text.isascii(), text)
                self.assertNotIn("\x1b", text)
                self.assertLessEqual(max(map(len, text.splitlines())), int(columns), text)
        self.assertIn("\x1b[", self.out("ls", "--color", "always"))
        self.assertIn(name, self.out("ls", "-o", "wide"))

    def test_why_says_the_sentence_and_the_numbers(self):
        holder = self.submit("-g", "8", "-n", "holder", "--", "sleep", "1000")
        job = self.submit("-g", "2", "-n", "wants", "--", "sleep", "1000")
        text = self.out("why", "wants")
        self.assertRegex(text, r"^wants waits: .*0 of 8 idle")
        self.assertRegex(text, r"\[PoolFull\]\n")
        self.assertRegex(text, r"  asks +2 GPUs\n")
        self.assertIn(f"{holder} default/holder", text)
        answer = json.loads(self.out("why", str(job), "-o", "json"))
        self.assertEqual((answer["reason"], answer["asks"]), ("PoolFull", 2))
        self.assertRegex(self.out("why", "holder"),
                         rf"^holder is (starting|running) on {self.node}:0-7; it does not wait")
        self.assertIn("never paused", self.berth("why", "holder", "--paused", code=1).stderr)

    def test_show_has_the_life_of_a_job(self):
        job = self.submit_shell("echo x", "-n", "short")
        self.server.wait(job)
        text = self.out("show", "short")
        for wanted in ("job 1  short  (default)  SUCCEEDED", "echo x", "submitted to default",
                       f"attempt 1 starts on {self.node}:0", "succeeded, exit 0"):
            self.assertIn(wanted, text)
        self.assertIn("submitted", self.out("show", job, "--time", "iso"))

    def test_logs_of_the_present_past_and_future(self):
        job = self.submit_shell("for i in 1 2 3 4 5; do echo line $i; sleep 0.2; done")
        self.assertEqual(self.berth("logs", "-f", job).stdout,
                         "".join(f"line {i}\n" for i in range(1, 6)))
        self.assertEqual(self.out("logs", job, "-n", "2"), "line 4\nline 5\n")
        self.assertEqual(self.out("logs", job, "-n", "0"), "")
        self.berth("logs", "99", code=127)

    def test_following_goes_on_with_the_next_attempt(self):
        script = "trap 'echo saved; exit 0' TERM; echo attempt $BERTH_ATTEMPT; " \
                 "[ $BERTH_ATTEMPT = 2 ] && exit 0; while :; do sleep 0.05; done"
        job = self.submit_shell(script)
        self.server.wait_for_state(job, "running")
        follow = subprocess.Popen([BERTH, "logs", "-f", str(job)], env=self.server.environment,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(follow.stdout.readline(), "attempt 1\n")
        self.berth("pause", job, "--wait")
        self.berth("resume", job)
        rest, notices = follow.communicate(timeout=PATIENCE)
        self.assertEqual(rest, "saved\nattempt 2\n")
        self.assertEqual(notices, "berth: attempt 2\n")
        self.assertEqual(self.out("logs", job, "--attempt", "1"), "attempt 1\nsaved\n")

    def test_gpus_top_and_status_agree(self):
        job = self.submit("-g", "2", "-n", "two", "--", "sleep", "1000")
        half = self.submit("-g", "0.5", "-n", "half", "--", "sleep", "1000")
        self.server.wait_for_state(half, "running")
        self.server.wait_for_state(job, "running")
        gpus = self.out("gpus").splitlines()
        self.assertEqual(len(gpus), 9)
        self.assertEqual(sum("held" in line for line in gpus), 3)
        self.assertEqual(self.out("gpus", "-q").splitlines()[0], f"{self.node}:0")
        self.assertRegex(self.out("top", "--once"), rf"{self.node}  (##%|%##)\.\.\.\.\.  2\.5/8 ")
        self.assertRegex(self.out("status"), r"gpus +8 \| 2\.5 used \| 5\.5 idle")
        self.berth("gpus", "--node", "none", code=127)

    def test_events_in_words_and_as_they_come(self):
        follow = subprocess.Popen([BERTH, "events", "-f", "--after", "0"], text=True,
                                  env=self.server.environment, stdout=subprocess.PIPE)
        self.addCleanup(follow.communicate)
        self.addCleanup(follow.kill)
        self.submit("-n", "one", "--", "true")
        seen = ""
        while "succeeded" not in seen:
            seen = follow.stdout.readline()
        follow.send_signal(signal.SIGINT)
        self.assertEqual(follow.wait(timeout=PATIENCE), 0)
        self.assertRegex(self.out("events", "--job", "one"), r"1 default/one submitted to default")

    # --- steering

    def test_pause_resume_cancel(self):
        job = self.submit_shell("trap 'exit 0' TERM; while :; do sleep 0.05; done", "-n", "steered")
        self.server.wait_for_state(job, "running")
        self.assertEqual(self.out("suspend", "steered", "--wait"),
                         f"job {job} steered is paused until it is resumed\n")
        self.assertIn("it saved and", self.out("why", "steered", "--paused"))
        self.assertRegex(self.out("why", "steered"), r"\[Paused\]")
        self.assertRegex(self.out("resume", "steered"),
                         rf"job {job} steered is (starting|running|paused, goes on)")
        self.server.wait_for_state(job, "running")
        self.assertEqual(self.out("cancel", "steered", "--wait"),
                         f"job {job} steered is cancelled\n")
        self.assertIn("cancelled", self.berth("cancel", "steered", code=1).stderr)

    def test_several_at_once_and_the_first_failure_counts(self):
        jobs = [self.submit("--", "sleep", "1000") for _ in range(2)]
        result = self.berth("cancel", jobs[0], "999", jobs[1], code=127)
        self.assertEqual(result.stdout.count("\n"), 2)

    # --- submitting

    def test_a_job_file_and_flags_that_go_before_it(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "job.yaml")
            file.write_text("name: from-file\nrun: 'echo $WHO; pwd'\ngpus: 4\nenv: {WHO: file}\n")
            job = self.submit(file, "-g", "2", "--env", "WHO=flag")
            self.server.wait(job)
            self.assertEqual(self.out("logs", job).split(), ["flag", os.getcwd()])
            self.assertRegex(self.out("show", job), r"asks +2 GPUs")
            ids = pathlib.Path(folder, "id")
            first = self.submit(file, "--key", "k", "--id-file", ids)
            self.assertEqual(self.submit(file, "--key", "k"), first)
            self.assertEqual(int(ids.read_text()), first)

    def test_the_exit_code_of_a_waited_job_is_its_own(self):
        self.assertEqual(self.berth("submit", "--wait", "--", "sh", "-c", "exit 7", code=7).stdout,
                         "job 1 submitted\n")
        self.berth("submit", "--wait", "--timeout", "1s", "--", "sleep", "1000", code=120)
        self.assertEqual(self.state(2), "running")
        waiting = subprocess.Popen([BERTH, "submit", "-q", "--wait", "--", "sleep", "1000"],
                                   env=self.server.environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.assertEqual(waiting.stdout.readline(), "3\n")
        eventually(lambda: handles(waiting.pid, signal.SIGINT))
        waiting.send_signal(signal.SIGINT)
        waiting.communicate(timeout=PATIENCE)
        self.assertEqual(waiting.returncode, 121)
        self.berth("cancel", 3)

    def test_what_cannot_be_printed_is_no_success(self):
        for words in (("ls", "-a", "-o", "json"), ("submit", "-q", "--", "true"), ("--version",)):
            with open("/dev/full", "w") as full:
                result = subprocess.run([BERTH, *words], stdout=full, stderr=subprocess.PIPE,
                                        text=True, env=self.server.environment)
            self.assertEqual(result.returncode, 125, words)
            self.assertEqual(result.stderr, "berth: cannot write to standard output: "
                                            "No space left on device\n")

    def test_a_job_that_is_too_large_to_be_sent_is_refused_and_not_unknown(self):
        file = self.server.data / "huge.yaml"
        for size in (1_100_000, 5_000_000):
            file.write_text("run: 'x'\nenv: {" + ", ".join(
                f"A{i}: '{'x' * 100_000}'" for i in range(size // 100_000)) + "}\n")
            result = self.berth("submit", file, code=124)
            self.assertIn("at most 1 MiB", result.stderr)
            self.assertNotIn("not known", result.stderr)
        # Bytes that are no text take six of JSON each.
        result = self.berth("submit", "--", "true", *["\x01" * 100_000] * 7, code=124)
        self.assertIn("at most 1 MiB", result.stderr)
        self.assertEqual(self.server.get("jobs")["items"], [])

    def test_what_was_understood_is_said(self):
        notice = self.berth("submit", "-g", "2", "--", "true").stderr
        self.assertRegex(notice, r"2 GPUs \| project default \| train \| .* \| preemptible")

    def test_a_dry_run_says_what_would_happen(self):
        self.assertEqual(self.out("submit", "--dry-run", "--", "true"), "would start now\n")
        self.submit("-g", "8", "--", "sleep", "1000")
        self.assertRegex(self.out("submit", "--dry-run", "--", "true"),
                         r"^would wait: .*0 of 8 idle")
        self.assertEqual(json.loads(self.out("submit", "--dry-run", "-o", "json", "--", "true"))
                         ["starts_now"], False)
        self.assertEqual(self.out("ls", "-q"), "1\n")

    # --- projects

    def test_projects_are_made_changed_and_used(self):
        self.assertEqual(self.out("project", "create", "research", "--quota", "6"),
                         "project research created\n")
        self.out("project", "create", "vision", "--parent", "research", "--quota", "4",
                 "--limit", "6", "--weight", "2")
        self.assertRegex(self.out("project", "ls"),
                         r"(?m)^research +6 .*\n  vision +4  guaranteed +6 +2 ")
        self.assertEqual(self.out("project", "set", "vision", "--quota", "2", "--limit", "none"),
                         "project vision changed\n")
        self.assertRegex(self.out("projects"), r"(?m)^  vision +2  guaranteed +- ")
        self.berth("project", "create", "vision", code=1)
        crowded = self.berth("project", "set", "research", "--quota", "999",
                             "--preemption-delay", "5m",
                             "--reclaim-min-runtime", "1h")
        self.assertIn("project research changed", crowded.stdout)
        self.assertRegex(crowded.stderr, r"note: the quotas in pool default sum to [0-9]+ GPUs, ")
        self.out("project", "set", "research", "--quota", "6")
        self.assertIn('did you mean "vision"?',
                      self.berth("project", "set", "vison", "--quota", "1", code=127).stderr)
        self.assertIn("berth project use", self.berth("project", "set", "vision", code=124).stderr)
        with tempfile.TemporaryDirectory() as home:
            self.server.environment["XDG_CONFIG_HOME"] = home
            self.out("project", "use", "vision")
            self.submit("-n", "mine", "--", "sleep", "1000")
            self.assertRegex(self.out("ls"), r"mine +vision")
            self.server.environment["BERTH_PROJECT"] = "default"
            self.submit("-n", "other", "--", "sleep", "1000")
            self.assertRegex(self.out("ls"), r"other +default")

    # --- what goes wrong

    def test_mistakes_are_answered_with_what_would_be_right(self):
        for words, code, wanted in (
                (["lss"], 124, 'did you mean "ls"?'),
                (["ls", "--stat"], 124, 'did you mean "--state"?'),
                (["ls", "--state", "runing"], 124, 'did you mean "running"?'),
                (["submit"], 124, "berth submit job.yaml"),
                (["submit", "-g", "lots", "--", "true"], 124, "2x0.5"),
                (["submit", "-g", "9", "--", "true"], 110, "can never run"),
                (["submit", "-p", "missing", "--", "true"], 127, "missing"),
                (["submit", "no-such-file.yaml"], 124, "no-such-file.yaml"),
                (["show", "nothing"], 127, "berth ls -a"),
                (["why", "12"], 127, "12"),
                (["run"], 124, "berth run -g 2"),
                (["cancel"], 124, "berth cancel JOB..."),
                (["logs", "1", "2"], 124, 'unexpected argument: "2"'),
                (["help", "exit-code"], 124, "exit-codes")):
            result = self.berth(*words, code=code)
            self.assertEqual(result.stdout, "")
            self.assertIn(wanted, result.stderr)

    def test_an_error_names_the_flag_that_was_typed_not_the_field_that_it_sets(self):
        self.out("project", "create", "p", "--quota", "1")
        self.berth("pool", "create", "cells", "--labels", "cells=a")
        long = "k" * 600
        for words, wanted in (
                ("project create x --tail 60",
                 '--tail: wanted a whole number from 0 to 50, found "60"'),
                ("project set p --delay soon", "--preemption-delay: wanted a time"),
                ("project set p --preempt-min-runtime soon", "--preempt-min-runtime: wanted a"),
                ("project set p --reclaim-min-runtime 400d",
                 'project "p": --reclaim-min-runtime: wanted 0s to 365d'),
                ("project set p --memory-quota much", "--memory-quota: wanted an amount"),
                ("project set p --pool cells --memory-limit much", "--memory-limit: wanted an"),
                ("project set p --weight 99999999", 'project "p": --weight: wanted 0 to'),
                ("project set p --cpu-quota 4 --cpu-limit 2",
                 'project "p": --cpu-quota: wanted at most its limit, 2, found 4'),
                ("submit --grace soon -- true", "--grace: wanted a time"),
                ("submit --grace 11m -- true", "--grace: wanted 0s to 10m"),
                ("run --park-after soon -- true", "--park-after: wanted a time"),
                ("submit --park-after 0s -- true", "--park-after: wanted a time"),
                ("submit --preemption-delay soon -- true", "--preemption-delay: wanted a time"),
                ("submit --time soon -- true", "--expected-time: wanted a time"),
                ("submit --expected-time 900d -- true", "--expected-time: wanted 0s to 365d"),
                ("submit --priority 9999999 -- true", "--priority: wanted -1000000 to 1000000"),
                ("submit --dry-run --priority 9999999 -- true", "--priority: wanted -1000000"),
                (f"submit -g {long}:2 -- true", "--gpus: wanted a name of at most 200 bytes"),
                ("submit --cpus 99999999 -- true", "--cpus: wanted 0 to 1000000"),
                (f"submit --key {long} -- true", "--key: wanted 1 to 200 bytes"),
                ("submit --required planet -- true", '--required: no level "planet"'),
                ("submit --required planet --preferred node -- true",
                 '--required or --preferred: no level "planet"')):
            seen = self.berth(*words.split(), code=124).stderr
            self.assertTrue(seen.startswith(f"berth: {wanted}"), f"{words}: {seen}")

    def test_names_are_suggested(self):
        self.submit("-n", "llama-ft", "--", "sleep", "1000")
        self.assertIn('did you mean "llama-ft"?', self.berth("show", "lama-ft", code=127).stderr)
        self.assertIn("llama-ft", self.out("show", "default/llama-ft"))

    def test_without_a_server_it_says_how_to_start_one(self):
        with tempfile.TemporaryDirectory() as folder:
            for verb in ("ls", "status", "top", "run true", "logs 1"):
                result = self.berth(*verb.split(), "--data", folder, code=125) \
                    if verb != "run true" else self.berth("--data", folder, *verb.split(), code=125)
                self.assertIn("the server is not running", result.stderr)
                self.assertIn(f"berth up --data {folder}", result.stderr)

    def test_over_tcp_with_a_token_and_not_without(self):
        port = (self.server.data / "port").read_text().strip()
        environment = self.server.environment
        environment["BERTH_URL"] = f"http://127.0.0.1:{port}"
        self.assertIn("token", self.berth("status", code=126).stderr)
        environment["BERTH_TOKEN"] = (self.server.data / "token").read_text().strip()
        self.assertIn("8", self.out("status"))
        environment["BERTH_URL"] = "http://127.0.0.1:1"
        self.berth("status", code=125)
        environment["BERTH_URL"] = "ftp://x"
        self.berth("status", code=124)
        del environment["BERTH_URL"]

    # --- on a terminal

    def test_colour_and_symbols_only_where_they_are_welcome(self):
        job = self.submit("-g", "8", "--", "sleep", "1000")
        self.server.wait_for_state(job, "running")
        _, rich = self.on_terminal("top", "--once")
        self.assertIn("■■■■■■■■", rich)
        self.assertIn("\x1b[32m", rich)
        _, plain = self.on_terminal("top", "--once", environment={"NO_COLOR": "1"})
        self.assertNotIn("\x1b[", plain)
        self.assertIn("■", plain)
        _, ascii_only = self.on_terminal("top", "--once", "--ascii", "--color", "never")
        self.assertTrue(ascii_only.isascii())
        self.assertIn("########", ascii_only)
        _, c_locale = self.on_terminal("top", "--once", environment={"LANG": "C"})
        self.assertTrue(c_locale.isascii())

    def test_live_pages_end_with_q_and_leave_the_terminal_as_it_was(self):
        for words in (["top"], ["ls", "-w"]):
            code, seen = self.on_terminal(*words, keys=(b"\x1b[J", b"q"))
            self.assertEqual(code, 0)
            self.assertTrue(seen.startswith("\x1b[?1049h"), seen[:40])
            self.assertTrue(seen.endswith("\x1b[?1049l"), seen[-40:])
        code, _ = self.on_terminal("top", keys=(b"\x1b[J", b"\x03"))
        self.assertEqual(code, 0)

    def test_names_cannot_steer_the_terminal(self):
        body = {"spec": {"name": "evil", "request": {"gpus": 1}},
                "launch": {"command": ["printf", "\x1b[2J"], "workdir": "/tmp"}}
        job = self.server.request("POST", "jobs", body)["id"]
        self.server.wait(job)
        for words in (["ls", "-a", "-o", "wide"], ["show", str(job)]):
            self.assertNotIn("\x1b[2J", self.out(*words))


class Offline(unittest.TestCase):
    """plan and scenario need no server."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def berth(self, *words, code=0):
        result = subprocess.run([BERTH, *map(str, words)], capture_output=True, text=True,
                                env={"BERTH_DATA": str(self.folder)}, timeout=60, cwd=self.folder)
        self.assertEqual(result.returncode, code, f"{words}: {result.stdout}{result.stderr}")
        return result

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def test_a_group_of_verbs_says_what_is_in_it(self):
        for words in (["kube"], ["kube", "delete"], ["project", "delete"]):
            said = self.berth(*words, code=124).stderr
            self.assertRegex(said, rf'no verb "{" ".join(words)}"; {words[0]} has .* or ')
            self.assertIn(f"berth help {words[0]}", said)
        lines = self.berth("help", "kube").stdout.splitlines()
        self.assertTrue(lines and all(line.startswith("  berth kube ") for line in lines))
        self.assertIn('no help on "nothing"', self.berth("help", "nothing", code=124).stderr)

    def test_a_plan_names_every_start_pause_and_verdict(self):
        self.write("state.yaml", """
now: 2h
nodes: [{name: n0, gpus: 8}, {name: n1, gpus: 8}]
projects: [{name: vision, quota: 8}, {name: nlp, quota: 8}]
jobs:
  - {name: big, project: nlp, gpus: 8}
  - {name: huge, project: nlp, gpus: 16}
  - {name: small, project: vision, gpus: 2}
  - {name: sweep, project: vision, gpus: 4, last_start: 1h,
     tasks: [{node: n0}, {node: n0}, {node: n1}]}
""")
        text = self.berth("plan", "--state", "state.yaml").stdout
        self.assertRegex(text, r"vision/small +2 +n1:4-5 +allocate")
        self.assertRegex(text, r"vision/sweep +n0:0-7 n1:0-3 +reclaim +nlp/big +12 GPU-h")
        self.assertRegex(text, r"nlp/huge +16 +NeverFits")
        document = json.loads(self.berth("plan", "--state", "state.yaml", "--json").stdout)
        self.assertEqual(document["kind"], "Plan")
        start = document["plan"]["starts"][0]["tasks"][0]
        self.assertEqual((start["node"], start["gpus"]), ("n1", [4, 5]))
        self.assertEqual(document["plan"]["pauses"][0]["rule"], "reclaim")
        self.assertEqual({verdict["reason"] for verdict in document["verdicts"]},
                         {"WaitingForPause", "NeverFits", "Starting"})
        self.berth("plan", "--state", "state.yaml", "--profile", "classic")

    def test_bad_input_is_one_line_with_its_place(self):
        for text, place in (("nodes:\n  - {name: n0, gpus: many}\n", r"state\.yaml:2: "),
                            ("nodes:\n  - {name: n0}\n  - {name: n0}\n", r"state\.yaml:3: "),
                            ("nodes: [\n", r"state\.yaml:\d: "),
                            ("jobs:\n  - {name: j, project: p, gpus: 1}\n", r"state\.yaml:2: ")):
            self.write("state.yaml", text)
            result = self.berth("plan", "--state", "state.yaml", code=2)
            self.assertEqual(result.stdout, "")
            self.assertRegex(result.stderr, rf"^{place}[^\n]+\n$")
        self.berth("plan", "--state", "missing.yaml", code=2)
        self.berth("plan", code=124)

    def test_scenarios_pass_fail_and_are_updated(self):
        begin = "node n0 gpus=2\nproject p quota=1\nsubmit p/a gpus=2\ndecide\n"
        self.write("good.scn", begin + "> start p/a n0:0-1\n")
        self.write("bad.scn", begin + "> start p/a n0:0\n")
        self.write("broken.scn", "nonsense\n")
        self.assertIn("1 passed, 0 failed", self.berth("scenario", "good.scn").stdout)
        result = self.berth("scenario", "good.scn", "bad.scn", code=1)
        self.assertIn("start p/a n0:0-1", result.stdout)
        self.assertIn("1 passed, 1 failed", result.stdout)
        self.assertIn("broken.scn", self.berth("scenario", "broken.scn", code=2).stderr)
        self.berth("scenario", "--update", "bad.scn")
        self.berth("scenario", "bad.scn")


class Demo(ServerCase):
    def test_an_interrupt_leaves_nothing_behind(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            demo = subprocess.Popen([BERTH, "demo"], env=dict(os.environ, TMPDIR=folder), text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for line in demo.stdout:
                if "susan 8 running" in line:
                    break
            demo.send_signal(signal.SIGINT)
            _, error = demo.communicate(timeout=PATIENCE)
            self.assertEqual(demo.returncode, 1)
            self.assertIn("nothing is left behind", error)
            self.assertEqual(os.listdir(folder), [])
            eventually(lambda: folder not in subprocess.run(
                ["ps", "-eo", "args"], capture_output=True, text=True).stdout)

    def test_a_closed_terminal_and_an_impatient_interrupt_leave_nothing_behind(self):
        for signals in ([signal.SIGHUP], [signal.SIGINT] * 4):
            with tempfile.TemporaryDirectory(prefix="b") as folder:
                demo = subprocess.Popen([BERTH, "demo"], env=dict(os.environ, TMPDIR=folder),
                                        text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        start_new_session=True)
                for line in demo.stdout:
                    if "susan 8 running" in line:
                        break
                for number in signals:  # as a terminal sends them: to all of its group
                    os.killpg(demo.pid, number)
                    time.sleep(0.02)
                _, error = demo.communicate(timeout=PATIENCE)
                self.assertIn("nothing is left behind", error)
                self.assertEqual(os.listdir(folder), [])
                eventually(lambda: folder not in subprocess.run(
                    ["ps", "-eo", "args"], capture_output=True, text=True).stdout)

    def test_on_a_terminal_its_pages_stay_until_they_are_not_wanted(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            code, seen = self.on_terminal("demo", environment={"TMPDIR": folder},
                                          keys=(b"Ctrl-C ends the demo", b"\x03"), seconds=180)
            self.assertEqual(code, 0, seen)
            self.assertIn("All promises kept", seen)
            self.assertEqual(len(re.findall(r"  http://localhost:\d+/#\S+", seen)), 2)
            self.assertEqual(os.listdir(folder), [])


if __name__ == "__main__":
    main()
