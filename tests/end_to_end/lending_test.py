# SPDX-License-Identifier: Apache-2.0
"""Memory of a GPU beyond what was promised: lent while others leave it, given back without loss."""
import os
import pathlib
import signal
import subprocess
import sys

import cuda_program
from server_case import ServerCase, eventually, main

# Takes a number of GiB, one at a time, says how long the last one took, and counts in its GPU's
# memory until the flag `end` is there. "managed" takes memory that no driver checkpoints.
PROGRAM = cuda_program.OPEN + """
def save(*_):
    print("saves", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
""" + cuda_program.START + """
gib, count = int(sys.argv[1]), 0
pointer, more, seen = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_uint32()
if "managed" in sys.argv:
    # What it borrowed once it is not promised the next time.
    if os.environ["BERTH_ATTEMPT"] != "1": gib = 5
    call("cuMemAllocManaged", ctypes.byref(more), 4096, 1)
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(2 << 20))
call("cuMemsetD32_v2", pointer, 0, 1)
for number in range(1, gib + 1):
    began = time.monotonic()
    mebibytes = 1022 if number == 1 else 1024
    call("cuMemAlloc_v2", ctypes.byref(more), ctypes.c_size_t(mebibytes << 20))
    last = time.monotonic() - began
    print("has", number, flush=True)
print(f"waited {last:.3f}", flush=True)
while not os.path.exists(os.path.join(os.environ["BERTH_CHECKPOINT_DIR"], "end")):
    count += 1
    call("cuMemcpyDtoH_v2", ctypes.byref(seen), pointer, 4)
    if seen.value != count - 1: print("lost", seen.value, flush=True); sys.exit(3)
    call("cuMemsetD32_v2", pointer, count, 1)
    print("at", count, flush=True)
    time.sleep(0.01)
"""
GIB = 1 << 30


