# SPDX-License-Identifier: Apache-2.0
"""Parking: an idle session leaves its GPU to others, alive, and its next call brings it back."""
import os
import pathlib
import re
import signal
import subprocess
import sys

import cuda_program
from server_case import BIN, PATIENCE, ServerCase, eventually, main

# Takes 2 GiB and numbers a part of them. For each file that appears in its folder, from 0 on, it
# looks whether the number is still there and counts it up; else, ready, it makes no call. The first
# call of each turn is one that the driver was asked for by name, as CUDA's runtime does, and that
# is not hooked.
SESSION = cuda_program.OPEN + cuda_program.START + """
import pathlib
pointer, ballast = ctypes.c_uint64(), ctypes.c_uint64()
seen, status = ctypes.c_uint32(), ctypes.c_int()
address = ctypes.c_void_p()
call("cuGetProcAddress_v2", b"cuMemcpyDtoHAsync", ctypes.byref(address), 12080, 0,
     ctypes.byref(status))
copy = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_size_t,
                        ctypes.c_void_p)(address.value)
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(2 << 20))
call("cuMemAlloc_v2", ctypes.byref(ballast), ctypes.c_size_t(2046 << 20))
call("cuMemsetD32_v2", pointer, 0, ctypes.c_size_t(512 << 10))
print("ready", flush=True)
for turn in range(1000):
    ticks = 0
    while not pathlib.Path(sys.argv[1], str(turn)).exists():
        time.sleep(0.02)
        ticks += 1
        if ticks % 10 == 0: print("idles", flush=True)
    print("calls for turn", turn, flush=True)
    copy(ctypes.addressof(seen), pointer.value + (1 << 20), 4, None)
    call("cuCtxSynchronize")
    print("turn", turn, "finds", seen.value, flush=True)
    call("cuMemsetD32_v2", pointer, turn + 1, ctypes.c_size_t(512 << 10))
    call("cuCtxSynchronize")
    print("ready", flush=True)
"""
# Waits for file 0 in its folder without any program on a GPU, then runs one.
SHELL = """
while [ ! -e "$1/0" ]; do sleep 0.02; done
exec "$2" -c "$3" "$1"
"""
# Holds all of its GPU and calls it over and over. Says how often, and how long it once waited for a
# processor between two calls.
OTHER = cuda_program.OPEN + cuda_program.START + """
free, total, pointer = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_uint64()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print("finds", free.value >> 20, "MiB free", flush=True)
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(15 << 30))
def starved():
    return int(open("/proc/self/schedstat").read().split()[1]) / 1e9
longest, last = 0, starved()
for turn in range(1_000_000):
    call("cuMemsetD32_v2", pointer, 1, 1)
    longest, last = max(longest, starved() - last), starved()
    if turn % 100 == 99: print("called", turn + 1, "starved", longest, flush=True)
    time.sleep(0.01)
"""
CONTEXT = 400


class ParkingCase(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G", "--min-runtime", "0")

    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.server.data) / "turns"
        self.folder.mkdir()
        self.server.request("PUT", "projects/team", {"quota": 2})
        self.server.request("PUT", "projects/guests", {"quota": 0})

    def session(self, *command, **spec):
        command = command or (sys.executable, "-c", SESSION, str(self.folder))
        spec = {"kind": "build", "park_after": 0.4} | spec
        return self.server.submit(list(command), project="team", **spec)["id"]

    def other(self, gpus=2):
        return self.server.submit([sys.executable, "-c", OTHER], project="guests", gpus=gpus)["id"]

    def is_parked(self, job):
        def look():
            answer = self.server.get(f"jobs/{job}")
            return answer.get("parked_since") and answer
        parked = eventually(look)
        self.assertEqual(parked["state"], "paused")
        return parked

    def is_ready(self, job, times=1):
        """It makes no call any more: however slow it is, it is not parked in between."""
        eventually(lambda: self.log(job).count("ready\n") >= times)

    def is_woken(self, job, since):
        """Since then; it may be parked again."""
        eventually(lambda: self.server.get(f"jobs/{job}")["parked_since"] != since)

    def place(self, job):
        answer = self.server.get(f"jobs/{job}")
        return (answer["tasks"] or answer["frozen"])[0]["gpus"]

    def call(self, turn=0):
        (self.folder / str(turn)).touch()

    def idles_on(self, job):
        """For as long as would park it twice over, by its own count: two in each 0.4 s."""
        idled = self.log(job).count("idles")
        eventually(lambda: self.log(job).count("idles") >= idled + 5)

    def found(self, job, turn, number):
        self.assertEqual(eventually(lambda: re.search(f"turn {turn} finds (.*)", self.log(job)))[1],
                         str(number))
        self.is_ready(job, turn + 2)


