# SPDX-License-Identifier: Apache-2.0
"""Two trainings that leave half of a GPU idle share one, and part when that gains nothing."""
import os
import pathlib
import signal
import subprocess
import sys

import cuda_program
from server_case import BIN, ServerCase, eventually, main

# Training as the driver sees it: steps of ten kernels. Saves its step when it is asked to stop.
#   program STEPS KERNEL_US PAUSE_MS HOST
BEGIN = cuda_program.OPEN + """
steps, kernel_us, pause_ms = map(int, sys.argv[1:4])
saved = os.path.join(os.environ["BERTH_CHECKPOINT_DIR"], "step")
def save(*_):
    with open(saved, "w") as file: file.write(str(step))
    sys.exit(0)
step = int(open(saved).read()) if os.path.exists(saved) else 0
signal.signal(signal.SIGTERM, save)
""" + cuda_program.START + cuda_program.KERNELS + """
gradient, update = kernel(), kernel()
ns = ctypes.c_uint64(kernel_us * 1000)
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
def launch(function):
    call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
weights = ctypes.c_uint64()
call("cuMemAlloc_v2", ctypes.byref(weights), ctypes.c_size_t(2 << 30))
print("begins at", step, flush=True)
"""

# 2 GiB that stay and 1 GiB within a step, and a look at the next batch after each.
TRAINING = BEGIN + """
activations = ctypes.c_uint64()
while step < steps:
    call("cuMemAlloc_v2", ctypes.byref(activations), ctypes.c_size_t(1 << 30))
    for layer in range(9):
        launch(gradient)
    call("cuMemFree_v2", activations)
    launch(update)
    call("cuCtxSynchronize")
    step += 1
    time.sleep(pause_ms / 1000)
print("done", flush=True)
"""

# Launches a step before it waits for the last: the GPU has work however late a processor is.
NEVER_IDLE = BEGIN + """
ends = [ctypes.c_void_p(), ctypes.c_void_p()]
for end in ends:
    call("cuEventCreate", ctypes.byref(end), 0)
while step < steps:
    for layer in range(9):
        launch(gradient)
    launch(update)
    call("cuEventRecord", ends[step % 2], None)
    step += 1
    call("cuEventSynchronize", ends[step % 2])
"""

# The processor works after each kernel, as long as the kernel takes: the GPU idles within a step.
LAUNCHES_SLOWLY = BEGIN + """
while step < steps:
    for layer in range(10):
        launch(update if layer == 9 else gradient)
        time.sleep(2 * kernel_us / 1e6)
    call("cuCtxSynchronize")
    step += 1
"""

# Loads its batches with all processors of the machine, which two can only do in turn, and slowly.
LOADS = "import fcntl" + BEGIN + """
host = open(sys.argv[4], "w")
while step < steps:
    slower = 1
    try:
        fcntl.flock(host, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fcntl.flock(host, fcntl.LOCK_EX)
        slower = 3
    time.sleep(slower * pause_ms / 1000)
    fcntl.flock(host, fcntl.LOCK_UN)
    for layer in range(9):
        launch(gradient)
    launch(update)
    call("cuCtxSynchronize")
    step += 1
"""

KERNEL_US = 2000  # 20 ms of GPU time a step
PAUSE_MS = 22
STEPS = 150


