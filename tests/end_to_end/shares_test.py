# SPDX-License-Identifier: Apache-2.0
"""Shares of a GPU are kept: a program sees its part, and cannot take more of it."""
import os
import pathlib
import signal
import sys
import unittest

import cuda_program
from server_case import BIN, Server, ServerCase, eventually, main

# What any CUDA program does, by the driver's own interface. Allocates a number of GiB, says how it
# went, and stays as long as its arguments say.
PROGRAM = cuda_program.OPEN + cuda_program.START + """
count = ctypes.c_int()
call("cuDeviceGetCount", ctypes.byref(count))
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print("sees", count.value, "of", total.value >> 30, "GiB", flush=True)
for more in sys.argv[1:]:
    pointer = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(int(more) << 30))
    print("has", more, flush=True)
    while not os.path.exists(os.path.join(os.environ["BERTH_CHECKPOINT_DIR"], "go" + more)):
        if len(sys.argv) == 2: break
        time.sleep(0.01)
"""

# Training as the driver sees it: steps of twenty kernels, 2 GiB that stay and 1 GiB within a step.
TRAINING = cuda_program.OPEN + cuda_program.START + cuda_program.KERNELS + """
gradient, update = kernel(), kernel()
ns = ctypes.c_uint64(50_000)
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
weights, activations = ctypes.c_uint64(), ctypes.c_uint64()
call("cuMemAlloc_v2", ctypes.byref(weights), ctypes.c_size_t(2 << 30))
for step in range(60):
    call("cuMemAlloc_v2", ctypes.byref(activations), ctypes.c_size_t(1 << 30))
    for layer in range(20):
        call("cuLaunchKernel", gradient, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
    call("cuMemFree_v2", activations)
    call("cuLaunchKernel", update, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
    call("cuCtxSynchronize")
    time.sleep(0.02)
"""


# Steps without a pause, for ever.
BUSY = cuda_program.OPEN + cuda_program.START + cuda_program.KERNELS + """
work = kernel()
ns = ctypes.c_uint64(1_000_000)
parameters = (ctypes.c_void_p * 1)(ctypes.addressof(ns))
while True:
    for layer in range(20):
        call("cuLaunchKernel", work, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
    call("cuCtxSynchronize")
"""

# A job that wants more than its share: by the arbiter's own command, and as a process of another.
INTRUDER = cuda_program.OPEN + """
import pathlib, subprocess
arbiter, directory = sys.argv[1:]
tenants = sorted(path.name for path in pathlib.Path(directory, "tenants").iterdir())
for name in tenants:
    for order in (("set", name, "memory=1M"), ("drop", name), ("status", name)):
        done = subprocess.run([arbiter, "--dir", directory, "order", *order],
                              capture_output=True, text=True)
        print("order", done.returncode, done.stdout + done.stderr, flush=True)
foreign = [f"{directory}/tenants/{name}" for name in tenants
           if f"{directory}/tenants/{name}" != os.environ["BERTH_VGPU_SOCKET"]]
os.environ["BERTH_VGPU_SOCKET"] = foreign[0]
start = "import ctypes, sys; sys.exit(ctypes.CDLL('libcuda.so.1').cuInit(0))"
print("joined", subprocess.run([sys.executable, "-c", start]).returncode, flush=True)
"""


def state_of(process):
    """A letter: R, S, T for a stopped one ..."""
    return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]


