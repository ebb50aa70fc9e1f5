# SPDX-License-Identifier: Apache-2.0
"""Slices of GPUs (MIG), found on the machine, are devices of a type that jobs ask for by name."""
import os
import pathlib
import sys
import tempfile

import cuda_program
from server_case import BIN, Server, ServerCase, main

SOFTWARE = BIN.parent / "software_gpu"

# What any CUDA program does, by the driver's own interface.
PROGRAM = cuda_program.OPEN + cuda_program.START + """
count, name = ctypes.c_int(), ctypes.create_string_buffer(100)
call("cuDeviceGetCount", ctypes.byref(count))
call("cuDeviceGetName", name, 100, 0)
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print("sees", count.value, name.value.decode(), total.value >> 30, "GiB")
print("devices", os.environ["CUDA_VISIBLE_DEVICES"], flush=True)
sys.stdin.read() if len(sys.argv) > 1 else None
"""


class Slices(ServerCase):
    """GPUs that the machine's management library shows: here the software one."""

    MIG = "0:3g.40gb, 0:1g.10gb, 0:1g.10gb"

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state = pathlib.Path(f"/dev/shm/berth-slices-{os.getpid()}")
        self.addCleanup(self.state.unlink, missing_ok=True)
        self.describe(self.MIG)
        self.server = Server("--gpus", "auto", environment={
            "LD_LIBRARY_PATH": str(SOFTWARE), "BERTH_SOFTWARE_GPU": str(self.folder / "gpus")})
        self.enterContext(self.server)

    def describe(self, mig):
        self.state.unlink(missing_ok=True)
        (self.folder / "gpus").write_text(
            f"state = {self.state}\ngpus = 2\nmemory = 80GiB\ncontents = 0MiB\nreserved = 0MiB\n"
            f"context = 64MiB\nname = NVIDIA H100 80GB HBM3\nmig = {mig}\n")

    def program(self, **spec):
        environment = [f"LD_LIBRARY_PATH={SOFTWARE}", f"BERTH_SOFTWARE_GPU={self.folder / 'gpus'}"]
        return self.server.submit([sys.executable, "-c", PROGRAM], environment=environment,
                                  **spec)["id"]

    def nodes(self):
        return {node["name"].partition("/")[2]: node
                for node in self.server.get("nodes")["items"] if node["health"] == "ready"}

    def test_slices_are_nodes_beside_the_machine(self):
        nodes = self.nodes()
        self.assertEqual({name: node["gpus"] for name, node in nodes.items()},
                         {"": 1, "1g.10gb": 2, "3g.40gb": 1})
        self.assertEqual(nodes[""]["gpu_model"], "H100")
        self.assertTrue(nodes["1g.10gb"]["devices"][1]["uuid"].startswith("MIG-"))

    def test_a_job_gets_the_slice_that_it_asks_for(self):
        job = self.program(gpu_model="1g.10gb")
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        self.assertIn("sees 1 NVIDIA H100 80GB HBM3 MIG 1g.10gb 10 GiB", self.log(job))
        device = self.nodes()["1g.10gb"]["devices"][0]["uuid"]
        self.assertIn(f"devices {device}\n", self.log(job))

    def test_a_job_that_asks_for_a_gpu_gets_the_whole_one(self):
        job = self.program()
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        # The machine's second GPU: the first is cut.
        self.assertIn("sees 1 NVIDIA H100 80GB HBM3 80 GiB", self.log(job))

    def test_a_slice_counts_as_its_part_of_a_gpu(self):
        self.server.berth("project", "create", "vision", "--quota", "0.3")
        jobs = [self.server.submit(["sleep", "1000"], project="vision", kind="build",
                                   gpu_model="1g.10gb")["id"]
                for _ in range(2)]
        for job in jobs:
            self.server.wait_for_state(job, "running")
        used = [one for one in self.server.get("projects")["items"] if one["name"] == "vision"]
        self.assertEqual(used[0]["use"][0]["used"], 0.286)

    def test_slices_are_drained_by_their_name(self):
        name = self.nodes()["1g.10gb"]["name"]
        self.server.berth("node", "drain", name)
        self.assertNotIn("1g.10gb", self.nodes())
        self.server.berth("node", "ready", name)
        self.assertIn("1g.10gb", self.nodes())

    def test_other_slices_after_a_restart_are_other_devices(self):
        before = self.program(gpu_model="1g.10gb")
        self.server.wait(before)
        self.server.berth("down")
        self.describe("1:1g.10gb, 1:1g.10gb, 1:1g.10gb")
        self.server.up()
        nodes = {node["name"]: node for node in self.server.get("nodes")["items"]
                 if node["health"] == "ready"}
        slices = [node for name, node in nodes.items() if "1g.10gb" in name]
        self.assertEqual([(node["gpus"], node["name"][-2:]) for node in slices], [(3, "-2")])
        after = self.program(gpu_model="1g.10gb")
        self.assertEqual(self.server.wait(after)["state"], "succeeded", self.log(after))
        self.assertIn(f"devices {slices[0]['devices'][0]['uuid']}\n", self.log(after))


if __name__ == "__main__":
    main()
