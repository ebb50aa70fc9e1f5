# SPDX-License-Identifier: Apache-2.0
"""An unmodified PyTorch as a job, on simulated GPUs: it knows nothing of Berth, and has its share.

BERTH_TORCH_PYTHON says which Python has PyTorch of PyPI for CUDA 13 (`./dev torch` makes one). What
it computes is not looked at: software GPUs compute nothing (bench/vgpu/runtime).
"""
import os
import re
import sys

from server_case import BIN, ServerCase, eventually, main

PYTHON = os.environ.get("BERTH_TORCH_PYTHON")
RUNTIME = BIN.parent / "cuda_runtime"
GIB = 1 << 30

# Steps of training until the number given; says where it is after each.
TRAINING = """
import os, sys, time, torch
from torch import nn
model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
batch = torch.randn(256, 512, device="cuda")
print("attempt", os.environ["BERTH_ATTEMPT"], "sees", torch.cuda.device_count(), "of",
      torch.cuda.mem_get_info()[1] >> 20, "MiB", flush=True)
ballast = torch.empty(int(sys.argv[2]) << 30, dtype=torch.uint8, device="cuda")
for count in range(1, int(sys.argv[1]) + 1):
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()
    torch.cuda.synchronize()
    print("at", count, flush=True)
    time.sleep(0.005)
"""

# Takes pieces of 1 GiB until there is no more, and goes on with half of them.
GREEDY = """
import torch
free, total = torch.cuda.mem_get_info()
print("sees", total >> 20, "MiB", "and", torch.cuda.get_device_properties(0).total_memory >> 20)
pieces = []
try:
    while True: pieces.append(torch.empty(1 << 30, dtype=torch.uint8, device="cuda"))
except torch.cuda.OutOfMemoryError as error:
    print("out of memory with", len(pieces), "GiB")
    print("says", str(error).splitlines()[0])
pieces = pieces[len(pieces) // 2:]
torch.cuda.empty_cache()
print("free again", torch.cuda.mem_get_info()[0] >> 20, "MiB")
print("and has", torch.ones(1 << 20, device="cuda").numel())
"""


class Torch(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G", "--min-runtime", "0")

    def words(self, text, *words):
        return [PYTHON, "-W", "ignore", "-c", text, *map(str, words)]

    def training(self, until, gib=1, **spec):
        return self.server.submit(self.words(TRAINING, until, gib),
                                  environment=[f"PYTHONPATH={RUNTIME}"], **spec)["id"]

    def at(self, job, count):
        return eventually(lambda: f"at {count}\n" in self.log(job), seconds=60)

    def gpus(self, job):
        return self.server.get(f"jobs/{job}")["tasks"][0]["gpus"]

    def check_ended(self, job, until):
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job)[-2000:])
        counts = re.findall(r"^at (\d+)$", self.log(job), re.M)
        self.assertEqual(counts, [str(count) for count in range(1, until + 1)])

    def test_half_a_gpu_is_all_that_it_sees_and_gets(self):
        done = self.server.berth("run", "-g", "0.5", "--env", f"PYTHONPATH={RUNTIME}", "--",
                                 *self.words(GREEDY), check=False)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        self.assertIn("sees 8192 MiB and 8192\n", done.stdout)
        # Its context is a part of its share: 400 MiB.
        self.assertIn("out of memory with 7 GiB\n", done.stdout)
        self.assertIn("says CUDA out of memory. Tried to allocate 1024.00 MiB", done.stdout)
        self.assertIn("GPU 0 has a total capacity of 8.00 GiB", done.stdout)
        free = int(re.search(r"free again (\d+) MiB", done.stdout)[1])
        self.assertEqual(free // 1024, 3)
        self.assertIn(f"and has {1 << 20}\n", done.stdout)

    def test_two_train_side_by_side_on_one_gpu_and_each_is_charged_what_it_has(self):
        jobs = [self.training(300, gib, request={"share": 0.5}) for gib in (5, 6)]
        for job in jobs:
            self.at(job, 20)
        self.assertEqual(self.gpus(jobs[0]), self.gpus(jobs[1]))
        for job, gib in zip(jobs, (5, 6)):
            self.assertIn("sees 1 of 8192 MiB", self.log(job))
            charged = int(self.arbiter(job)["charged"])
            self.assertGreater(charged, gib * GIB)
            self.assertLess(charged, (gib + 1) * GIB)
        for job in jobs:
            self.check_ended(job, 300)

    def test_its_iterations_and_memory_are_known_of_the_next_one_like_it(self):
        job = self.training(300, 5, request={"share": 0.5})
        self.check_ended(job, 300)
        profile = self.server.get(f"jobs/{job}")["profile"]
        self.assertGreater(profile["iterations"], 100)
        self.assertLessEqual(profile["iterations"], 300)
        self.assertEqual(profile["peak"] // GIB, 5)

    def test_it_leaves_the_gpu_and_trains_on_where_it_was_on_another_one(self):
        job = self.training(400, 4, request={"gpu_memory": 8 * GIB})
        self.at(job, 20)
        before, gpus = self.arbiter(job), self.gpus(job)
        self.server.request("POST", f"jobs/{job}/pause")
        frozen = self.server.wait_for_state(job, "paused")["last_pause"]["frozen"]
        # The code of its kernels is on the GPU as well, and not in its charge.
        self.assertAlmostEqual(frozen["gpu_memory"] / int(before["charged"]), 1, delta=0.01)
        self.assertEqual(self.arbiter(job)["where"], "away")
        other = self.training(100_000, 15)
        self.at(other, 1)
        self.assertEqual(self.gpus(other), gpus)
        self.server.request("POST", f"jobs/{job}/resume")
        self.server.wait_for_state(job, "running")
        self.assertNotEqual(self.gpus(job), gpus)
        self.check_ended(job, 400)
        self.assertEqual(self.log(job).count("attempt 1 "), 1)


if __name__ == "__main__":
    if not PYTHON:
        print("skipped: BERTH_TORCH_PYTHON names no Python with PyTorch; ./dev torch makes one")
        sys.exit(77)
    main()
