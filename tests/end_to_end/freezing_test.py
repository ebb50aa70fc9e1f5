# SPDX-License-Identifier: Apache-2.0
"""A pause by checkpoint: the processes stay, the GPU is free, and nothing is computed twice."""
import os
import pathlib
import sys
import time

import cuda_program
from server_case import ServerCase, eventually, main

# Counts in its own memory and in that of its GPU, and writes nothing down. Ends at the number it
# is given, with 3 when the two differ. "managed" takes memory that no driver checkpoints.
COUNTER = cuda_program.OPEN + cuda_program.START + """
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
pointer, ballast, seen = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()
if "managed" in sys.argv: call("cuMemAllocManaged", ctypes.byref(pointer), 4096, 1)
else: call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(2 << 20))
call("cuMemAlloc_v2", ctypes.byref(ballast), ctypes.c_size_t(2046 << 20))
print("attempt", os.environ["BERTH_ATTEMPT"], "finds", free.value >> 20, "MiB free", flush=True)
call("cuMemsetD32_v2", pointer, 0, 1)
for count in range(1, int(sys.argv[1]) + 1):
    call("cuMemcpyDtoH_v2", ctypes.byref(seen), pointer, 4)
    if seen.value != count - 1: print("lost", seen.value, flush=True); sys.exit(3)
    call("cuMemsetD32_v2", pointer, count, 1)
    print("at", count, flush=True)
    time.sleep(0.005)
"""
CONTEXT = 400
GPU = 16 << 10


