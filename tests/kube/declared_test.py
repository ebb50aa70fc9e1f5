# SPDX-License-Identifier: Apache-2.0
"""Projects, Pools and the Policy on a real server: what it refuses, and in which words; what it
takes, read by the reader of the scheduler; how kubectl shows them."""
import json
import re
import subprocess
import sys

from install_case import KINDS, InstallCase
from kube_case import PATIENCE, Refused, eventually, main

PROGRAM, READER = sys.argv.pop(1), sys.argv.pop(1)

PLURALS = {"Project": "projects", "Pool": "pools", "Policy": "policies"}

GPUS = "wanted a number of GPUs such as 4 or 0.125, or -1 for no bound"
TIME = "wanted a time such as 90s, 5m or 1h30m, at most 365d"
PROJECT = 'wanted the name of a project: lower case letters, digits, "-" and "."'
POOL = 'wanted the name of a pool: lower case letters, digits, "-" and "."'

# (kind, name, spec, field, words): words of what would be right stand behind the field.
WRONG = [
    ("Project", "a", {"quota": "many"}, "spec.quota", "must be of type number"),
    ("Project", "a", {"quota": -2}, "spec.quota", "greater than or equal to -1"),
    ("Project", "a", {"quota": -0.5}, "spec.quota", GPUS),
    ("Project", "a", {"quota": 0.1234}, "spec.quota", GPUS),
    ("Project", "a", {"quota": 1e11}, "spec.quota", "less than or equal to 1e+10"),
    ("Project", "a", {"quota": True}, "spec.quota", "must be of type number"),
    ("Project", "a", {"limit": "none"}, "spec.limit", "must be of type number"),
    ("Project", "a", {"limit": -0.25}, "spec.limit", GPUS),
    ("Project", "a", {"weight": -1}, "spec.weight", "greater than or equal to 0"),
    ("Project", "a", {"weight": 0.0001}, "spec.weight", "wanted a weight such as 1 or 0.125"),
    ("Project", "a", {"weight": 2_000_000}, "spec.weight", "less than or equal to 1000000"),
    ("Project", "a", {"priority": 1.5}, "spec.priority", "must be of type integer"),
    ("Project", "a", {"priority": 2_000_000}, "spec.priority", "less than or equal to 1000000"),
    ("Project", "a", {"kind": "free"}, "spec.kind", 'supported values: "guaranteed", "fixed"'),
    ("Project", "a", {"parent": "A_B"}, "spec.parent", PROJECT),
    ("Project", "a", {"parent": ""}, "spec.parent", PROJECT),
    ("Project", "a", {"parent": "a"}, "spec.parent", "a project cannot be below itself"),
    ("Project", "a", {"parent": "x" * 64}, "spec.parent", "may not be more than 63"),
    ("Project", "a" * 64, {}, "metadata.name", "wanted at most 63 characters"),
    ("Project", "a", {"preemptionDelay": "soon"}, "spec.preemptionDelay", TIME),
    ("Project", "a", {"preemptionDelay": 90}, "spec.preemptionDelay", "must be of type string"),
    ("Project", "a", {"preemptMinRun": "366d"}, "spec.preemptMinRun", TIME),
    ("Project", "a", {"preemptMinRun": "8761h"}, "spec.preemptMinRun", TIME),
    ("Project", "a", {"preemptMinRun": "9999999999h"}, "spec.preemptMinRun", TIME),
    ("Project", "a", {"reclaimMinRun": "-5m"}, "spec.reclaimMinRun", TIME),
    ("Project", "a", {"reclaimMinRun": ""}, "spec.reclaimMinRun", TIME),
    ("Project", "a", {"jobOrder": "fifo"}, "spec.jobOrder",
     'supported values: "learned", "levels", "age"'),
    ("Project", "a", {"jobTail": 51}, "spec.jobTail", "less than or equal to 50"),
    ("Project", "a", {"namespaces": ["ML"]}, "spec.namespaces[0]",
     'wanted the name of a namespace: lower case letters, digits and "-"'),
    ("Project", "a", {"namespaces": ["ml", "ml"]}, "spec.namespaces[1]", "Duplicate value"),
    ("Project", "a", {"namespaces": "ml"}, "spec.namespaces", "must be of type array"),
    ("Project", "a", {"namespaces": [f"n{i}" for i in range(257)]}, "spec.namespaces",
     "must have at most 256 items"),
    ("Project", "a", {"pools": {"h100": {"quota": -7}}}, "spec.pools.h100.quota",
     "greater than or equal to -1"),
    ("Project", "a", {"pools": {"H100": {"quota": 7}}}, "spec.pools",
     'wanted names of pools: lower case letters, digits, "-" and "."'),
    ("Project", "a", {"pools": {"h100": 4}}, "spec.pools.h100", "must be of type object"),
    ("Project", "a", {"preemption_delay": "5m"}, "spec.preemption_delay", "unknown field"),
    ("Pool", "a", {}, "spec.nodeSelector", "wanted the labels of its nodes"),
    ("Pool", "a", {"nodeSelector": {}}, "spec.nodeSelector", "wanted the labels of its nodes"),
    ("Pool", "default", {"nodeSelector": {"a": "b"}}, "spec.nodeSelector",
     "the pool default takes the nodes that match no other pool"),
    ("Pool", "a", {"nodeSelector": {"a b": "c"}}, "spec.nodeSelector",
     "wanted keys of labels, such as zone or example.org/zone"),
    ("Pool", "a", {"nodeSelector": {"a": "b c"}}, "spec.nodeSelector[a]",
     'wanted the value of a label: letters, digits, "-", "_" and "."'),
    ("Pool", "a", {"nodeSelector": {"a": 1}}, "spec.nodeSelector.a", "must be of type string"),
    ("Pool", "a", {"nodeSelector": {"a": "b"}, "spares": "a"}, "spec.spares",
     "a pool cannot be its own"),
    ("Pool", "a", {"nodeSelector": {"a": "b"}, "spares": "B"}, "spec.spares", POOL),
    ("Pool", "a", {"nodeSelector": {"a": "b"}, "exchange": {"H100": 0}}, "spec.exchange.H100",
     "greater than 0"),
    ("Pool", "a", {"nodeSelector": {"a": "b"}, "exchange": {"H100": 1001}}, "spec.exchange.H100",
     "less than or equal to 1000"),
    ("Pool", "a", {"nodeSelector": {"a": "b"}, "exchange": {"": 1}}, "spec.exchange",
     "wanted names of GPU models"),
    ("Policy", "other", {}, "metadata.name", "wanted default; there is one Policy"),
    ("Policy", "default", {"profile": "fifo"}, "spec.profile",
     'supported values: "berth", "classic"'),
    ("Policy", "default", {"levels": ["node"]}, "spec.levels[0]",
     "the node itself is always the last level"),
    ("Policy", "default", {"levels": list("abcdefghi")}, "spec.levels",
     "must have at most 8 items"),
    ("Policy", "default", {"settings": {"movse": "3"}}, "spec.settings.movse", "unknown field"),
    ("Policy", "default", {"settings": {"usage_weight": 3}}, "spec.settings.usage_weight",
     "must be of type string"),
    ("Policy", "default", {"settings": {"backfill_reservations": "1001"}},
     "spec.settings.backfill_reservations",
     "wanted a whole number from 0 to 1000"),
    ("Policy", "default", {"settings": {"order.tail": "-1"}}, "spec.settings.order.tail",
     "wanted a whole number from 0 to 50"),
    ("Policy", "default", {"settings": {"grace": "11m"}}, "spec.settings.grace",
     "wanted a time such as 90s, 5m or 1h30m, at most 10m"),
    ("Policy", "default", {"settings": {"usage_half_life": "0s"}}, "spec.settings.usage_half_life",
     "from 1ms to 365d"),
    ("Policy", "default", {"settings": {"consolidation_priced": "maybe"}},
     "spec.settings.consolidation_priced",
     'supported values: "yes", "no"'),
    ("Policy", "default", {"settings": {"waste_budget": "1.5"}}, "spec.settings.waste_budget",
     "wanted a number from 0 to 1 with at most three decimals, or none"),
]