class Parking(ParkingCase):
    def test_an_idle_session_leaves_its_gpu_and_its_next_call_finds_its_memory_again(self):
        job = self.session(gpus=2)
        self.is_ready(job)
        parked = self.is_parked(job)
        self.assertEqual(parked["last_pause"]["frozen"]["gpu_memory"], (2048 + CONTEXT) << 20)
        self.assertEqual(parked["tasks"], [])
        # Its GPUs are free, memory included, and it runs on without them.
        other = self.other()
        eventually(lambda: f"finds {(16 << 10) - CONTEXT} MiB free\n" in self.log(other))
        self.idles_on(job)
        self.assertRegex(self.server.berth("ls").stdout, "parked since ..:..:.., wakes on")
        self.assertIn("wakes on its next GPU call", self.server.berth("why", job).stdout)
        # It has the rights that it had: what the guest borrowed is its own.
        self.call(0)
        self.found(job, 0, 0)
        self.assertEqual(self.server.get(f"jobs/{other}")["pauses"], 1)
        # Again and again, and each time after the same silence only.
        self.is_parked(job)
        self.server.wait_for_state(other, "running")
        self.call(1)
        self.found(job, 1, 1)
        ended = self.server.get(f"jobs/{job}")
        self.assertEqual((ended["attempts"], ended["lost_gpu_ms"]), (1, 0))

    def test_parked_it_asks_for_nothing_though_gpus_idle_and_resuming_wakes_it(self):
        job = self.session()
        self.is_ready(job)
        self.is_parked(job)
        self.idles_on(job)
        self.assertEqual(self.state(job), "paused")
        since = self.is_parked(job)["parked_since"]
        self.server.request("POST", f"jobs/{job}/resume")
        self.is_woken(job, since)
        self.is_parked(job)  # it still makes no call
        self.call(0)
        self.found(job, 0, 0)

    def test_who_calls_all_the_time_is_not_parked(self):
        job = self.server.submit([sys.executable, "-c", OTHER], park_after=0.3)["id"]
        eventually(lambda: "called 100" in self.log(job))
        before = self.server.get(f"jobs/{job}")["pauses"]  # until its first call
        eventually(lambda: "called 300" in self.log(job))
        after = self.server.get(f"jobs/{job}")["pauses"]
        # A machine that is busy may keep it from calling for that time.
        if max(map(float, re.findall("starved (.*)", self.log(job)))) < 0.2:
            self.assertEqual(after, before)

    def test_work_that_nobody_waits_for_keeps_it_on_its_gpu_and_holds_no_call_up(self):
        program = cuda_program.OPEN + cuda_program.START + cuda_program.KERNELS + """
spin, ns = kernel(), ctypes.c_uint64(10_000_000_000)
slots = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(ns), ctypes.c_void_p))
call("cuLaunchKernel", spin, 1, 1, 1, 1, 1, 1, 0, None, slots, None)
time.sleep(0.6)  # silent for long enough: it is to be parked now
free, total = ctypes.c_size_t(), ctypes.c_size_t()
call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
print("works still:", cuda.cuStreamQuery(None) == 600, flush=True)
call("cuCtxSynchronize")
time.sleep(1000)
"""
        job = self.session(sys.executable, "-c", program)
        self.assertEqual(eventually(lambda: re.search("works still: (.*)", self.log(job)))[1],
                         "True")
        eventually(lambda: "not parked: " in self.log(job))
        self.is_parked(job)  # once it is done

    def test_a_server_that_is_killed_while_it_is_parked_loses_nothing(self):
        job = self.session()
        self.is_ready(job)
        since = self.is_parked(job)["parked_since"]
        self.server.kill()
        self.server.up()
        self.assertEqual(self.server.get(f"jobs/{job}")["parked_since"], since)
        self.call(0)
        self.found(job, 0, 0)
        self.is_parked(job)
        # It calls while there is no server: the next one hears of it.
        self.server.kill()
        self.call(1)
        log = self.server.data / "jobs/0" / f"{job}.1.task-0.log"
        eventually(lambda: "calls for turn 1" in log.read_text())
        self.server.up()
        self.found(job, 1, 1)
        self.assertEqual(self.server.get(f"jobs/{job}")["attempts"], 1)

    def test_an_arbiter_that_is_killed_while_it_is_parked_comes_back_and_sees_the_call(self):
        job = self.session()
        self.is_ready(job)
        self.is_parked(job)
        os.kill(int((self.server.sharing / "pid").read_text()), signal.SIGKILL)
        self.call(0)
        self.found(job, 0, 0)

    def test_its_first_program_on_a_gpu_brings_a_session_back_wherever_it_is_then(self):
        job = self.session("sh", "-c", SHELL, "sh", str(self.folder), sys.executable, SESSION)
        self.is_parked(job)
        before = self.place(job)
        other = self.server.submit([sys.executable, "-c", OTHER], project="team", gpus=1)["id"]
        eventually(lambda: "MiB free" in self.log(other))
        self.assertEqual(self.place(other), before)
        self.call(0)
        self.found(job, 0, 0)
        self.assertNotEqual(self.place(job), before)

    def test_who_sits_at_a_parked_session_can_go_on_typing(self):
        words = ["run", "-p", "team", "--kind", "build", "--park-after", "400ms", "--", "sh"]
        with subprocess.Popen([str(BIN / "berth"), *words], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                              env=os.environ | {"BERTH_DATA": str(self.server.data)}) as shell:
            job = eventually(lambda: self.server.get("jobs")["items"])[0]["id"]
            for word in ("once", "twice"):
                since = self.is_parked(job)["parked_since"]
                shell.stdin.write(f"echo {word}\n")
                shell.stdin.flush()
                self.assertEqual(shell.stdout.readline(), word + "\n")
                self.server.request("POST", f"jobs/{job}/resume")
                self.is_woken(job, since)
            self.is_parked(job)
            shell.stdin.write("exit 5\n")
            shell.stdin.close()
            self.assertEqual(shell.wait(PATIENCE), 5)

    def test_a_parked_session_may_end_by_itself(self):
        job = self.session("sh", "-c", 'while [ ! -e "$1/0" ]; do sleep 0.02; done; exit 7', "sh",
                           str(self.folder))
        self.is_parked(job)
        self.call(0)
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["exit_code"]), ("failed", 7))

    def test_why_a_job_is_never_parked_is_told_beforehand(self):
        job = self.session(signal="USR1")
        self.server.wait_for_state(job, "running")
        show = self.server.berth("show", job).stdout
        self.assertRegex(show, "parks +never: no checkpoint: the job asks for USR1")
        self.idles_on(job)
        self.assertEqual(self.state(job), "running")
        job = self.session()
        self.server.wait_for_state(job, "running")
        self.assertRegex(self.server.berth("show", job).stdout, "parks +after 0s without a call")


class ParkingOnOneOfMany(ParkingCase):
    FLAGS = ("--gpus", "sim:8x2x16G", "--min-runtime", "0")

    def freezers(self):
        socket = f"{self.server.data}/run/freezer-".encode()
        found = 0
        for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found += b"--socket\0" + socket in entry.read_bytes()
            except OSError:
                pass  # it has ended
        return found

    def test_only_the_freezer_of_its_node_runs(self):
        job = self.session()
        self.is_ready(job)
        self.is_parked(job)
        self.assertEqual(self.freezers(), 1)
        self.server.kill()
        self.server.up()
        self.call(0)
        self.found(job, 0, 0)
        self.is_parked(job)
        self.assertEqual(self.freezers(), 1)


class ParkingByDefault(ParkingCase):
    FLAGS = ParkingCase.FLAGS + ("--park-after", "400ms")

    def test_sessions_are_parked_that_say_nothing_and_other_jobs_are_not(self):
        session = self.session(park_after=None)
        job = self.session(park_after=None, kind="train")
        self.is_parked(session)
        self.server.wait_for_state(job, "running")


if __name__ == "__main__":
    main()