class Lending(ServerCase):
    FLAGS = ("--gpus", "sim:1x24G", "--min-runtime", "0")

    def program(self, gib, *words, promised, most=0, **spec):
        command = [sys.executable, "-c", PROGRAM, str(gib), *words]
        request = {"gpu_memory": promised * GIB, "gpu_memory_max": most * GIB}
        return self.server.submit(command, request=request, **spec)["id"]

    def says(self, job, line):
        return eventually(lambda: f"{line}\n" in self.log(job))

    def end(self, job):
        (self.server.data / "jobs/0" / f"{job}.checkpoint/end").touch()
        ended = self.server.wait(job)
        self.assertEqual(ended["state"], "succeeded", self.log(job))
        return ended

    def is_at(self, job, where):
        return eventually(lambda: self.arbiter(job)["where"] == where)

    # Of an arbiter that has died and comes back.
    def is_at_again(self, job, where):
        def look():
            try:
                return self.arbiter(job).get("where") == where
            except subprocess.CalledProcessError:
                return False
        return eventually(look)

    def check_counted_once(self, job):
        before = self.log(job).count("\nat ")
        self.says(job, f"at {before + 10}")  # once it is back
        ended = self.end(job)
        self.assertEqual(ended["attempts"], 1)
        counts = [line for line in self.log(job).splitlines() if line.startswith("at ")]
        self.assertEqual(counts, [f"at {count + 1}" for count in range(len(counts))])
        return ended

    def test_an_owner_gets_its_memory_back_and_the_borrower_counts_on_afterwards(self):
        borrower = self.program(18, promised=6, most=20)
        self.says(borrower, "at 10")
        before = self.arbiter(borrower)
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        self.assertEqual(self.arbiter(borrower)["where"], "off")
        self.assertEqual(self.state(borrower), "running")
        at_leaving = self.log(borrower)
        self.assertIn("berth: off its GPU: others need the memory that it borrowed\n", at_leaving)
        self.says(owner, "at 50")
        self.assertEqual(self.log(borrower), at_leaving)
        self.end(owner)
        self.is_at(borrower, "here")
        self.assertEqual(self.arbiter(borrower)["charged"], before["charged"])
        ended = self.check_counted_once(borrower)
        self.assertEqual((ended["pauses"], ended["lost_gpu_ms"]), (0, 0))

    def test_what_others_hold_is_not_lent_and_the_job_is_told_so(self):
        owner = self.program(11, promised=12)
        self.says(owner, "at 1")
        borrower = self.program(16, promised=6, most=20)
        self.assertEqual(self.server.wait(borrower)["exit_code"], 3)
        self.assertIn("has 11\n", self.log(borrower))
        self.assertRegex(self.log(borrower),
                         "may borrow, others use it: .* 6144.0 MiB that it was promised")

    def test_who_stays_within_what_it_was_promised_is_left_alone(self):
        quiet = self.program(5, promised=6, most=20)
        self.says(quiet, "at 1")
        owner = self.program(16, promised=17)
        self.says(owner, "has 16")
        self.end(owner)
        self.assertEqual(self.arbiter(quiet)["where"], "here")

    def test_who_cannot_be_frozen_saves_and_ends_and_starts_again(self):
        borrower = self.program(18, "managed", promised=6, most=20)
        self.says(borrower, "at 10")
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        first = self.server.data / "jobs/0" / f"{borrower}.1.task-0.log"
        self.assertIn("saves\n", first.read_text())
        self.end(owner)
        self.assertEqual(self.end(borrower)["attempts"], 2)

    def test_it_may_be_paused_resumed_and_cancelled_while_it_is_off(self):
        borrower = self.program(18, promised=6, most=20)
        self.says(borrower, "at 10")
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        self.server.request("POST", f"jobs/{borrower}/pause")
        paused = self.server.wait_for_state(borrower, "paused")
        self.assertIsNotNone(paused["last_pause"]["frozen"])
        self.assertEqual(self.arbiter(borrower)["where"], "away")
        self.server.request("POST", f"jobs/{borrower}/resume")
        self.is_at(borrower, "off")
        self.server.request("POST", f"jobs/{owner}/cancel", {"grace": 0})
        self.check_counted_once(borrower)

        again = self.program(18, promised=6, most=20)
        self.says(again, "at 10")
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        self.server.request("POST", f"jobs/{again}/cancel")
        self.assertEqual(self.server.wait(again)["state"], "cancelled")

    def test_a_server_that_dies_meanwhile_does_not_lose_it(self):
        borrower = self.program(18, promised=6, most=20)
        self.says(borrower, "at 10")
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        self.server.kill()
        self.server.up()
        self.assertEqual(self.state(borrower), "running")
        self.assertEqual(self.arbiter(borrower)["where"], "off")
        self.end(owner)
        self.check_counted_once(borrower)

    def test_arbiter_and_freezer_are_started_again_for_who_borrows(self):
        borrower = self.program(18, promised=6, most=20)
        self.says(borrower, "at 10")
        arbiter = int((self.server.sharing / "pid").read_text())
        freezers = subprocess.run(["pgrep", "-f", f"berth-freezer.*{self.server.data}/"],
                                  capture_output=True, text=True, check=True).stdout.split()
        for pid in [arbiter, *map(int, freezers)]:
            os.kill(pid, signal.SIGKILL)
        self.is_at_again(borrower, "here")
        owner = self.program(10, promised=12)
        self.says(owner, "has 10")
        self.assertEqual(self.arbiter(borrower)["where"], "off")
        self.end(owner)
        self.check_counted_once(borrower)

    def test_what_it_may_borrow_is_said_behind_g(self):
        self.server.berth("submit", "-g", "6G..20G", "--", "sleep", "1000")
        self.assertIn("6G..20G", self.server.berth("ls").stdout)
        refused = self.server.berth("submit", "-g", "6G..20G", "--tasks", "2", "--", "true",
                                    check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("only a job of one task may borrow", refused.stderr)


if __name__ == "__main__":
    main()
