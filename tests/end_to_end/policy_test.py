# SPDX-License-Identifier: Apache-2.0
"""The policy of a running server: shown, set for good, reset; what is refused changes nothing."""
import json
import pathlib

from server_case import Refused, ServerCase, main


class Policy(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G", "--min-run", "7m")

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
        self.assertEqual(self.berth("policy", "set", "train=spread", "min_run=90m"),
                         "train is spread, was binpack\nmin_run is 1h30m, was 7m\n")
        self.assertNotEqual(self.node_of_next_job(), first)
        self.assertEqual(self.value("min_run"), ("1h30m", "7m", True))

        self.server.kill()
        self.assertIn("min_run=1h30m, train=spread", self.server.up())
        self.assertEqual(self.value("min_run"), ("1h30m", "7m", True))
        self.assertEqual(self.value("train"), ("spread", "binpack", True))
        self.berth("down")
        self.server.up()  # from the snapshot
        self.assertEqual(self.value("min_run"), ("1h30m", "7m", True))

        self.assertEqual(self.berth("policy", "reset", "min_run"),
                         "min_run is 7m, was 1h30m (what the server was started with)\n")
        self.server.kill()
        self.server.up()
        self.assertEqual(self.value("min_run"), ("7m", "7m", False))
        self.assertEqual(self.value("train"), ("spread", "binpack", True))

    def test_who_set_what_is_in_the_log(self):
        self.berth("policy", "set", "moves=0")
        self.berth("policy", "reset", "moves")
        events = [event for event in self.server.get("events?after=0")["items"]
                  if event["type"] == "policy_set"]
        self.assertEqual([event["settings"] for event in events], [{"moves": "0"}, {"moves": None}])
        self.assertNotIn("machine", {event["actor"] for event in events})
        self.assertIn("policy: moves=0", self.berth("events"))

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
        self.assertEqual(self.berth("policy", "show", "moves", "-q"), "moves\n")

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        before = self.server.get("status")["sequence"]
        for code, words, why in (
                (127, "set min-run=10m", 'no setting "min-run", did you mean "min_run"?'),
                (127, "set profile=classic", 'no setting "profile"'),
                (127, "reset mvoes", 'did you mean "moves"?'),
                (127, "show mvoes", 'did you mean "moves"?'),
                (124, "set moves=-1", "moves: wanted a whole number from 0 to 1000"),
                (124, "set hold=1m moves=many", "moves: wanted a whole number"),
                (124, "set waste_budget=2", "wanted a number from 0 to 1"),
                (124, "set grace=1h", "wanted a time from 0s to 10m"),
                (124, "set moves", "wanted NAME=VALUE"),
                (124, "set moves=", "wanted NAME=VALUE"),
                (124, "set moves=1 moves=2", "twice")):
            self.assertIn(why, self.berth("policy", *words.split(), code=code))
        for status, body in ((404, {"mvoes": 1}), (400, {"moves": True}), (400, {"moves": [1]}),
                             (400, {"moves": 1.5}), (400, [])):
            with self.assertRaises(Refused) as refused:
                self.server.request("PUT", "policy", body)
            self.assertEqual(refused.exception.status, status, body)
        self.assertEqual(self.server.get("status")["sequence"], before)
        self.server.request("PUT", "policy", {"moves": 1, "hold": None})
        self.assertEqual(self.value("moves"), ("1", "16", True))
        self.server.request("PUT", "policy", {"moves": 1})  # as it is: no event
        self.assertEqual(self.server.get("status")["sequence"], before + 1)


if __name__ == "__main__":
    main()