# What is taken, in the fields of a state file.
RIGHT_PROJECTS = {
    "nothing": ({}, {}),
    "research": ({"quota": -1, "limit": -1, "weight": 0, "priority": -1_000_000},
                 {"quota": -1, "weight": 0, "priority": -1_000_000}),
    "vision": ({"parent": "research", "quota": 12.375, "limit": 100, "weight": 2.5,
                "priority": 7, "kind": "fixed", "namespaces": ["vision", "vision-dev"],
                "preemptionDelay": "90s", "preemptMinRun": "1h30m", "reclaimMinRun": "365d",
                "jobOrder": "age", "jobTail": 50, "pools": {
                    "h100": {"quota": 10_000_000_000, "kind": "guaranteed"},
                    "default": {"limit": 0.001}}},
               {"parent": "research", "quota": 12.375, "limit": 100, "weight": 2.5,
                "priority": 7, "kind": "fixed", "preemption_delay": "1m30s",
                "preempt_min_run": "1h30m", "reclaim_min_run": "365d", "job_order": "age",
                "job_tail": 50, "pools": {
                    "h100": {"quota": 10_000_000_000, "limit": 100, "weight": 2.5, "priority": 7,
                             "kind": "guaranteed"},
                    "default": {"quota": 12.375, "limit": 0.001, "weight": 2.5, "priority": 7,
                                "kind": "fixed"}}}),
    "hosts": ({"cpuQuota": 32, "memoryQuota": "1G", "cpuLimit": 64.5, "memoryLimit": "512G",
               "pools": {"h100": {"memoryQuota": "2G", "cpuLimit": -1, "memoryLimit": "none"}}},
              {"cpu_quota": 32, "memory_quota": "1G", "cpu_limit": 64.5, "memory_limit": "512G",
               "pools": {"h100": {"limit": -1, "memory_quota": "2G", "cpu_limit": "none",
                                  "memory_limit": "none", "weight": 1, "priority": 100,
                                  "kind": "guaranteed"}}}),
    "times": ({"preemptionDelay": "0", "preemptMinRun": "1d12h30m5.5s", "reclaimMinRun": "250ms"},
              {"preemption_delay": "0s", "preempt_min_run": "131405500ms",
               "reclaim_min_run": "250ms"}),
}
RIGHTS = {"limit": -1, "weight": 1, "priority": 100, "kind": "guaranteed"}
RIGHT_POOLS = {
    "default": ({"exchange": {"A100": 0.5}}, {"exchange": {"A100": 0.5}}),
    "h100": ({"nodeSelector": {"example.org/gpu": "H100", "zone": ""}, "spares": "default",
              "exchange": {"H100": 1000, "B200": 0.001}},
             {"labels": {"example.org/gpu": "H100", "zone": ""}, "spares": "default",
              "exchange": {"H100": 1000, "B200": 0.001}}),
}
SETTINGS = {"order": "levels", "order.tail": "50", "min_runtime": "0s", "grace": "10m",
            "waste_budget": "0.125", "park_after": "never", "stale_grace": "never",
            "usage_weight": "1000", "consolidation_priced": "no", "usage_half_life": "1ms",
            "escaped": "end", "train": "spread", "reservation_hold": "1d12h"}