class Shares(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G")

    def program(self, *gib, **spec):
        command = [sys.executable, "-c", PROGRAM, *map(str, gib)]
        return self.server.submit(command, **spec)["id"]

    def go_on(self, job, gib):
        (self.server.data / "jobs/0" / f"{job}.checkpoint" / f"go{gib}").touch()

    def let_begin(self, job):
        (self.server.data / "jobs/0" / f"{job}.checkpoint/later").touch()

    def has(self, job, gib):
        return eventually(lambda: f"has {gib}\n" in self.log(job))

    @property
    def arbiter(self):
        return self.server.sharing

    def arbiter_pid(self):
        return int((self.arbiter / "pid").read_text())

    def test_half_a_gpu_is_half_of_its_memory(self):
        job = self.program(7, request={"share": 0.5})
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        self.assertIn("sees 1 of 8 GiB", self.log(job))

    def test_more_than_the_share_is_refused_and_says_whose_limit_it_was(self):
        job = self.program(7, request={"share": 0.25})
        self.assertEqual(self.server.wait(job)["exit_code"], 3)
        self.assertIn("cuMemAlloc_v2 2", self.log(job))
        self.assertRegex(self.log(job), "this job's own limit.* limit 4096.0 MiB")

    def test_memory_that_was_asked_for_is_the_limit(self):
        job = self.program(11, request={"gpu_memory": 12 << 30})
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        job = self.program(12, request={"gpu_memory": 12 << 30})
        self.assertEqual(self.server.wait(job)["exit_code"], 3)

    def test_a_whole_gpu_is_whole(self):
        job = self.program(15)
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        self.assertIn("sees 1 of 16 GiB", self.log(job))

    def test_two_halves_run_together_on_one_gpu(self):
        jobs = [self.program(6, 1, request={"share": 0.5}) for _ in range(2)]
        for job in jobs:
            self.has(job, 6)
        places = [self.server.get(f"jobs/{job}")["tasks"][0]["gpus"] for job in jobs]
        self.assertEqual(places[0], places[1])
        for job in jobs:
            self.go_on(job, 6)
            self.has(job, 1)
            self.go_on(job, 1)
            self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))

    def test_a_job_neither_orders_the_arbiter_nor_joins_the_share_of_another(self):
        honest = self.program(6, 1, request={"share": 0.5})
        self.has(honest, 6)
        command = [sys.executable, "-c", INTRUDER, str(BIN / "berth-arbiter"), str(self.arbiter)]
        intruder = self.server.submit(command, request={"share": 0.5})["id"]
        self.assertEqual(self.server.wait(intruder)["state"], "succeeded", self.log(intruder))
        self.assertEqual(self.log(intruder).count("a job gives no orders"), 6, self.log(intruder))
        self.assertNotIn("order 0", self.log(intruder))
        self.assertRegex(self.log(intruder), r"another job[^!]*joined [1-9]")
        self.go_on(honest, 6)
        self.has(honest, 1)
        self.go_on(honest, 1)
        self.assertEqual(self.server.wait(honest)["state"], "succeeded", self.log(honest))

    def test_what_each_share_really_uses_is_shown(self):
        job = self.program(3, 1, request={"share": 0.5})
        self.has(job, 3)
        gpu = self.server.get("nodes")["items"][0]["devices"][0]
        used, limit = gpu["shares"][0]["memory_used"], gpu["shares"][0]["memory_limit"]
        self.assertEqual((gpu["shares"][0]["job"], used), (job, (3 << 30) + (400 << 20)))
        self.assertLess(used, limit)
        for words in (("top", "--once"), ("gpus",)):
            self.assertRegex(self.server.berth(*words).stdout, rf"{job} .*\([34]\S*G of [78].*G\)")

    def test_two_halves_of_one_busy_gpu_show_what_each_had_lately_not_what_it_would_use_alone(self):
        jobs = [self.server.submit([sys.executable, "-c", BUSY], request={"share": 0.5})["id"]
                for _ in range(2)]

        def parts():
            gpu = self.server.get("nodes")["items"][0]["devices"][0]
            return {share["job"]: share.get("compute_used") for share in gpu["shares"]}

        eventually(lambda: set(parts()) == set(jobs) and None not in parts().values())
        # Half each, and no more than the GPU has, whatever else the machine does.
        eventually(lambda: all(0 < part <= 0.75 for part in parts().values()))
        self.assertLessEqual(sum(parts().values()), 1.1)
        shown = self.server.berth("gpus").stdout
        for job in jobs:
            self.assertRegex(shown, rf"(?m) {job} [^()\n]*\([^()\n]*, [1-7]\d%\)$")
        self.assertRegex(self.server.berth("top", "--once").stdout, r"\([^()]*, [1-7]\d%\)")
        for job in jobs:
            self.server.request("POST", f"jobs/{job}/cancel", {"grace": 0})

    def test_the_limit_stays_when_server_and_arbiter_die(self):
        job = self.program(4, 3, 2, request={"share": 0.5})
        self.has(job, 4)
        first = self.arbiter_pid()
        self.server.kill()
        os.kill(first, signal.SIGKILL)
        self.server.up()
        other = self.program(7, request={"share": 0.5})
        self.assertEqual(self.server.wait(other)["state"], "succeeded", self.log(other))
        self.assertNotEqual(self.arbiter_pid(), first)
        self.go_on(job, 4)
        self.has(job, 3)
        self.go_on(job, 3)
        self.assertEqual(self.server.wait(job)["exit_code"], 3, self.log(job))

    def later_program(self, gib):
        """A job whose first process on a GPU begins when the flag `later` is there."""
        script = ("until [ -e $BERTH_CHECKPOINT_DIR/later ]; do sleep 0.02; done; "
                  'exec "$0" -c "$1" "$2"')
        command = ["sh", "-c", script, sys.executable, PROGRAM, str(gib)]
        job = self.server.submit(command, request={"share": 0.5})["id"]
        self.server.wait_for_state(job, "running")
        return job

    def test_a_killed_arbiter_has_a_successor_for_processes_that_come_later(self):
        job = self.later_program(4)
        os.kill(self.arbiter_pid(), signal.SIGKILL)
        self.let_begin(job)
        self.assertEqual(self.server.wait(job)["exit_code"], 0, self.log(job))
        self.assertIn("sees 1 of 8 GiB", self.log(job))

    def test_a_stopped_arbiter_is_woken_and_nobody_waits_for_it(self):
        job = self.later_program(4)
        arbiter = self.arbiter_pid()
        os.kill(arbiter, signal.SIGSTOP)
        self.server.berth("gpus")
        self.server.wait(self.server.submit(["true"])["id"])
        eventually(lambda: state_of(arbiter) != "T")
        self.let_begin(job)
        self.assertEqual(self.server.wait(job)["exit_code"], 0, self.log(job))
        self.assertEqual(self.arbiter_pid(), arbiter)

    def train(self, **spec):
        command = [sys.executable, "-c", TRAINING]
        job = self.server.submit(command, name="resnet", **spec)["id"]
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        return self.server.get(f"jobs/{job}")

    def test_what_a_job_took_is_known_of_the_next_one_like_it_also_after_a_crash(self):
        profile = self.train(request={"share": 0.75})["profile"]
        self.assertGreater(profile["iterations"], 20)
        self.assertGreater(profile["iteration_us"], 8_000)
        self.assertGreaterEqual(profile["highest"], 3 << 30)
        self.assertLess(profile["highest"], 4 << 30)
        self.assertEqual(profile["peak"], profile["highest"])
        self.assertEqual(profile["peak"] - profile["persistent"], 1 << 30)
        self.server.kill()
        self.server.up()
        sleeper = self.server.submit(["sleep", "1000"], name="resnet",
                                     request={"share": 0.75})["id"]
        self.assertEqual(self.server.get(f"jobs/{sleeper}")["profile"], profile)
        page = self.server.berth("show", str(sleeper)).stdout
        self.assertRegex(page, r"profile +jobs like it took \d+ % of a GPU's time and 3\.\dG")
        other = self.server.submit(["sleep", "1000"], name="bert")["id"]
        self.assertIsNone(self.server.get(f"jobs/{other}")["profile"])

    def test_a_job_on_whole_gpus_is_measured_when_it_asks_for_it(self):
        self.assertIsNone(self.train()["profile"])
        job = self.train(environment=["BERTH_PROFILE=1"])
        self.assertGreater(job["profile"]["iterations"], 20)
        self.assertIn("jobs like it took", self.server.berth("show", str(job["id"])).stdout)

    def test_the_arbiter_ends_with_the_server_when_nobody_needs_it(self):
        job = self.program(1, request={"share": 0.5})
        self.server.wait(job)
        pid = self.arbiter_pid()
        self.server.berth("down")
        self.assertFalse(self.arbiter.exists())
        # A child that has ended and was not waited for is gone as well.
        eventually(lambda: not pathlib.Path(f"/proc/{pid}/exe").exists())

    def test_what_a_restored_log_does_not_know_has_no_share_any_more(self):
        known = self.program(1, 1, request={"share": 0.25})
        self.server.wait_for_state(known, "running")
        backup = self.server.data / "backup"
        self.server.berth("backup", backup)
        self.program(2, 1, request={"share": 0.5})
        tenants = self.arbiter / "terms"
        eventually(lambda: len(list(tenants.iterdir())) == 2)
        self.server.berth("down")
        self.server.berth("restore", backup)
        self.server.up()
        eventually(lambda: [path.name for path in tenants.iterdir()] == [f"{known}.1.0"])
        pid = self.arbiter_pid()
        self.server.berth("down", "--jobs", "cancel")
        eventually(lambda: not pathlib.Path(f"/proc/{pid}/exe").exists())


