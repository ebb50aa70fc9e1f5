# SPDX-License-Identifier: Apache-2.0
"""What a job was and is expected to be: the same on the page, on the command line and after a
restart of the server."""
import datetime

from server_case import Refused, ServerCase, main

SAVES = "trap 'exit 0' TERM; while :; do sleep 0.1; done"


def moment(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Timeline(ServerCase):
    def setUp(self):
        super().setUp()
        self.server.berth("project", "create", "vision", "--quota", "8")
        self.server.berth("project", "create", "nlp")

    def timeline(self, job):
        return self.server.get(f"jobs/{job}/timeline")

    def paused_for(self):
        """A job of nlp that vision's quota has paused, and vision's."""
        lent = self.shell(SAVES, project="nlp", gpus=8, name="lent")
        self.server.wait_for_state(lent, "running")
        owner = self.shell("sleep 600", project="vision", gpus=8, name="owner")
        self.server.wait_for_state(lent, "paused")
        self.server.wait_for_state(owner, "running")
        return lent, owner

    def test_spans_say_what_happened_and_the_sentence_what_is_now(self):
        lent, owner = self.paused_for()
        timeline = self.timeline(lent)
        self.assertRegex(timeline["sentence"], "^lent has been paused for .*resumes")
        spans = timeline["spans"]
        states = [span["state"] for span in spans]
        self.assertEqual(states[-3:], ["running", "pausing", "paused"], states)
        for before, after in zip(spans, spans[1:]):
            self.assertEqual(before["to"], after["from"])
            self.assertLess(moment(before["from"]), moment(before["to"]))
        self.assertIsNone(spans[-1]["to"])
        self.assertEqual(spans[-3]["gpus"], 8)
        self.assertEqual(spans[-3]["nodes"], ["sim1"])
        self.assertEqual((spans[-1]["rule"], spans[-1]["beneficiary"]), ("reclaim", owner))
        self.assertEqual(timeline["job_names"][str(owner)], "vision/owner")
        whole = moment(timeline["now"]) - moment(spans[0]["from"])
        parts = timeline["waited"] + timeline["ran"] + timeline["paused"]
        self.assertAlmostEqual(parts, whole.total_seconds(), places=3)

    def test_they_are_the_same_after_a_restart(self):
        lent, _ = self.paused_for()
        before = self.timeline(lent)["spans"]
        self.server.kill()
        self.server.up()
        self.assertEqual(self.timeline(lent)["spans"][:len(before) - 1], before[:-1])

    def test_a_job_that_declares_how_long_it_runs_has_an_expected_end(self):
        job = self.shell("sleep 600", gpus=1, name="timed", expected_runtime=3600)
        self.server.wait_for_state(job, "running")
        timeline = self.timeline(job)
        self.assertRegex(timeline["sentence"], r"^timed has run for .* and ends in about 1 h \(")
        (span,) = timeline["expected"]
        self.assertEqual((span["state"], timeline["evidence"]), ("running", "declared"))
        first, expected, last = (moment(span["to"][which]) - moment(timeline["now"])
                                 for which in ("optimistic", "expected", "pessimistic"))
        self.assertAlmostEqual(first * 2 / expected, 1, places=3)
        self.assertAlmostEqual(last / 2 / expected, 1, places=3)

    def test_show_says_the_same(self):
        lent, owner = self.paused_for()
        shown = self.server.berth("show", str(lent)).stdout
        self.assertIn("lent has been paused for ", shown)
        self.assertRegex(shown, rf"paused \d+s?.*, for {owner} vision/owner \(reclaim\)")
        self.assertRegex(shown, r"running \d+.*, attempt 1 with 8 GPUs on sim1")

    def test_a_job_that_has_ended_keeps_its_timeline(self):
        job = self.shell("exit 3", name="short")
        self.server.wait(job)
        timeline = self.timeline(job)
        self.assertEqual(timeline["spans"][-1]["state"], "failed")
        self.assertIn("with exit code 3", timeline["sentence"])
        self.assertEqual(timeline["expected"], [])

    def test_every_pause_has_a_receipt_with_what_both_sides_had(self):
        lent, owner = self.paused_for()
        self.server.request("POST", f"jobs/{owner}/cancel")
        self.server.wait_for_state(lent, "running")
        self.server.request("POST", f"jobs/{lent}/pause")
        self.server.wait_for_state(lent, "paused")
        by_user, reclaimed = self.server.get(f"jobs/{lent}/receipts")["items"]
        self.assertEqual((by_user["rule"], by_user["attempt"], by_user["sides"]), ("user", 2, None))
        self.assertEqual((reclaimed["rule"], reclaimed["attempt"], reclaimed["saved"]),
                         ("reclaim", 1, True))
        self.assertEqual((reclaimed["beneficiary"], reclaimed["lost_gpu_ms"]), (owner, 0))
        self.assertEqual(reclaimed["sides"], {
            "pool": "default", "asked": 8, "own": {"project": "nlp", "used": 8, "quota": 0},
            "other": {"project": "vision", "used": 0, "quota": 8}})
        self.server.kill()
        self.server.up()
        again = self.server.get(f"jobs/{lent}/receipts")["items"]
        self.assertEqual(again, [by_user, reclaimed])

    def test_the_end_of_a_log_is_had_without_the_rest(self):
        job = self.shell("seq 1 20000", name="talks")
        self.server.wait(job)
        whole = self.log(job)
        for tail, wanted in ((100, whole[-100:]), (0, ""), (10_000_000, whole)):
            piece = self.server.get(f"jobs/{job}/log?tail={tail}").decode()
            self.assertEqual(piece, wanted)

    def test_the_spans_of_all_jobs_are_those_of_each(self):
        lent, owner = self.paused_for()
        answer = self.server.get("spans")
        self.assertEqual([job["id"] for job in answer["items"]], [lent, owner])
        for job in answer["items"]:
            alone = self.timeline(job["id"])
            for span, wanted in zip(job["spans"], alone["spans"], strict=True):
                self.assertEqual(span, {name: wanted[name] for name in span})
        self.assertEqual((answer["counts"]["starts"], answer["counts"]["pauses"]), (2, 1))
        self.assertRegex(answer["sentence"], "^In the last 6 h: 2 starts, 1 pause, ")
        self.assertEqual((answer["next"], answer["known_from"]), ("", None))
        self.server.kill()
        self.server.up()
        again = self.server.get("spans")["items"]
        self.assertEqual(again[0]["spans"][:-1], answer["items"][0]["spans"][:-1])

    def test_spans_are_asked_for_by_time_project_user_and_node(self):
        lent, owner = self.paused_for()
        jobs = lambda query: [job["id"] for job in self.server.get(f"spans?{query}")["items"]]
        self.assertEqual(jobs("project=nlp"), [lent])
        self.assertEqual(jobs("node=sim1"), [lent, owner])
        self.assertEqual(jobs("user=joe"), [])
        self.assertEqual(jobs("to=2020-01-01T00:00:00Z"), [])
        paused = self.timeline(lent)["spans"][-1]["from"]
        self.assertIn(lent, jobs(f"from={paused}"))
        for query, status in (("node=nowhere", 404), ("from=now", 400),
                              ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", 400)):
            with self.subTest(query), self.assertRaises(Refused) as refused:
                self.server.get(f"spans?{query}")
            self.assertEqual(refused.exception.status, status)

    def test_an_answer_that_is_cut_says_how_to_go_on(self):
        lent, owner = self.paused_for()
        first = self.server.get("spans?limit=1")
        self.assertEqual([job["id"] for job in first["items"]], [lent])
        self.assertEqual(first["counts"]["jobs"], 2)
        rest = self.server.get(f"spans?limit=1&after={first['next']}")
        self.assertEqual([job["id"] for job in rest["items"]], [owner])
        self.assertEqual(rest["next"], "")

    def test_what_is_expected_is_with_the_spans(self):
        job = self.shell("sleep 600", gpus=8, name="timed", expected_runtime=3600)
        self.server.wait_for_state(job, "running")
        waits = self.shell("sleep 600", gpus=8, name="waits", expected_runtime=3600)
        answer = self.server.get("spans")
        self.assertRegex(answer["sentence"], r"Next to end: timed in about 1 h \(")
        running, waiting = answer["items"]
        (span,) = running["expected"]
        self.assertEqual((span["state"], running["evidence"]), ("running", "declared"))
        self.assertEqual([span["state"] for span in waiting["expected"]], ["queued", "running"])
        self.assertEqual(waiting["id"], waits)
        over = self.server.get(f"spans?to={answer['now']}")
        self.assertEqual([job["expected"] for job in over["items"]], [[], []])

    def test_the_command_line_shows_the_same(self):
        lent, _ = self.paused_for()
        shown = self.server.berth("timeline", "--from", "1m", "--to", "1m").stdout
        self.assertRegex(shown, r"^In the last 1 min 0 s: 2 starts|^In the last 1 min: 2 starts")
        self.assertRegex(shown, rf"(?m)^ *{lent}  lent +nlp +8  paused ")
        one = self.server.berth("timeline", "-p", "vision", "-o", "json").stdout
        self.assertNotIn('"lent"', one)
        wrong = self.server.berth("timeline", "--from", "noon", check=False)
        self.assertIn("--from: wanted a time such as 6h or", wrong.stderr)

    def test_a_job_that_does_not_exist_has_none(self):
        for what in ("timeline", "receipts"):
            with self.subTest(what), self.assertRaises(Refused) as refused:
                self.server.get(f"jobs/12345/{what}")
            self.assertEqual(refused.exception.status, 404)


if __name__ == "__main__":
    main()