def whole(kind, name, spec):
    return {"apiVersion": "berth.dev/v1alpha1", "kind": kind, "metadata": {"name": name},
            "spec": spec}


class Declarations(InstallCase):
    PROGRAM = PROGRAM

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.berth(cls(), "install")

    def declare(self, kind, name, spec):
        """As kubectl does it: a field that is not known is refused."""
        return self.api.create(f"{KINDS}/{PLURALS[kind]}?fieldValidation=Strict",
                               whole(kind, name, spec))

    def tearDown(self):
        for plural in PLURALS.values():
            self.api.delete(f"{KINDS}/{plural}")

    def read(self):
        """(state file, what was wrong) by the reader of the scheduler."""
        lists = [json.dumps(self.api.get(f"{KINDS}/{plural}")) for plural in PLURALS.values()]
        done = subprocess.run([READER], input="\n".join(lists) + "\n", text=True,
                              capture_output=True, timeout=PATIENCE)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return json.loads(done.stdout), done.stderr

    def test_wrong_objects_are_refused_with_the_field_and_what_would_be_right(self):
        self.assertGreaterEqual(len(WRONG), 40)
        for kind, name, spec, field, words in WRONG:
            with self.subTest(kind=kind, spec=str(spec)[:60]):
                with self.assertRaises(Refused) as refused:
                    self.declare(kind, name, spec)
                said = str(refused.exception)
                self.assertIn(refused.exception.status, (400, 422), said)
                self.assertIn(field, said)
                self.assertIn(words, said)
        for plural in PLURALS.values():
            self.assertEqual(self.names(f"{KINDS}/{plural}"), set())

    def test_right_ones_are_taken_and_read_as_the_state_file_has_them(self):
        for kind, table in (("Project", RIGHT_PROJECTS), ("Pool", RIGHT_POOLS)):
            for name, (spec, _) in table.items():
                self.declare(kind, name, spec)
        self.declare("Policy", "default",
                     {"profile": "classic", "levels": ["topology.kubernetes.io/zone", "rack"],
                      "settings": SETTINGS})
        state, wrong = self.read()
        self.assertEqual(wrong, "")
        projects = {project.pop("name"): project for project in state["projects"]}
        for name, (_, fields) in RIGHT_PROJECTS.items():
            projects[name].pop("created")
            self.assertEqual(projects[name], {**RIGHTS, **fields}, name)
        pools = {pool.pop("name"): pool for pool in state["pools"]}
        self.assertEqual(pools, {name: fields for name, (_, fields) in RIGHT_POOLS.items()})
        self.assertEqual(state["profile"], "classic")
        self.assertEqual(state["levels"], ["topology.kubernetes.io/zone", "rack"])
        self.assertEqual(state["policy"], SETTINGS)

    def test_every_setting_is_taken_as_berth_writes_it(self):
        done = subprocess.run([READER, "settings"], text=True, capture_output=True,
                              timeout=PATIENCE, check=True)
        for line in done.stdout.splitlines():
            settings = json.loads(line)
            self.assertGreater(len(settings), 25)
            made = self.declare("Policy", "default", {"settings": settings})
            self.assertEqual(made["spec"]["settings"], settings)
            self.assertEqual(self.read()[0]["policy"], settings)
            self.api.delete(f"{KINDS}/policies/default")

    def test_columns_are_what_people_ask_first(self):
        self.declare("Project", "research", {"quota": 8})
        self.declare("Project", "vision", {"parent": "research", "quota": 2.5, "limit": 6,
                                           "namespaces": ["ml"]})
        self.declare("Pool", "h100", {"nodeSelector": {"gpu": "h100"}})
        self.declare("Policy", "default", {"profile": "classic"})
        accepted = [{"type": "Accepted", "status": "True"}]
        self.api.patch(f"{KINDS}/projects/vision/status", {"status": {
            "used": 4, "over": 1.5, "waiting": 12, "fairShare": 3, "conditions": accepted}})
        self.api.patch(f"{KINDS}/pools/h100/status", {"status": {
            "nodes": 100, "gpus": 800, "idle": 12}})
        self.assert_shown("projects", """
            NAME       PARENT     QUOTA   USED   OVER   WAITING   AGE
            research              8                               AGE
            vision     research   2.5     4      1.5    12        AGE""")
        self.assert_shown("pools", """
            NAME   NODES   GPUS   IDLE   SPARES   AGE
            h100   100     800    12              AGE""")
        self.assert_shown("policies", """
            NAME      PROFILE   ACCEPTED   AGE
            default   classic              AGE""")
        wide = self.plane.kubectl("get", "project", "vision", "-o", "wide")
        self.assertRegex(wide, r"(?m)^NAME +PARENT +QUOTA +USED +OVER +WAITING +FAIR-SHARE +LIMIT "
                         r"+WEIGHT +KIND +NAMESPACES +ACCEPTED +AGE$")
        self.assertRegex(wide, r'(?m)^vision +research +2.5 +4 +1.5 +12 +3 +6 +\["ml"\] +True ')

    def assert_shown(self, plural, table):
        shown = eventually(lambda: self.shown(plural), "kubectl knows the kind")
        wanted = [line.strip() for line in table.strip().splitlines()]
        self.assertEqual(shown, wanted)

    def shown(self, plural):
        text = self.plane.kubectl("get", plural)
        return [re.sub(r"\d+[smh]\w*$", "AGE", line.rstrip()) for line in text.splitlines()]

    def test_status_is_not_for_those_who_declare(self):
        made = self.api.create(f"{KINDS}/projects",
                               {**whole("Project", "a", {}), "status": {"used": 4}})
        self.assertNotIn("status", made)

    def test_explain_says_what_a_field_is(self):
        for path, words in (("project.spec.reclaimMinRun", "safe from other projects"),
                            ("pool.spec.nodeSelector", "Labels of its nodes"),
                            ("policy.spec.settings", "which job of a project goes first")):
            self.assertIn(words, self.plane.kubectl("explain", path).replace("\n    ", " "))


if __name__ == "__main__":
    main()