class Freezing(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G", "--min-runtime", "0")

    def counter(self, until, *words, **spec):
        command = [sys.executable, "-c", COUNTER, str(until), *words]
        return self.server.submit(command, **spec)["id"]

    def counts(self, job, at_least=1):
        return eventually(lambda: f"at {at_least}\n" in self.log(job))

    def check_counted_on(self, job, until, pauses=1, tasks=1):
        ended = self.server.wait(job)
        self.assertEqual(ended["state"], "succeeded", self.log(job)[-200:])
        self.assertEqual((ended["attempts"], ended["pauses"]), (1, pauses))
        for task in range(tasks):
            lines = self.server.get(f"jobs/{job}/log?task={task}").decode().splitlines()
            self.assertTrue(lines[0].startswith("attempt 1 "))
            # Every number once, by one process.
            counts = [line for line in lines[1:] if not line.startswith("berth: ")]
            self.assertEqual(counts, [f"at {count}" for count in range(1, until + 1)])
        return ended

    def pause(self, job, tasks=1):
        self.server.request("POST", f"jobs/{job}/pause")
        paused = self.server.wait_for_state(job, "paused")
        self.assertEqual(paused["last_pause"]["frozen"]["gpu_memory"],
                         tasks * (2048 + CONTEXT) << 20, paused["last_pause"])
        return paused

    def resume(self, job):
        self.server.request("POST", f"jobs/{job}/resume")
        return self.server.wait_for_state(job, "running", "succeeded")

    def processes(self, job):
        """Those that have the job's number in their environment."""
        found = []
        mark = f"BERTH_JOB_ID={job}\0".encode()
        for entry in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                text = entry.read_bytes()
            except OSError:
                continue
            if mark in text and str(self.server.data).encode() in text:
                found.append(int(entry.parent.name))
        return found

    def test_an_owner_gets_the_gpu_and_the_borrower_counts_on_where_it_was(self):
        for name, quota in (("owner", 2), ("borrower", 0)):
            self.server.request("PUT", f"projects/{name}", {"quota": quota})
        lent = self.counter(400, project="borrower", gpus=2)
        self.counts(lent, 20)
        owner = self.counter(20, project="owner", gpus=2)
        self.server.wait_for_state(lent, "paused")
        at_pause = self.log(lent)
        self.assertEqual(self.server.wait(owner)["state"], "succeeded")
        # Nothing of the borrower was on the GPU, and it did not count meanwhile.
        self.assertIn(f"finds {GPU - CONTEXT} MiB free", self.log(owner))
        self.assertTrue(self.log(lent).startswith(at_pause))
        ended = self.check_counted_on(lent, 400)
        self.assertEqual(ended["lost_gpu_ms"], 0)
        self.assertTrue(ended["last_pause"]["saved"])

    def test_it_comes_back_on_another_gpu_when_its_own_is_taken(self):
        job = self.counter(300)
        self.counts(job, 10)
        before = self.server.get(f"jobs/{job}")["tasks"][0]["gpus"]
        self.pause(job)
        other = self.counter(100_000)
        self.counts(other)
        self.assertEqual(self.server.get(f"jobs/{other}")["tasks"][0]["gpus"], before)
        after = self.resume(job)["tasks"][0]["gpus"]
        self.assertNotEqual(before, after)
        # What its environment names cannot be changed, so its log says it.
        self.assertIn(f"berth: task 0 is on GPU {after[0]} now, no more on {before[0]}: "
                      "CUDA_VISIBLE_DEVICES of programs", self.log(job))
        self.counts(job, 100)
        self.pause(job)
        self.server.request("POST", f"jobs/{other}/cancel", {"grace": 0})
        self.server.wait(other)
        self.resume(job)
        self.check_counted_on(job, 300, pauses=2)

    def test_an_elastic_job_comes_back_with_the_tasks_that_it_was_frozen_with(self):
        job = self.counter(300, tasks_min=1, tasks_max=2, elastic="restart")
        self.counts(job, 10)
        eventually(lambda: b"at 10\n" in self.server.get(f"jobs/{job}/log?task=1"))
        self.assertEqual(len(self.server.get(f"jobs/{job}")["tasks"]), 2)
        self.assertRegex(self.server.berth("show", job).stdout, "pauses by +checkpoint")
        self.pause(job, tasks=2)
        other = self.counter(100_000)
        self.counts(other)
        at_pause = self.log(job)
        self.server.request("POST", f"jobs/{job}/resume")
        # One GPU is idle, and one task of it would do for a start; its processes are two.
        self.server.wait(self.shell("true", gpus=0))  # decided after it, and long over
        self.assertEqual((self.state(job), self.log(job)), ("paused", at_pause))
        self.server.request("POST", f"jobs/{other}/cancel", {"grace": 0})
        self.server.wait(other)
        self.server.wait_for_state(job, "running", "succeeded")
        self.check_counted_on(job, 300, tasks=2)

    def test_a_share_of_a_gpu_leaves_it_and_comes_back_on_another_one_with_its_limits(self):
        job = self.counter(300, request={"gpu_memory": 6 << 30})
        self.counts(job, 10)
        before = self.arbiter(job)
        self.assertEqual(int(before["charged"]), (2048 + CONTEXT) << 20)
        self.pause(job)
        off = self.arbiter(job)
        self.assertEqual((off["charged"], off["where"], off["gate"]),
                         (before["charged"], "away", "open"))
        other = self.counter(100_000)
        self.counts(other)
        self.resume(job)
        self.counts(job, 100)
        back = self.arbiter(job)
        self.assertNotEqual(back["gpu"], before["gpu"])
        self.assertEqual((back["charged"], back["limit"], back["where"], back["processes"]),
                         (before["charged"], before["limit"], "here", "1"))
        self.pause(job)
        self.server.request("POST", f"jobs/{other}/cancel", {"grace": 0})
        self.server.wait(other)
        self.resume(job)
        self.check_counted_on(job, 300, pauses=2)

    def test_a_server_that_dies_does_not_lose_a_frozen_job(self):
        job = self.counter(200)
        self.counts(job, 10)
        self.pause(job)
        self.server.kill()
        self.server.up()
        self.assertEqual(self.state(job), "paused")
        kept = self.server.get(f"jobs/{job}")["frozen"]
        self.assertEqual(len(kept), 1)
        self.resume(job)
        self.counts(job, 60)
        self.server.kill()
        self.server.up()
        self.pause(job)
        self.resume(job)
        self.check_counted_on(job, 200, pauses=2)

    def test_cancelling_a_frozen_job_ends_its_processes(self):
        job = self.counter(100_000)
        self.counts(job)
        self.pause(job)
        pids = self.processes(job)
        self.assertTrue(pids)
        self.server.request("POST", f"jobs/{job}/cancel")
        self.assertEqual(self.server.wait(job)["state"], "cancelled")
        eventually(lambda: not self.processes(job))

    def test_a_frozen_job_whose_processes_die_is_started_again(self):
        job = self.counter(50)
        self.counts(job)
        self.pause(job)
        for pid in self.processes(job):
            os.kill(pid, 9)
        eventually(lambda: not self.server.get(f"jobs/{job}")["frozen"])
        self.server.request("POST", f"jobs/{job}/resume")
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["attempts"]), ("succeeded", 2))

    def test_what_cannot_be_checkpointed_is_asked_by_signal_and_told_why(self):
        job = self.counter(100_000, "managed")
        self.counts(job)
        self.server.request("POST", f"jobs/{job}/pause")
        paused = self.server.wait_for_state(job, "paused")
        self.assertIsNone(paused["last_pause"]["frozen"])
        self.assertFalse(paused["last_pause"]["saved"])
        self.assertRegex(paused["last_pause"]["detail"],
                         "no checkpoint: process .*CUDA_ERROR_NOT_SUPPORTED")

    def test_how_a_job_would_be_paused_is_told_beforehand_and_in_the_receipt(self):
        job = self.counter(100_000)
        self.counts(job)
        self.assertRegex(self.server.berth("show", job).stdout, "pauses by +checkpoint")
        gang = self.server.submit(["sleep", "1000"], request={"share": 0.5}, tasks_min=2,
                                  tasks_max=2)["id"]
        self.server.wait_for_state(gang, "running")
        self.assertRegex(self.server.berth("show", gang).stdout,
                         "pauses by +signal.*no checkpoint: several of its tasks share GPUs")
        self.pause(job)
        receipt = self.server.berth("why", job, "--paused").stdout
        self.assertRegex(receipt, r"paused by\s+checkpoint, 2\.3G off its GPUs in \d+ms")
        self.assertRegex(receipt, "kept +its processes, on sim1")
        self.counts(self.counter(100_000))  # beside the gang
        self.server.request("POST", f"jobs/{job}/resume")
        receipt = self.server.berth("why", job, "--paused").stdout
        self.assertIn("as soon as GPUs of sim1 are free for it", receipt)


