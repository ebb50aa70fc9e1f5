# SPDX-License-Identifier: Apache-2.0
"""The map says of each GPU what the server does with it, and of all what the overview says."""
import gzip
import http.client
import json
import struct

from server_case import BIN, ServerCase, UnixConnection, eventually, main

NOT_MEASURED = 255
NO_PROJECT = 65535


class Columns:
    """A map as src/api/map/columns.h describes it."""

    def __init__(self, body):
        size = struct.unpack_from("<I", body)[0]
        self.header = json.loads(body[4:4 + size])
        self.body, self.at = body, 4 + size
        gpus, shared = self.header["gpus"], self.header["shared"]
        self.shared_gpu = self.take("I", shared)
        self.shared_job = self.take("I", shared)
        self.project = self.take("H", gpus)
        self.shared_project = self.take("H", shared)
        self.shared_amount = self.take("H", shared)
        planes = [self.take("B", gpus) for _ in range(4)]
        self.job, job = [], 0
        for low in zip(*planes):
            job = (job + int.from_bytes(bytes(low), "little")) % 2**32
            self.job.append(job)
        self.use = [self.header["uses"][use] for use in self.take("B", gpus)]
        self.busy = self.take("B", gpus)
        self.memory = self.take("B", gpus)
        self.shared_use = [self.header["uses"][use] for use in self.take("B", shared)]
        self.node = self.take("B", self.header["nodes"])
        assert self.at == len(body)

    def take(self, kind, many):
        column = struct.unpack_from(f"<{many}{kind}", self.body, self.at)
        self.at += struct.calcsize(f"<{many}{kind}")
        return column

    def project_of(self, gpu):
        project = self.project[gpu]
        return "" if project == NO_PROJECT else self.header["projects"][project]


