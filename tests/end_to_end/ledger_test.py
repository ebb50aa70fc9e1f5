# SPDX-License-Identifier: Apache-2.0
"""Where did the GPU time go, as a user asks it: report, eff and the address behind them."""
import csv
import datetime
import io

from server_case import Refused, ServerCase, eventually, main

USES = ["busy", "allocated_idle", "not_measured", "starting", "leaving", "lost_to_pause",
        "lost_to_failure", "reserved", "blocked_by_room", "blocked_by_rules", "free", "others",
        "unhealthy"]


class Ledger(ServerCase):
    def ledger(self, query=""):
        return self.server.request("GET", f"ledger{query}")

    def test_all_uses_sum_to_capacity_by_whatever_it_is_asked(self):
        self.server.wait(self.shell("sleep 0.2; exit 3", gpus=1))
        self.server.wait(self.shell("sleep 1000", gpus=2), "running")
        for by in ["project", "user", "gpu", "pool", "day"]:
            found = self.ledger(f"?by={by}")
            total = found["total"]
            self.assertEqual(list(total["gpu_seconds"]), USES)
            self.assertAlmostEqual(sum(total["gpu_seconds"].values()), found["capacity"], 6)
            self.assertAlmostEqual(sum(row["sum"] for row in found["rows"]), found["capacity"], 6)
            self.assertGreater(total["gpu_seconds"]["lost_to_failure"] +
                               total["gpu_seconds"]["starting"], 0)
            self.assertGreater(total["gpu_seconds"]["free"], 0)

    def test_a_restart_forgets_nothing(self):
        job = self.shell("sleep 1000", gpus=2)
        self.server.wait(job, "running")
        self.server.berth("pause", str(job))
        self.server.wait_for_state(job, "paused")
        before = self.server.request("GET", f"jobs/{job}")["milli_gpu_ms"]
        capacity = self.ledger()["capacity"]
        self.server.kill()
        self.server.up()
        self.assertEqual(self.server.request("GET", f"jobs/{job}")["milli_gpu_ms"], before)
        found = self.ledger()
        self.assertGreater(found["capacity"], capacity)
        self.assertAlmostEqual(sum(found["total"]["gpu_seconds"].values()), found["capacity"], 6)

    def test_report_and_eff_are_sentences_first_and_fit(self):
        self.server.wait(self.shell("exit 3", gpus=1, name="breaks"))
        for arguments in [["report"], ["report", "--by", "day", "--since", "30d"],
                          ["report", "--by", "job"], ["eff", "breaks"]]:
            text = self.server.berth(*arguments).stdout
            self.assertLessEqual(max(map(len, text.splitlines())), 100, text)
        self.assertIn("Sums to capacity, exactly:", self.server.berth("report").stdout)
        self.assertIn("breaks has had", self.server.berth("eff", "breaks").stdout)

    def test_savings_are_parts_of_the_waste_with_an_act_each_whatever_it_is_by(self):
        self.server.berth("project", "create", "owner", "--quota", "8")
        self.server.wait(self.shell("sleep 0.2; exit 3", gpus=1, name="breaks"))
        taken = self.shell("sleep 1000", gpus=2, name="taken")
        eventually(lambda: self.server.request("GET", f"jobs/{taken}")["milli_gpu_ms"]
                   .get("not_measured"))
        self.server.wait(self.shell("sleep 1000", gpus=8, project="owner"), "running")
        for by in ["project", "job", "day"]:
            found = self.ledger(f"?by={by}")
            savings = {saving["name"]: saving for saving in found["savings"]}
            self.assertEqual(savings["taken"]["use"], "lost_to_pause")
            self.assertEqual(savings["taken"]["job"], taken)
            self.assertEqual(savings["taken"]["command"], f"berth eff {taken}")
            self.assertTrue(all(saving["act"] for saving in found["savings"]))
            sum_of_savings = sum(saving["gpu_seconds"] for saving in found["savings"])
            self.assertLessEqual(sum_of_savings, found["wasted"] + 1e-6)
            self.assertEqual([said["about"] for said in found["sentences"]], ["use", "waste"])
        report = " ".join(self.server.berth("report").stdout.split())
        self.assertRegex(report, "What would save most, in GPU [a-z]+ a week at most:")
        self.assertIn("lost to pause: save on SIGTERM, or more often", report)
        self.assertTrue(report.startswith("Of "), report)

    def test_a_report_ends_where_it_is_asked_to(self):
        text = self.server.berth("report", "--since", "2001-01-01", "--until", "2001-01-31").stdout
        self.assertEqual(text, "No GPU time is on record from 2001-01-01 to 2001-01-31.\n")

    def test_a_name_in_csv_is_no_formula(self):
        self.server.berth("project", "create", "=1+1", "--quota", "0")
        self.server.wait(self.shell("sleep 1000", gpus=1, project="=1+1"), "running")
        rows = csv.DictReader(io.StringIO(self.server.berth("report", "--csv").stdout))
        self.assertIn("'=1+1", [row["project"] for row in rows])

    def test_csv_has_every_use_and_prices_have_a_column(self):
        self.server.wait(self.shell("sleep 1000", gpus=1), "running")
        rows = list(csv.DictReader(io.StringIO(self.server.berth("report", "--csv").stdout)))
        self.assertEqual(list(rows[0]), ["project", *USES, "sum"])
        model = self.server.request("GET", "nodes")["items"][0]["gpu_model"]
        self.server.berth("policy", "set", f"gpu_prices={model or 'other'}:3600")
        found = self.ledger("?by=gpu")
        if model:
            self.assertAlmostEqual(found["total"]["cost"], found["total"]["sum"], 2)
        else:
            self.assertEqual(found["unpriced"], [""])
        self.assertIn("COST", self.server.berth("report").stdout)

    def test_what_is_asked_wrongly_is_refused_with_what_was_wanted(self):
        for query, wanted in [("?by=gpus", "by: wanted project, user, job, gpu, pool or day"),
                              ("?from=today", "from: wanted a date such as"),
                              ("?from=2026-02-02&to=2026-02-01", "from: wanted a date that is not"),
                              ("?form=xml", "form: wanted json or csv")]:
            with self.assertRaises(Refused) as refused:
                self.ledger(query)
            self.assertEqual(refused.exception.status, 400)
            self.assertIn(wanted, str(refused.exception))

    def test_days_without_a_record_are_empty(self):
        found = self.ledger("?from=2001-01-01&to=2001-01-31")
        self.assertEqual((found["rows"], found["capacity"]), ([], 0))
        today = datetime.datetime.now(datetime.timezone.utc).date()
        self.assertGreaterEqual(self.ledger()["to"], str(today - datetime.timedelta(days=1)))


if __name__ == "__main__":
    main()
