# SPDX-License-Identifier: Apache-2.0
"""The policy of a running server: shown, set for good, reset; what is refused changes nothing."""
import json
import pathlib

from server_case import Refused, ServerCase, main


class Policy(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G", "--min-runtime", "7m")

    def berth(self, *words, code=0):
        result = self.server.berth(*words, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def settings(self):
        document = self.server.get("policy")
        self.assertEqual((document["kind"], document["profile"]), ("Policy", "berth"))
        return {setting["name"]: setting for setting in document["settings"]}

    def value(self, name):
        setting = self.settings()[name]
        return setting["value"], setting["started_with"], setting["is_set"]

    def node_of_next_job(self):
        job = self.shell("sleep 600")
        self.server.wait_for_state(job, "running")
        return self.server.get(f"jobs/{job}")["tasks"][0]["node"]

    def test_a_setting_holds_from_the_next_decision_on_and_after_a_crash(self):
        first = self.node_of_next_job()
        self.assertEqual(self.node_of_next_job(), first)
        self.assertEqual(self.berth("policy", "set", "train=spread", "min_runtime=90m"),
                         "train is spread, was binpack\nmin_runtime is 1h30m, was 7m\n")
        self.assertNotEqual(self.node_of_next_job(), first)
        self.assertEqual(self.value("min_runtime"), ("1h30m", "7m", True))

        self.server.kill()
        self.assertIn("min_runtime=1h30m, train=spread", self.server.up())
        self.assertEqual(self.value("min_runtime"), ("1h30m", "7m", True))
        self.assertEqual(self.value("train"), ("spread", "binpack", True))
        self.berth("down")
        self.server.up()  # from the snapshot
        self.assertEqual(self.value("min_runtime"), ("1h30m", "7m", True))

        self.assertEqual(self.berth("policy", "reset", "min_runtime"),
                         "min_runtime is 7m, was 1h30m (startup value)\n")
        self.server.kill()
        self.server.up()
        self.assertEqual(self.value("min_runtime"), ("7m", "7m", False))
        self.assertEqual(self.value("train"), ("spread", "binpack", True))

    def test_who_set_what_is_in_the_log(self):
        self.berth("policy", "set", "grace=90s")
        self.berth("policy", "reset", "grace")
        events = [event for event in self.server.get("events?after=0")["items"]
                  if event["type"] == "policy_set"]
        self.assertEqual([event["settings"] for event in events],
                         [{"grace": "1m30s"}, {"grace": None}])
        self.assertNotIn("machine", {event["actor"] for event in events})
        self.assertIn("policy: grace=1m30s", self.berth("events"))

    def test_every_setting_is_documented_shown_and_takes_the_value_it_shows(self):
        settings = self.settings()
        self.assertGreater(len(settings), 20)
        shown = self.berth("policy")
        for name, setting in settings.items():
            self.assertRegex(shown, rf"(?m)^{name} +{setting['value']} ")
        self.server.request("PUT", "policy", {name: setting["value"]
                                              for name, setting in settings.items()})
        for name, setting in self.settings().items():
            self.assertTrue(setting["is_set"], name)
            self.assertEqual(setting["value"], settings[name]["value"], name)
        self.berth("policy", "reset", *settings)
        self.assertFalse(any(setting["is_set"] for setting in self.settings().values()))
        scenarios = pathlib.Path(__file__).resolve().parents[2] / "docs/scenario-language.md"
        for name in settings:
            self.assertRegex(scenarios.read_text(), rf"(?m)^\| .*`{name}`.* \|")
        listed = json.loads(self.berth("policy", "show", "--json"))["settings"]
        self.assertEqual([setting["name"] for setting in listed], list(settings))
        self.assertEqual(self.berth("policy", "show", "grace", "-q"), "grace\n")

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        before = self.server.get("status")["sequence"]
        for code, words, why in (
                (127, "set min-runtime=1m", 'did you mean "min_runtime"?'),
                (127, "set profile=classic", 'no setting "profile"'),
                (127, "reset graec", 'did you mean "grace"?'),
                (127, "show graec", 'did you mean "grace"?'),
                (124, "set usage_weight=-1", "usage_weight: wanted a number from 0 to 1000"),
                (124, "set reservation_hold=1m consolidation_max_jobs=many",
                 "consolidation_max_jobs: wanted a whole number"),
                (124, "set waste_budget=2", "wanted a number from 0 to 1"),
                (124, "set grace=1h", "wanted a time from 0s to 10m"),
                (124, "set grace", "wanted NAME=VALUE"),
                (124, "set grace=", "wanted NAME=VALUE"),
                (124, "set min_run=1m min_runtime=2m", "twice")):
            self.assertIn(why, self.berth("policy", *words.split(), code=code))
        for status, body in ((404, {"graec": 1}), (400, {"grace": True}), (400, {"grace": [1]}),
                             (400, {"train": 1.5}), (400, [])):
            with self.assertRaises(Refused) as refused:
                self.server.request("PUT", "policy", body)
            self.assertEqual(refused.exception.status, status, body)
        self.assertEqual(self.server.get("status")["sequence"], before)
        self.server.request("PUT", "policy", {"consolidation_max_jobs": 1, "grace": None})
        self.assertEqual(self.value("consolidation_max_jobs"), ("1", "16", True))
        self.server.request("PUT", "policy", {"consolidation_max_jobs": 1})  # as it is: no event
        self.assertEqual(self.server.get("status")["sequence"], before + 1)

    def test_a_setting_that_is_gone_is_refused_with_what_holds_instead(self):
        before = self.server.get("status")["sequence"]
        for words, why in (
                ("set tiers=4", 'setting "tiers" is gone: order=levels goes by used GPU time'),
                ("set grace=1m first_tier=5m", "10 GPU-minutes"),
                ("reset tier_factor", "eight times"),
                ("show tier_patience", "order.patience"),
                ("set sticky_plans=no", "always reserved")):
            seen = self.berth("policy", *words.split(), code=127)
            self.assertIn("is gone: ", seen)
            self.assertIn(why, seen)
        with self.assertRaises(Refused) as refused:
            self.server.request("PUT", "policy", {"tiers": 4})
        self.assertEqual(refused.exception.status, 404)
        self.assertIn("is gone: order=levels", refused.exception.body)
        self.assertEqual(self.server.get("status")["sequence"], before)

    def test_the_names_of_the_last_release_are_still_taken(self):
        self.assertEqual(self.berth("policy", "set", "moves=3"),
                         "consolidation_max_jobs is 3, was 16\n")
        self.assertEqual(self.berth("policy", "show", "moves", "-q"), "consolidation_max_jobs\n")
        self.server.request("PUT", "policy", {"hold": "45s"})
        self.assertEqual(self.value("reservation_hold"), ("45s", "30s", True))
        self.berth("policy", "reset", "moves", "hold")
        self.assertEqual(self.value("consolidation_max_jobs"), ("16", "16", False))


if __name__ == "__main__":
    main()