class Ways(unittest.TestCase):
    """Stricter ways of being in front of the driver hold programs that open it by its path."""

    BY_PATH = PROGRAM.replace('"libcuda.so.1"', 'os.environ["DRIVER"]')

    def log_of_program(self, in_front):
        """Half of a GPU of 16 GiB: takes 7 GiB, then 2 more."""
        with Server("--gpus", "sim:1x16G", "--in-front", in_front) as server:
            job = server.submit(
                [sys.executable, "-c", self.BY_PATH, "7", "2"], request={"share": 0.5},
                environment=[f"DRIVER={BIN.parent / 'software_gpu/libcuda.so.1'}"])["id"]
            log = lambda: server.get(f"jobs/{job}/log").decode()  # noqa: E731
            eventually(lambda: "has 7\n" in log())
            (server.data / "jobs/0" / f"{job}.checkpoint/go7").touch()
            return eventually(lambda: log() if "has 2\n" in log() or "cuMemAlloc" in log() else "")

    def test_preloading_does_not_hold_who_opens_the_driver_by_its_path(self):
        log = self.log_of_program("preload")
        self.assertIn("sees 1 of 16 GiB", log)
        self.assertIn("has 2", log)

    def test_auditing_does(self):
        log = self.log_of_program("audit")
        self.assertIn("sees 1 of 8 GiB", log)
        self.assertIn("cuMemAlloc_v2 2", log)

    def test_a_mount_does(self):
        log = self.log_of_program("mount")
        self.assertIn("sees 1 of 8 GiB", log)
        self.assertIn("cuMemAlloc_v2 2", log)


if __name__ == "__main__":
    main()