class FreezingOfGangs(ServerCase):
    FLAGS = ("--gpus", "sim:2x2x16G", "--min-runtime", "0")

    def shown(self, **spec):
        job = self.server.submit(["sleep", "1000"], **spec)["id"]
        self.server.wait_for_state(job, "running")
        return " ".join(self.server.berth("show", job).stdout.split())

    def check_signal(self, shown, why_not):
        self.assertIn(f"pauses by signal, to save and stop; no checkpoint: {why_not}; "
                      "it starts again from what it saved", shown)

    def test_a_gang_on_several_nodes_is_said_to_get_a_signal(self):
        self.check_signal(self.shown(gpus=2, tasks_min=2, tasks_max=2), "it runs on 2 nodes")

    def test_an_elastic_gang_of_groups_is_said_to_get_a_signal(self):
        groups = [{"name": "a", "tasks_min": 1, "tasks_max": 2, "level": "node"}]
        self.check_signal(self.shown(topology={"groups": groups}, elastic="restart"),
                          "it is elastic, by groups")

    def test_tasks_that_share_a_gpu_are_said_to_get_a_signal(self):
        self.check_signal(self.shown(request={"share": 0.5}, tasks_min=2, tasks_max=2,
                                     topology={"required": "node"}),
                          "several of its tasks share GPUs")

    def test_a_gang_on_one_node_is_said_to_be_kept(self):
        self.assertRegex(self.shown(tasks_min=2, tasks_max=2, topology={"required": "node"}),
                         "pauses by +checkpoint, with all its processes kept")


if __name__ == "__main__":
    main()
