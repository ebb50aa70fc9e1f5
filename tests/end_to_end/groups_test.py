# SPDX-License-Identifier: Apache-2.0
"""Groups: parts of a gang that stand together, and know who they are."""
import json

from server_case import Refused, ServerCase, eventually, main

TELL = 'echo "$BERTH_GROUP $BERTH_GROUP_RANK/$BERTH_GROUP_SIZE $RANK/$WORLD_SIZE"'


class Groups(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G")

    def submit_groups(self, groups, script, check=True):
        return self.server.berth("submit", "-q", "-n", "gang", "--groups", groups, "--",
                                 "sh", "-c", script, check=check)

    def tell_of(self, job, task):
        return eventually(lambda: self.server.get(f"jobs/{job}/log?task={task}")).decode().strip()

    def test_every_group_stands_on_one_node_and_its_tasks_know_their_place(self):
        job = int(self.submit_groups("a:1..2@node,b:3@node", TELL + "; sleep 1000").stdout)
        tasks = eventually(lambda: self.server.get(f"jobs/{job}")["tasks"])
        nodes = {task["task"]: task["node"] for task in tasks}
        self.assertEqual(nodes[2], nodes[3])
        self.assertEqual(nodes[3], nodes[4])
        running = sorted(nodes)
        of_a = len([task for task in running if task < 2])
        self.assertEqual(self.tell_of(job, 0), f"a 0/{of_a} 0/{len(running)}")
        self.assertEqual(self.tell_of(job, 4), f"b 2/3 {len(running) - 1}/{len(running)}")
        shown = self.server.berth("show", job).stdout
        self.assertIn("groups      a:1..2@node,b:3@node", shown)
        self.assertIn("task 4 of group b on", shown)

    def test_a_group_that_fits_nowhere_is_refused_by_name(self):
        refused = self.submit_groups("head:1,body:5@node", "true", check=False)
        self.assertEqual(refused.returncode, 110)
        self.assertIn("those of group body in one node: 4 of 5 tasks would fit", refused.stderr)
        misspelt = self.submit_groups("5@nod", "true", check=False)
        self.assertIn('no level "nod"', misspelt.stderr)
        unread = self.submit_groups("4x", "true", check=False)
        self.assertEqual(unread.returncode, 124)
        self.assertIn("--groups: wanted groups such as 4x8@rack", unread.stderr)

    def test_a_state_written_down_has_them(self):
        self.submit_groups("2x2@node", "sleep 1000")
        path = self.server.data / "state.json"
        self.server.berth("plan", "--export", path)
        jobs = json.loads(path.read_text())["jobs"]
        self.assertEqual(jobs[0]["groups"], [{"name": "1", "tasks": "2", "level": "node"},
                                             {"name": "2", "tasks": "2", "level": "node"}])
        self.server.berth("plan", "--state", path)

    def test_the_api_counts_the_tasks_of_the_groups(self):
        groups = [{"name": "a", "tasks_min": 1, "tasks_max": 1, "level": "node"},
                  {"name": "b", "tasks_min": 2, "tasks_max": 2, "level": "node"}]
        job = self.server.submit(["sleep", "1000"], topology={"groups": groups})["id"]
        self.assertEqual(self.server.get(f"jobs/{job}")["spec"]["tasks_min"], 3)


class SomeGroups(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G", "--min-runtime", "0")

    def tasks(self, job):
        return [task["task"] for task in self.server.get(f"jobs/{job}")["tasks"]]

    def test_a_gang_starts_with_one_group_and_gains_and_gives_back_the_other(self):
        for name, quota in (("owner", 4), ("lab", 0)):
            self.server.request("PUT", f"projects/{name}", {"quota": quota})
        blocker = self.server.submit(["sleep", "600"], project="owner", gpus=4)["id"]
        self.server.wait(blocker, until="running")
        job = int(self.server.berth("submit", "-q", "-p", "lab", "--groups", "1..2x3@node", "--",
                                    "sleep", "600").stdout)
        eventually(lambda: self.tasks(job) == [0, 1, 2])
        self.assertIn("groups      1..2x3@node", self.server.berth("show", job).stdout)
        path = self.server.data / "state.json"
        self.server.berth("plan", "--export", path)
        jobs = json.loads(path.read_text())["jobs"]
        self.assertIn("1..2x3@node", [job.get("groups") for job in jobs])
        self.server.berth("plan", "--state", path)
        self.server.request("POST", f"jobs/{blocker}/cancel")
        eventually(lambda: self.tasks(job) == [0, 1, 2, 3, 4, 5])
        owner = self.server.submit(["sleep", "600"], project="owner", gpus=2)["id"]
        self.server.wait(owner, until="running")
        eventually(lambda: self.tasks(job) == [0, 1, 2])

    def test_groups_of_which_some_start_are_alike(self):
        topology = {"groups": [{"name": "a", "tasks_min": 1, "tasks_max": 1},
                               {"name": "b", "tasks_min": 1, "tasks_max": 1}], "groups_min": 1}
        with self.assertRaisesRegex(Refused, "wanted groups of one size and level"):
            self.server.submit(["true"], topology=topology, elastic="restart")


if __name__ == "__main__":
    main()