class Packing(ServerCase):
    FLAGS = ("--gpus", "sim:1x16G")

    def train(self, name, steps=STEPS, program=TRAINING, kernel_us=KERNEL_US, may_share=True):
        host = self.server.data / "host"
        words = map(str, (steps, kernel_us, PAUSE_MS, host))
        command = [sys.executable, "-c", program, *words]
        return self.server.submit(command, name=name, may_share=may_share)["id"]

    def ended(self, job):
        answer = self.server.wait(job)
        self.assertEqual(answer["state"], "succeeded", self.log(job))
        return answer

    def place(self, job):
        tasks = self.server.get(f"jobs/{job}")["tasks"]
        return tasks and (tasks[0]["node"], tasks[0]["gpus"])

    def test_two_half_idle_trainings_share_a_gpu_and_every_page_says_so(self):
        self.ended(self.train("resnet"))
        jobs = [self.train("resnet"), self.train("resnet")]
        eventually(lambda: all(self.place(job) for job in jobs))
        self.assertEqual(self.place(jobs[0]), self.place(jobs[1]))
        self.assertEqual(self.server.get(f"jobs/{jobs[0]}")["beside"], [jobs[1]])
        one, other = (f"{job} default/resnet" for job in jobs)
        self.assertRegex(self.server.berth("show", str(jobs[0])).stdout,
                         rf"packed +with {other}: jobs like it leave half of a GPU")
        self.assertIn(f"with {one}", self.server.berth("why", str(jobs[1])).stdout)
        self.assertIn(f"beside {other}", self.server.berth("top", "--once").stdout)
        for job in jobs:
            self.ended(job)

    def test_what_nothing_is_known_of_runs_alone_and_shares_once_it_is_measured(self):
        jobs = [self.train("bert", steps=600), self.train("bert", steps=60)]
        eventually(lambda: self.place(jobs[0]))
        self.assertFalse(self.place(jobs[1]))
        self.assertIn("alone until it is measured",
                      self.server.berth("show", str(jobs[0])).stdout)
        eventually(lambda: self.place(jobs[1]))
        self.assertEqual(self.place(jobs[0]), self.place(jobs[1]))
        self.ended(jobs[1])

    def test_who_did_not_say_so_has_a_gpu_of_its_own(self):
        self.ended(self.train("gpt", steps=60))
        jobs = [self.train("gpt", steps=300), self.train("gpt", may_share=False)]
        eventually(lambda: self.place(jobs[0]))
        self.assertFalse(self.place(jobs[1]))

    def test_a_pair_that_gains_nothing_parts_and_is_not_tried_again(self):
        self.ended(self.train("vit", steps=100))
        # Alike by name only. Both are there before that is measured.
        jobs = [self.train("vit", 100_000, NEVER_IDLE, kernel_us=20_000) for _ in range(2)]
        eventually(lambda: all(self.place(job) for job in jobs))
        eventually(lambda: not self.place(jobs[1]))
        page = self.server.berth("show", str(jobs[1])).stdout
        self.assertIn("together they got less done than one after the other", page)
        self.assertRegex(page, "packed +no longer")
        third = self.train("vit", steps=10)
        self.server.wait(self.server.submit(["true"], gpus=0)["id"])  # decided after it
        self.assertFalse(self.place(third))
        self.server.berth("cancel", str(jobs[0]))
        eventually(lambda: self.place(jobs[1]))
        eventually(lambda: "begins at" in self.log(jobs[1]))

    def test_two_that_leave_the_gpu_idle_within_their_steps_have_it_at_once(self):
        self.ended(self.train("lstm", 60, LAUNCHES_SLOWLY))
        jobs = [self.train("lstm", 100_000, LAUNCHES_SLOWLY) for _ in range(2)]
        eventually(lambda: all("begins at" in self.log(job) for job in jobs))

        def gates():
            ask = [str(BIN / "berth-arbiter"), "--dir", str(self.server.sharing), "order", "status"]
            text = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
            return [word for word in text.split() if word.startswith("gate=")]

        eventually(lambda: gates() == ["gate=granted"] * 2)

    def test_a_pair_that_slows_each_other_down_on_the_host_parts(self):
        self.ended(self.train("dlrm", 60, LOADS, kernel_us=500))
        jobs = [self.train("dlrm", 100_000, LOADS, kernel_us=500) for _ in range(2)]
        eventually(lambda: all(self.place(job) for job in jobs))
        eventually(lambda: not self.place(jobs[1]))
        self.assertRegex(self.server.berth("show", str(jobs[1])).stdout, r"packed +no longer")

    def test_two_that_share_go_on_when_server_and_arbiter_die(self):
        self.ended(self.train("t5", steps=100))
        jobs = [self.train("t5", steps=300) for _ in range(2)]
        eventually(lambda: all("begins" in self.log(job) for job in jobs))
        arbiter = int((self.server.sharing / "pid").read_text())
        self.server.kill()
        os.kill(arbiter, signal.SIGKILL)
        self.server.up()
        self.assertEqual(self.place(jobs[0]), self.place(jobs[1]))
        for job in jobs:
            self.ended(job)


if __name__ == "__main__":
    main()
