# SPDX-License-Identifier: Apache-2.0
"""Pools of a running server: made by label, with spares; nodes are drained, labelled and back."""
import json

from server_case import Refused, ServerCase, eventually, main


class Pools(ServerCase):
    """Four nodes of two GPUs. Vision has a cell of two of them, with spares in the default pool."""

    FLAGS = ("--gpus", "sim:4x2x80G")

    def berth(self, *words, code=0):
        result = self.server.berth(*words, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def make_cell(self):
        self.berth("node", "set", "n0", "n1", "--labels", "cells=a")
        self.berth("pool", "create", "cells", "--labels", "cells=a", "--spares", "default")
        self.berth("project", "create", "vision", "--quota", "0")
        self.berth("project", "set", "vision", "--pool", "cells", "--quota", "4")

    def nodes(self):
        return {node["name"]: node for node in self.server.get("nodes")["items"]}

    def pools(self):
        return {name: node["pool"] for name, node in self.nodes().items()}

    def moves(self):
        events = self.server.get("events?after=0")["items"]
        return [(event["node"], event["pool"], event["replaces"])
                for event in events if event["type"] == "node_moved"]

    def in_cell(self, script, **spec):
        return self.shell(script, project="vision", pools=["cells"], **spec)

    def test_a_spare_takes_the_place_of_a_drained_node_and_a_crash_changes_nothing(self):
        self.make_cell()
        eventually(lambda: self.pools()["n0"] == self.pools()["n1"] == "cells")
        stays = self.in_cell("sleep 600")
        self.server.wait_for_state(stays, "running")
        place = self.server.get(f"jobs/{stays}")["tasks"][0]["node"]
        idle = "n1" if place == "n0" else "n0"
        gang = self.in_cell("sleep 600", gpus=1, tasks_min=3, tasks_max=3)
        self.server.wait_for_state(gang, "running")
        self.berth("cancel", str(gang), "--wait")

        self.berth("node", "drain", idle)
        eventually(lambda: len(self.moves()) == 3)
        spare, pool, replaced = self.moves()[-1]
        self.assertEqual((pool, replaced), ("cells", idle))
        self.assertEqual(self.pools()[idle], "default")
        self.assertIn("swapped, of default", self.berth("pool", "show", "cells"))
        self.assertEqual(self.state(stays), "running")
        gang = self.in_cell("sleep 600", gpus=1, tasks_min=3, tasks_max=3)
        self.server.wait_for_state(gang, "running")
        self.assertIn(spare, {task["node"] for task in self.server.get(f"jobs/{gang}")["tasks"]})

        before = self.nodes()
        self.server.kill()
        self.server.up()
        self.assertEqual({name: (node["pool"], node["labels"], node["health"])
                          for name, node in self.nodes().items()},
                         {name: (node["pool"], node["labels"], node["health"])
                          for name, node in before.items()})
        self.server.wait_for_state(gang, "running")
        self.assertEqual(self.state(stays), "running")
        self.assertEqual(self.server.get(f"jobs/{gang}")["attempts"], 1)

        # Its work goes on; only then is it replaced, and a node that is back is a standby.
        self.berth("node", "ready", idle)
        self.berth("node", "drain", spare)
        self.assertEqual(self.pools()[spare], "cells")
        self.berth("cancel", str(gang), "--wait")
        eventually(lambda: self.pools()[spare] == "default")
        self.assertEqual(self.moves()[3:], [(idle, "cells", spare)])
        self.assertIn("in the place of " + spare, self.berth("events"))

    def test_a_node_with_other_labels_joins_its_pool_once_it_is_empty(self):
        self.make_cell()
        job = self.in_cell("sleep 600", gpus=2)
        self.server.wait_for_state(job, "running")
        node = self.server.get(f"jobs/{job}")["tasks"][0]["node"]
        said = self.berth("node", "set", node, "--labels", "cells=")
        self.assertIn("joins pool default once it is empty", said)
        self.assertIn("vision/", said)
        self.assertEqual(self.nodes()[node]["joins"], "default")
        self.assertIn("to default once empty", self.berth("node", "ls"))
        self.server.kill()
        self.server.up()
        self.assertEqual(self.nodes()[node]["joins"], "default")
        self.server.wait_for_state(job, "running")
        self.berth("cancel", str(job), "--wait")
        eventually(lambda: self.pools()[node] == "default")

    def test_a_pool_is_listed_shown_and_removed(self):
        self.make_cell()
        eventually(lambda: self.pools()["n1"] == "cells")
        listed = json.loads(self.berth("pool", "ls", "--json"))["items"]
        pools = {pool["name"]: pool for pool in listed}
        self.assertEqual(pools["cells"]["labels"], {"cells": "a"})
        self.assertEqual((pools["cells"]["nodes"], pools["cells"]["quotas"]), (2, 4))
        self.berth("pool", "set", "cells", "--exchange", "H100=1.5")
        self.assertIn("H100=1.5", self.berth("pool", "ls"))
        self.assertEqual(self.berth("pool", "ls", "-q").split(), ["default", "cells"])
        self.assertIn("vision", self.berth("project", "ls", "--pool", "cells"))
        self.assertIn("has nodes such as n0", self.berth("pool", "rm", "cells", code=1))
        self.berth("node", "set", "n0", "n1", "--labels", "cells=")
        eventually(lambda: set(self.pools().values()) == {"default"})
        self.assertIn('rights of project "vision"', self.berth("pool", "rm", "cells", code=1))
        self.berth("project", "set", "vision", "--pool", "cells", "--no-rights")
        self.berth("pool", "rm", "cells")
        self.assertEqual(self.berth("pool", "ls", "-q").split(), ["default"])
        self.server.kill()
        self.server.up()
        self.assertEqual(self.berth("pool", "ls", "-q").split(), ["default"])

    def test_what_cannot_be_is_refused_and_changes_nothing(self):
        self.make_cell()
        before = self.server.get("pools")["items"]
        sequence = self.server.get("status")["sequence"]
        for code, words, why in (
                (127, "pool show cell", 'no pool "cell", did you mean "cells"?'),
                (127, "pool set cell --labels a=b", "no pool"),
                (127, "pool set cells --spares nope", 'in pool "nope", which does not exist'),
                (124, "pool set cells --spares cells", "another one without spares"),
                (124, "pool set default --labels a=b", "it has no labels"),
                (124, "pool create bare", "needs labels"),
                (124, "pool create bad --labels a", "wanted KEY=VALUE"),
                (124, "pool set cells --exchange H100=much", "wanted a number"),
                (124, "pool set cells --exchange H100=0", "wanted more than 0"),
                (124, "pool set cells", "nothing to change"),
                (1, "pool create cells --labels a=b", "exists"),
                (127, "project set vision --pool nope --quota 1", 'pool "nope" does not exist'),
                (124, "project set vision --no-rights", "with --pool"),
                (127, "node drain n9", 'no node "n9"'),
                (124, "node set n0 --topology row=1", 'no level "row"')):
            self.assertIn(why, self.berth(*words.split(), code=code))
        self.assertEqual(self.server.get("pools")["items"], before)
        self.assertEqual(self.server.get("status")["sequence"], sequence)
        with self.assertRaises(Refused) as refused:
            self.server.request("PUT", "nodes/n0", {"health": "down"})
        self.assertEqual(refused.exception.status, 400)
        self.assertIn("no node carries the labels a=b",
                      self.berth("pool", "create", "later", "--labels", "a=b"))

    def test_who_changed_it_is_in_the_log(self):
        self.make_cell()
        events = self.server.get("events?after=0")["items"]
        actors = {event["actor"] for event in events
                  if event["type"] == "pool_set" or (event["type"] == "node_set"
                                                     and event["node"]["labels"])}
        self.assertEqual(len(actors), 1)
        self.assertNotEqual(actors, {"machine"})


if __name__ == "__main__":
    main()
