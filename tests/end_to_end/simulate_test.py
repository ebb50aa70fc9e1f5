# SPDX-License-Identifier: Apache-2.0
"""berth simulate: traces of all forms, clusters, policies, reference orders, and its progress."""
import gzip
import json
import pathlib
import tempfile

from server_case import ServerCase, main


class Simulating(ServerCase):
    def test_policies_are_compared_in_every_form_and_faults_are_told(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            path = pathlib.Path(folder)
            with gzip.open(path / "trace.csv.gz", "wt") as file:
                file.write("submit_s,duration_s,gpus\n0,100,2\n1,10,4\n2,10,1\n")

            def simulate(*words, code=0, nodes="1x4"):
                trace = str(path / "trace.csv.gz")
                done = self.server.berth("simulate", "--trace", trace, "--nodes", nodes,
                                         "--reference", "fifo,fjf", *words, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return done

            fifo, fjf = json.loads(simulate("-o", "json").stdout)
            self.assertEqual((fifo["policy"], fifo["jobs"], fifo["finished"]), ("fifo", 3, 3))
            self.assertAlmostEqual(fifo["avg_jct_s"], (100 + 109 + 118) / 3, places=5)
            self.assertAlmostEqual(fjf["avg_jct_s"], (100 + 109 + 10) / 3, places=5)
            self.assertEqual(fjf["pauses"], 0)
            self.assertRegex(simulate().stdout, r"(?m)^POLICY +AVG JCT.*\nfifo\* +1m49s ")
            self.assertIn("\n* reference, not what the server runs\n", simulate().stdout)
            age, fifo, _ = json.loads(simulate("--policy", "age", "--json").stdout)
            self.assertEqual((age["policy"], age["reference"]), ("age", False))
            self.assertEqual((fifo["policy"], fifo["reference"]), ("fifo", True))
            self.assertNotIn("projects", age)
            page = simulate("-o", "html").stdout
            self.assertTrue(page.startswith("<!doctype html>"))
            self.assertNotRegex(page, r"<script|https?://|@import")
            unfinished = simulate("--json", nodes="1x2", code=1)
            self.assertIn("fifo: 1 of 3 jobs did not finish; the widest asks 4 GPUs, there are 2\n",
                          unfinished.stderr)
            self.assertEqual(json.loads(unfinished.stdout)[0]["finished"], 2)
            self.assertIn("wanted NODESxGPUS", simulate(nodes="8", code=124).stderr)
            self.assertIn("each model named", simulate(nodes="1x4,1xk80:4,2x4", code=124).stderr)
            self.assertIn("wanted --speeds", simulate("--models", "swap", code=124).stderr)
            self.assertIn("none of: fifo", simulate("--reference", "x", code=124).stderr)
            self.assertIn("none of learned", simulate("--policy", "x", code=124).stderr)
            self.assertIn("use --reference", simulate("--policy", "srsf", code=124).stderr)
            for none in ("", ","):
                self.assertIn("none of: fifo", simulate("--reference", none, code=124).stderr)
                self.assertIn("none of learned", simulate("--policy", none, code=124).stderr)
                self.assertIn("wanted NODESxGPUS", simulate(nodes=none, code=124).stderr)
            self.assertIn("needs --reference",
                          simulate("--policy", "age", "--packing", "muri", code=124).stderr)
            self.assertIn("--save-time", simulate("--save-time", "1s", code=124).stderr)
            self.assertIn('missing column "timestamp" (submit), "duration" (duration)',
                          simulate("--format", "philly", code=2).stderr)

    def test_traces_of_ones_own_are_read_and_what_is_no_job_is_noted(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            trace = pathlib.Path(folder) / "trace"

            def simulate(*words, code=0):
                done = self.server.berth("simulate", "--trace", str(trace), "--nodes", "1x4",
                                         *words, "--json", check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return done

            trace.write_text(
                "JobID|Submit|Elapsed|AllocTRES|User\n"
                "1|2024-05-01T10:00:00|00:10:00|cpu=8,gres/gpu=4|maria\n"
                "1.batch|2024-05-01T10:00:00|00:10:00|cpu=8,gres/gpu=4|\n"
                "2|2024-05-01T10:00:30|00:10:00|cpu=8|tom\n")
            done = simulate()
            self.assertEqual(json.loads(done.stdout)[0]["avg_jct_s"], 600)
            self.assertEqual(done.stderr, f"note: {trace}: 2 rows left out: 1 without GPUs, "
                                          "1 step of another job\n")
            trace.write_bytes(b"\xef\xbb\xbfBegin;GPU count;Run time\r\n2024-05-01;4;1h\r\n")
            done = simulate("--columns", "submit=begin,gpus=gpu count,duration=run time")
            self.assertEqual(json.loads(done.stdout)[0]["avg_jct_s"], 3600)
            self.assertEqual(done.stderr, "")
            error = simulate(code=2).stderr
            for part in ('found "Begin", "GPU count", "Run time"',
                         "berth (submit_s duration_s gpus)", "try  --columns submit=NAME"):
                self.assertIn(part, error)
            columns = "submit=begin,gpus=gpu count,duration=run time"
            trace.write_text("Begin,GPU count,Run time\n0,1.0,10\n0,0.5,60\n0,0.5,60\n")
            done = simulate("--columns", columns, "--nodes", "1x2")
            self.assertEqual(json.loads(done.stdout)[0]["max_jct_s"], 60)
            self.assertIn("--reference: job 2, submitted at 0s, asks 0.5 GPUs, and these orders "
                          "hand out whole GPUs only",
                          simulate("--columns", columns, "--reference", "fifo", code=2).stderr)
            self.assertIn('found column "Begin" for submit and for gpus, wanted one for each',
                          simulate("--columns", "submit=begin,gpus=begin,duration=run time",
                                   code=2).stderr)
            trace.write_text("submit_s,submit,duration_s,gpus\n0,5,10,8\n")
            error = simulate(code=2).stderr
            self.assertIn('found columns "submit_s" and "submit" for submit, wanted one', error)
            self.assertIn("try  --columns submit=NAME", error)
            simulate("--columns", "submit=submit", "--nodes", "1x8")
            trace.write_text("submit_s,duration_s,gpus,pool\n0,10,4,\n")
            self.assertEqual(simulate().stderr, "")
            trace.write_text("submit_s,duration_s,gpus,pool\n0,10,4,a\n0,10,4,b\n")
            for words in (), ("--reference", "fifo"):
                self.assertEqual(simulate(*words).stderr,
                                 f"note: {trace}: pools count with --quotas alone; with --nodes "
                                 "each job may run on all nodes\n")
            trace.write_text("submit_s,duration_s,gpus\n0,10,8\n")
            none = self.server.berth("simulate", "--trace", str(trace), "--nodes", "1x4",
                                     check=False)
            self.assertRegex(none.stdout, r"(?m)^learned( +-){5} +0( +-){2}$")
            trace.write_text("Begin,GPU count,Run time\n0,1.0,10\n")
            self.assertIn("wanted FIELD=COLUMN", simulate("--columns", "x=y", code=124).stderr)
            self.assertIn("found no column of projects", simulate(
                "--columns", "submit=begin,gpus=gpu count,duration=run time", "--project", "a",
                code=2).stderr)

    def test_gpus_of_several_models_are_chosen_by_measured_speed(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            path = pathlib.Path(folder)
            (path / "trace.csv").write_text("submit_s,duration_s,gpus,name\n0,10,2,a\n0,10,2,b\n")
            alone = {"('a', 2)": {"null": 4}, "('b', 2)": {"null": 8}}
            slower = {"('a', 2)": {"null": 2}, "('b', 2)": {"null": 1}}
            speeds = {"v100": alone, "v100_unconsolidated": alone, "k80": slower,
                      "k80_unconsolidated": slower}
            (path / "speeds.json").write_text(json.dumps(speeds))

            def simulate(nodes, models="any", code=0):
                done = self.server.berth("simulate", "--trace", str(path / "trace.csv"), "--nodes",
                                         nodes, "--reference", "fjf", "--speeds",
                                         str(path / "speeds.json"), "--models", models, "--json",
                                         "--restart-cost", "0s", check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return done

            nodes = "1xv100:2,1xk80:2"
            for models, ends in (("fastest", (10, 80)), ("swap", (15, 10))):
                found = json.loads(simulate(nodes, models).stdout)[0]
                self.assertAlmostEqual(found["avg_jct_s"], sum(ends) / 2, places=5)
            self.assertIn("found v100, k80", simulate("1xh100:2", code=2).stderr)
            self.assertIn("wanted any, fastest, swap", simulate(nodes, "slow", code=124).stderr)

    def test_a_trace_is_replayed_in_a_cluster_with_quotas(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            path = pathlib.Path(folder)
            (path / "lab.yaml").write_text(
                "nodes: [{name: n0, gpus: 2}]\n"
                "projects: [{name: a, quota: 1}, {name: b, quota: 1}]\n")
            (path / "trace.csv").write_text(
                "submit_s,duration_s,gpus,project,kind\n"
                "0,1000,1,a,train\n0,1000,1,a,\n400,100,1,b,build\n")

            def simulate(*words, code=0):
                done = self.server.berth("simulate", "--trace", str(path / "trace.csv"), "--quotas",
                                         str(path / "lab.yaml"), *words, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                return done

            policies = json.loads(simulate("--policy", "classic,learned:grace=50s:tail=20",
                                           "--json").stdout)
            self.assertEqual([run["policy"] for run in policies],
                             ["classic", "learned:grace=50s:tail=20"])
            for run in policies:
                self.assertEqual(run["longest_in_quota_wait_s"], 30)
                a, b = run["projects"]
                self.assertEqual((a["name"], a["jobs"], a["finished"], a["pauses"]), ("a", 2, 2, 1))
                self.assertEqual((b["pauses"], b["avg_jct_s"]), (0, 130))
            self.assertRegex(simulate().stdout, r"(?m)^b +1 +2m10s +0 +0 +0 +30s$")
            self.assertIn("<svg", simulate("-o", "html").stdout)
            self.assertIn("wanted either --nodes", simulate("--nodes", "2x4", code=124).stderr)
            self.assertIn("know no projects", simulate("--reference", "fjf", code=124).stderr)
            self.assertIn('unknown setting "speed"', simulate("--policy", "learned:speed=1",
                                                              code=124).stderr)
            self.assertIn("more than its grace of 1m", simulate("--save-time", "2m", code=2).stderr)
            note = "under each policy by an order of their own: "
            self.assertNotIn(note, simulate().stdout)
            self.assertIsNone(policies[0]["projects"][0]["own_order"])
            lab = (path / "lab.yaml").read_text()
            (path / "lab.yaml").write_text(lab.replace("{name: a,", "{name: a, job_order: age,"))
            self.assertIn(f"\n{note}a age\n", simulate("--policy", "learned,levels").stdout)
            self.assertIn("order of their own: a age.", simulate("-o", "html").stdout)
            a, b = json.loads(simulate("--json").stdout)[0]["projects"]
            self.assertEqual((a["own_order"], b["own_order"]), ("age", None))
            (path / "lab.yaml").write_text(lab + "policy: {grace: 50s, order.hysteresis: 16}\n")
            refused = simulate(code=2).stderr
            self.assertIn('"profile" and "policy" say nothing here', refused)
            self.assertIn("--policy learned:grace=50s:order.hysteresis=16", refused)
            simulate("--policy", "learned:grace=50s:order.hysteresis=16", code=2)
            (path / "lab.yaml").write_text(lab + "profile: classic\n")
            self.assertIn("--policy classic,", simulate(code=2).stderr)
            (path / "lab.yaml").write_text(lab)
            simulate("--policy", "learned:grace=50s:order.hysteresis=16")
            (path / "lab.yaml").write_text(
                lab.replace("b, quota: 1", "b, quota: 1, kind: fixed"))
            (path / "trace.csv").write_text("submit_s,duration_s,gpus,project\n0,1,2,a\n0,1,1,b\n")
            self.assertIn("1 of 2 jobs did not finish; job 1, submitted at 0s: ",
                          simulate(code=1).stderr)
            (path / "lab.yaml").write_text(lab)
            (path / "trace.csv").write_text("submit_s,duration_s,gpus,project\n0,1,1,c\n")
            self.assertIn('project "c" is not in the cluster', simulate(code=2).stderr)
            (path / "trace.csv").write_text("submit_s,duration_s,gpus,kind\n0,1,1,bild\n")
            self.assertIn("wanted build, train or inference", simulate(code=2).stderr)

    def test_a_simulation_shows_how_far_it_is_on_a_terminal_alone(self):
        with tempfile.TemporaryDirectory(prefix="b") as folder:
            trace = pathlib.Path(folder) / "trace.csv"
            trace.write_text("submit,duration,gpus\n50,100,1\n50,100,1\n")
            words = ["simulate", "--trace", str(trace), "--nodes", "1x1"]
            code, seen = self.on_terminal(*words, "--policy", "age", "--reference", "fifo",
                                          environment={"NO_COLOR": "1"})
            self.assertEqual(code, 0, seen)
            for policy in ("age", "fifo"):
                self.assertIn(f"\r\x1b[K{policy}: 0 of 2 jobs finished, 0s simulated", seen)
            # What is left is the table alone.
            self.assertIn("\r\x1b[KPOLICY", seen)
            self.assertEqual(self.server.berth(*words).stderr, "")


if __name__ == "__main__":
    main()
