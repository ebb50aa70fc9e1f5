# SPDX-License-Identifier: Apache-2.0
"""What would start a job, when it will start, how shares come about, what would be different if,
and the state of a server as a file: all of it true, and none of it changes anything."""
import json
import pathlib
import re
import tempfile

from server_case import ServerCase, eventually, main


class Foresight(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G")

    def setUp(self):
        super().setUp()
        self.out("project", "create", "vision", "--quota", "2", "--limit", "4")
        self.out("project", "create", "nlp", "--quota", "4", "--weight", "2")

    def out(self, *words, code=0):
        result = self.server.berth(*words, check=False)
        self.assertEqual(result.returncode, code, f"{words}: {result.stdout}{result.stderr}")
        return result.stdout

    def submit(self, *words):
        job = int(self.out("submit", "-q", *words, "--", "sleep", "600"))
        return job

    def running(self, *words):
        job = self.submit(*words)
        self.server.wait_for_state(job, "running")
        return job

    def sequence(self):
        return self.server.get("status")["sequence"]

    def waits_for_limit(self):
        """A job of vision that its limit keeps out."""
        self.running("-p", "vision", "-g", "4", "-n", "first")
        job = self.submit("-p", "vision", "-g", "2", "-n", "second")
        eventually(lambda: self.server.get(f"jobs/{job}/why")["reason"] == "QuotaHard")
        return job

    def test_the_suggestion_of_why_is_true(self):
        job = self.waits_for_limit()
        text = self.out("why", "second")
        self.assertRegex(text, r"starts if +the limit of vision is raised to 6 GPUs\n")
        self.assertRegex(text, r"sum +4 held \+ 2 asked = 6, above the limit of 4\n")
        suggestion = json.loads(self.out("why", "second", "-o", "json"))["suggestion"]
        self.assertEqual((suggestion["kind"], suggestion["name"], suggestion["gpus"]),
                         ("raise_limit", "vision", 6))
        shown = json.loads(self.out("show", str(job), "-o", "json"))
        self.assertEqual(shown["verdict"]["suggestion"], suggestion)
        self.assertEqual(shown["foresight"]["starts_if"],
                         "the limit of vision is raised to 6 GPUs")
        # Lists leave suggestions out: they take decisions of their own.
        listed = json.loads(self.out("ls", "-o", "json"))["items"]
        (verdict,) = [item["verdict"] for item in listed if item["id"] == job]
        self.assertIsNone(verdict["suggestion"])
        self.out("project", "set", "vision", "--limit", "6")
        self.server.wait_for_state(job, "running")

    def test_the_estimate_says_when(self):
        for _ in range(3):  # what it learns from
            self.out("submit", "--wait", "-p", "vision", "-n", "first", "--", "sleep", "9")
        job = self.waits_for_limit()
        self.assertRegex(self.out("why", "second"),
                         r"estimate +starts in \S+ \(\S+ to \S+\), when \d+ vision/first ends")
        estimate = self.server.get(f"jobs/{job}?foresee=true")["foresight"]["start_estimate"]
        self.assertLessEqual(estimate["optimistic"], estimate["expected"])
        self.assertLessEqual(estimate["expected"], estimate["pessimistic"])
        self.assertEqual(estimate["evidence"], "learned")
        self.assertRegex(self.out("ls"), r"second .* in \S+-\S+, quota hard: ")

    def test_a_fair_share_can_be_checked_by_hand(self):
        self.running("-p", "vision", "-g", "4")
        self.running("-p", "nlp", "-g", "4")
        self.submit("-p", "nlp", "-g", "4")
        lines = self.out("fairshare", "nlp").splitlines()
        title = re.match(r"nlp is entitled to (\S+) GPUs? of the pool default now", lines[0])
        divided = re.match(r"the pool default has (\S+) to divide: quotas get (\S+), (\S+) is "
                           r"surplus", lines[2])
        total, quotas, surplus = map(float, divided.groups())
        rows = {}
        for line in lines[4:]:
            words = line.split()
            if "OFFERED TO" in line:
                break
            quota, odd, given, share = float(words[6]), float(words[8]), float(words[7]), words[9]
            self.assertEqual(quota + given + odd, float(share))
            rows[words[0]] = (quota, given, odd, float(share), float(words[3]))
        self.assertEqual(sum(row[0] for row in rows.values()), quotas)
        self.assertEqual(total - quotas, surplus)
        self.assertEqual(rows["nlp"][3], float(title[1]))
        self.assertEqual(sum(row[3] for row in rows.values()), total)
        offers = [line.split() for line in lines[5 + len(rows):]]
        self.assertGreater(len(offers), 0)
        for _, _, _, left, part, offer, takes in offers:
            self.assertAlmostEqual(float(left) * float(part.rstrip("%")) / 100, float(offer), 2)
            self.assertLessEqual(float(takes), float(offer))
        # In one round the parts are the weights' parts of their sum.
        weights = {project: rows[project][4] for _, _, project, *_ in offers}
        for _, round_, project, _, part, _, _ in offers:
            if round_ == "1":
                self.assertAlmostEqual(float(part.rstrip("%")) / 100,
                                       weights[project] / sum(weights.values()), 4)
        answer = json.loads(self.out("fairshare", "nlp", "-o", "json"))
        self.assertEqual(answer["kind"], "ShareAccount")
        self.assertEqual(answer["fair_share"], rows["nlp"][3])
        self.out("fairshare", "nowhere", code=127)
        self.out("fairshare", "nlp", "--pool", "nowhere", code=127)

    def test_what_if_tells_and_changes_nothing(self):
        job = self.waits_for_limit()
        self.running("-p", "nlp", "-g", "4", "-n", "llama")
        before = (self.sequence(), self.state_without_now())
        text = self.out("whatif", "limit", "vision=6")
        self.assertRegex(text, rf"(?m)^{job} vision/second +waits: QuotaHard +(waits|starts)")
        text = self.out("whatif", "node", "+1x4", "--ascii")
        self.assertIn("nothing was changed", text)
        text = self.out("whatif", "submit", "-p", "nlp", "-g", "2")
        self.assertRegex(text, r"(?m)^\d+ nlp/supposed +- +waits: ")
        text = self.out("whatif", "quota", "vision=0", "nlp=0")
        self.assertIn("nothing was changed", text)
        text = self.out("whatif", "drain", "n0", "--down")
        self.assertRegex(text, r"(?m)^\d+ \S+/\S+ +runs +(waits|starts)")
        self.assertIn("nothing was changed", self.out("whatif", "drain", "n1"))
        answer = json.loads(self.out("whatif", "limit", "vision=6", "-o", "json"))
        self.assertEqual(answer["kind"], "WhatIf")
        self.assertEqual((self.sequence(), self.state_without_now()), before)
        self.out("whatif", "quota", "vison=6", code=127)
        self.out("whatif", "drain", "n9", code=127)
        self.out("whatif", "quota", "vision", code=124)
        self.out("whatif", "weather", code=124)
        self.out("whatif", "node", "2xx", code=124)
        self.assertEqual(self.submit("-p", "nlp"), job + 2)  # no number was used up

    def test_the_last_days_are_replayed_under_a_change(self):
        result = self.server.berth("whatif", "quota", "nlp=8", "--days", "7", check=False)
        self.assertIn("no job ran in these days; there is nothing to replay", result.stderr)
        # One after the other, for the limit is 4 GPUs.
        jobs = [int(self.out("submit", "-q", "-p", "vision", "-g", "4", "--", "sleep", "1"))
                for _ in range(2)]
        for job in jobs:
            self.server.wait_for_state(job, "succeeded")
        before = self.sequence()
        text = self.out("whatif", "limit", "vision=8", "--days", "1")
        self.assertRegex(text, r"^with the limit vision=8, in the last day, of which the log "
                               r"has \d+s\nJobs would have ")
        self.assertIn("Both sides are simulated", text)
        self.assertRegex(text, r"(?m)^vision +2 ")
        answer = json.loads(self.out("whatif", "limit", "vision=8", "--days", "1", "-o", "json"))
        self.assertEqual((answer["kind"], answer["state"]), ("WhatIfReplay", "done"))
        sides = answer["all"]
        self.assertEqual(sides["as_set"]["jobs"], 2)
        self.assertGreater(sides["as_set"]["mean_wait"], 0.4)
        self.assertEqual(sides["changed"]["mean_wait"], 0)
        self.assertIn("Jobs would have", self.out("whatif", "policy", "order=age", "--days", "1"))
        self.assertEqual(self.sequence(), before)
        self.out("whatif", "quota", "vison=8", "--days", "7", code=127)
        self.out("whatif", "policy", "order=age", code=124)
        self.out("whatif", "policy", "odrer=age", "--days", "7", code=127)
        self.out("whatif", "limit", "vision=8", "--days", "0", code=124)

    def state_without_now(self):
        state = self.server.get("state")
        order = json.loads(state["order"])
        del state["now"], order["kept"]
        state["order"] = order
        for job in state["jobs"]:  # the GPU time that running ones have had grows with it
            job.pop("attained", None)
        return state

    def test_an_exported_state_decides_as_the_server_did(self):
        self.waits_for_limit()
        self.running("-p", "nlp", "-g", "4", "-n", "llama")
        waiting = self.submit("-p", "nlp", "-g", "4", "-n", "more")
        eventually(lambda: self.server.get(f"jobs/{waiting}")["verdict"])
        reasons = {job["spec"]["name"]: job["verdict"]["reason"]
                   for job in self.server.get("jobs")["items"] if job["verdict"]}
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "state.json")
            self.out("plan", "--export", file)
            plan = json.loads(self.out("plan", "--state", file, "-o", "json"))
            self.assertEqual(json.loads(pathlib.Path(file).read_text())["as_listed"], True)
            supposed = self.out("whatif", "limit", "vision=6", "--state", file)
            self.assertRegex(supposed, r"(?m)^\d+ vision/second +waits: QuotaHard +(waits|starts)")
        self.assertEqual(plan["plan"]["starts"], [])
        found = {plan["job_names"][str(verdict["job"])].split("/")[1]: verdict["reason"]
                 for verdict in plan["verdicts"]}
        self.assertEqual(found, reasons)
        self.assertIn('"as_listed": true', self.out("plan", "--export"))

    def test_an_exported_state_says_how_the_policy_is_set(self):
        self.out("policy", "set", "min_runtime=90m", "consolidation_max_jobs=0")
        exported = json.loads(self.out("plan", "--export"))
        self.assertEqual(exported["profile"], "berth")
        self.assertEqual(exported["policy"]["min_runtime"], "1h30m")
        self.assertEqual(exported["policy"]["consolidation_max_jobs"], "0")
        self.out("policy", "reset", "min_runtime", "consolidation_max_jobs")
        self.assertNotIn("min_runtime", json.loads(self.out("plan", "--export")).get("policy", {}))


if __name__ == "__main__":
    main()