class Map(ServerCase):
    FLAGS = ("--gpus", "sim:2x4x80G")

    def ask(self, path, **headers):
        """Status, headers and body, as they came."""
        connection = UnixConnection(str(self.server.data / "berth.sock"))
        connection.request("GET", f"/api/v1/{path}", headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, answer.headers, body

    def map(self):
        status, _, body = self.ask("map")
        self.assertEqual(status, 200)
        return Columns(body)

    def test_each_gpu_has_its_job_project_and_use(self):
        self.server.berth("project", "create", "nlp", "--quota", "4")
        job = self.shell("sleep 1000", project="nlp", gpus=3)
        eventually(lambda: self.state(job) == "running")
        seen = eventually(lambda: (m := self.map()).use.count("not_measured") == 3 and m)
        having = [gpu for gpu, its in enumerate(seen.job) if its == job]
        self.assertEqual(len(having), 3)
        self.assertEqual({seen.project_of(gpu) for gpu in having}, {"nlp"})
        self.assertEqual({seen.use[gpu] for gpu in having}, {"not_measured"})
        free = [gpu for gpu in range(8) if gpu not in having]
        self.assertEqual({seen.use[gpu] for gpu in free}, {"free"})
        self.assertTrue(seen.header["simulated"])
        self.assertEqual(seen.header["sentences"][0], "3 of 8 GPUs are allocated.")
        gpus = self.server.get("overview")["gpus"]
        self.assertEqual(gpus["idle"], len(free))
        self.assertEqual(gpus["used"], len(having))

    def test_shared_gpus_are_listed_with_what_is_free_of_them(self):
        one = self.shell("sleep 1000", request={"share": 0.5})
        other = self.shell("sleep 1000", request={"share": 0.25})
        eventually(lambda: self.state(one) == self.state(other) == "running")
        seen = eventually(lambda: (m := self.map()).shared_use.count("not_measured") == 2 and m)
        parts = dict(zip(seen.shared_job, seen.shared_amount))
        self.assertEqual(parts, {one: 500, other: 250, 0: 250})
        self.assertEqual(len(set(seen.shared_gpu)), 1)
        self.assertEqual(self.server.get("overview")["gpus"]["idle"], 7.25)

    def test_gpus_are_busy_as_their_program_counts(self):
        job = self.server.submit([str(BIN / "berth-trainer"), "--steps", "100000"], gpus=2)["id"]
        seen = eventually(lambda: (m := self.map()).use.count("busy") == 2 and m)
        for gpu in (gpu for gpu, its in enumerate(seen.job) if its == job):
            self.assertIn(seen.busy[gpu], range(11, 16))
            self.assertIn(seen.memory[gpu], range(6, 14))
        self.assertEqual(sum(busy != NOT_MEASURED for busy in seen.busy), 2)
        self.server.berth("cancel", job)
        eventually(lambda: set(self.map().busy) == {NOT_MEASURED})

    def test_nodes_that_take_no_work_are_said_by_the_list_and_by_the_command(self):
        ready = ["All 2 nodes are ready, with 8 GPUs."]
        self.assertEqual(self.server.request("GET", "nodes")["sentences"], ready)
        self.server.berth("node", "drain", "n1")
        said = ["n1 is drained: 4 of 8 GPUs take no new work.", "No job is on it."]
        self.assertEqual(self.server.request("GET", "nodes")["sentences"], said)
        _, seen = self.on_terminal("node", "ls")
        self.assertIn(" ".join(said), seen)

    def test_what_a_job_has_of_a_drained_node_is_used_everywhere(self):
        self.server.berth("node", "drain", "n0")
        job = self.server.submit(["sleep", "1000"], gpus=1)["id"]
        self.server.wait_for_state(job, "running")
        self.server.berth("node", "drain", "n1")
        self.server.berth("node", "ready", "n0")
        counts = {"total": 8, "ready": 5, "used": 1, "idle": 4}
        self.assertEqual(self.server.get("status")["gpus"], counts)
        seen = self.server.get("overview")["gpus"]
        self.assertEqual((seen["used"], seen["idle"], seen["not_ready"]), (1, 4, 3))
        self.assertIn("1 used", self.server.berth("status").stdout)
        self.server.berth("down")
        self.assertRegex(self.server.up(), r"GPUs +8 \(3 not ready\), ")

    def test_a_drained_node_is_not_ready(self):
        self.server.berth("node", "drain", "n1")
        seen = eventually(lambda: (m := self.map()).use.count("unhealthy") == 4 and m)
        self.assertEqual(seen.node, (0, 1))
        self.assertEqual(seen.header["sentences"][-1], "Not ready: 4.")
        self.assertEqual(self.server.get("overview")["gpus"]["not_ready"], 4)

    def test_what_did_not_change_is_not_sent_again(self):
        for path in ("map", "map/topology"):
            status, headers, body = self.ask(path)
            self.assertEqual((status, headers["Vary"]), (200, "Accept-Encoding"))
            again = self.ask(path, **{"If-None-Match": headers["ETag"]})
            self.assertEqual((again[0], again[2]), (304, b""))
            packed = self.ask(path, **{"Accept-Encoding": "gzip"})
            self.assertEqual(packed[1]["Content-Encoding"], "gzip")
            self.assertEqual(gzip.decompress(packed[2]), body)
            self.assertIsNone(headers["Content-Encoding"])

    def test_nodes_are_said_apart_and_their_tag_with_each_map(self):
        _, headers, body = self.ask("map/topology")
        nodes = json.loads(body)
        self.assertEqual(nodes["nodes"]["names"], ["n0", "n1"])
        self.assertEqual(nodes["nodes"]["gpus"], [4, 4])
        self.assertEqual(nodes["nodes"]["memory"], [80 << 30] * 2)
        self.assertEqual(self.map().header["topology"], headers["ETag"])
        self.server.berth("node", "set", "n1", "--topology", "rack=r7")
        changed = eventually(
            lambda: (tag := self.map().header["topology"]) != headers["ETag"] and tag)
        _, headers, body = self.ask("map/topology")
        nodes = json.loads(body)
        self.assertEqual(headers["ETag"], changed)
        self.assertEqual((nodes["racks"], nodes["nodes"]["rack"]), (["r7"], [-1, 0]))

    def test_who_may_only_look_sees_it_and_a_stranger_does_not(self):
        port = int((self.server.data / "port").read_text())
        connection = http.client.HTTPConnection("localhost", port, timeout=60)
        connection.request("GET", "/api/v1/map")
        self.assertEqual(connection.getresponse().status, 401)
        connection.close()


if __name__ == "__main__":
    main()
