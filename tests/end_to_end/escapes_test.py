# SPDX-License-Identifier: Apache-2.0
"""A process that uses a GPU beside its job's share is noticed, shown, and counts as the job's."""
import os
import subprocess
import sys

import cuda_program
from server_case import BIN, ServerCase, eventually, main

SOFTWARE = BIN.parent / "software_gpu"
GIB = 1 << 30
CONTEXT = 400 << 20

# Takes GiB of a device, of the driver in its arguments, and stays.
TAKER = cuda_program.OPEN.replace('"libcuda.so.1"', "sys.argv[1]") + """
print("gpus", os.environ["BERTH_SOFTWARE_GPU"], flush=True)
context, pointer = ctypes.c_void_p(), ctypes.c_uint64()
call("cuInit", 0)
call("cuDevicePrimaryCtxRetain", ctypes.byref(context), int(sys.argv[3]))
call("cuCtxSetCurrent", context)
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(int(sys.argv[2]) << 30))
print("pid", os.getpid(), flush=True)
time.sleep(1000)
"""
# Runs a command with a number of processes between itself and it.
DEEP = """
import os, sys
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        os._exit(0)
os.execvp(sys.argv[2], sys.argv[2:])
"""
BY_NAME = "libcuda.so.1"
BY_PATH = str(SOFTWARE / "libcuda.so.1")


class Escapes(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G", "--min-runtime", "0")

    def taker(self, driver, gib, device=0):
        return [sys.executable, "-c", TAKER, driver, str(gib), str(device)]

    def word(self, job, name):
        """What the program says behind that word, once it does."""
        def said():
            lines = [line.split() for line in self.log(job).splitlines()]
            return next((words[1] for words in lines if words[:1] == [name]), None)
        return eventually(said)

    def start(self, command, **spec):
        """The job's number and the number of its process that holds memory."""
        job = self.server.submit(command, **spec)["id"]
        return job, int(self.word(job, "pid"))

    def uncounted(self, job):
        return self.server.get(f"jobs/{job}")["uncounted"]

    def escaped(self, job):
        return eventually(lambda: self.uncounted(job))

    def gpu_of(self, job):
        return self.server.get(f"jobs/{job}")["tasks"][0]["gpus"][0]

    def events(self, job):
        events = self.server.get("events?after=0&limit=1000")["items"]
        return [event for event in events
                if event["type"] == "job_escaped" and event["job"] == job]

    def check_is_charged(self, job, pid, gib):
        gpu = self.gpu_of(job)
        self.assertEqual(self.escaped(job), [{"job": job, "node": "sim1", "gpu": gpu, "pid": pid,
                                              "memory": gib * GIB + CONTEXT}])

    def test_who_opens_the_driver_by_its_path_is_charged_to_its_job_and_shown(self):
        job, pid = self.start(self.taker(BY_PATH, 12), request={"share": 0.5})
        self.check_is_charged(job, pid, 12)
        share = self.server.get("nodes")["items"][0]["devices"][self.gpu_of(job)]["shares"][0]
        self.assertEqual((share["job"], share["memory_used"]), (job, 12 * GIB + CONTEXT))
        self.assertRegex(self.server.berth("show", job).stdout,
                         rf"beside +process {pid} uses 12\.\dG of GPU {self.gpu_of(job)} on "
                         r"sim1\s+outside\s+the\s+job's\s+share")
        top = self.server.berth("top", "--once").stdout
        self.assertRegex(top, rf"process {pid} of {job} .*beside its share, holds 12\.\dG of GPU")
        self.assertRegex(top, rf"{job} .*\(12\.\dG of [78].*G\)")
        # By default it gets a note, and goes on.
        log = "berth: it uses GPUs beside its share: process"
        eventually(lambda: log in self.log(job))
        self.assertEqual(self.state(job), "running")
        self.server.kill()
        self.server.up()
        self.check_is_charged(job, pid, 12)
        self.assertEqual(self.log(job).count(log), 1)
        self.assertEqual(len(self.events(job)), 1)
        self.assertIn(f"process {pid}", self.events(job)[0]["detail"])

    def test_what_escaped_is_missing_from_the_share_of_the_jobs_other_processes(self):
        outside, inside = (" ".join(f"'{word}'" for word in self.taker(*what))
                           for what in ((BY_PATH, 6), (BY_NAME, 3)))
        script = (f"{outside} & while ! test -e $BERTH_CHECKPOINT_DIR/go; do sleep 0.05; done; "
                  f"{inside}")
        job, pid = self.start(["sh", "-c", script], request={"share": 0.5})
        self.check_is_charged(job, pid, 6)
        (self.server.data / "jobs/0" / f"{job}.checkpoint/go").touch()
        eventually(lambda: "cuMemAlloc_v2 2" in self.log(job))
        self.assertRegex(self.log(job), "this job's own limit.* limit 8192.0 MiB")

    def test_a_policy_may_say_that_such_a_job_is_ended(self):
        job, pid = self.start(self.taker(BY_PATH, 12), request={"share": 0.5})
        self.check_is_charged(job, pid, 12)
        self.server.berth("policy", "set", "escaped=end")
        ended = self.server.wait(job)
        self.assertEqual(ended["state"], "failed")
        self.assertNotEqual(ended["exit_code"], 0)
        self.assertRegex(ended["detail"], rf"beside its share: process {pid} .*escaped=end")
        self.assertIn("escaped=end", self.server.berth("show", job).stdout)
        other, _ = self.start(self.taker(BY_PATH, 12), request={"share": 0.5})
        self.assertEqual(self.server.wait(other)["state"], "failed")
        self.assertIn("it is ended (escaped=end)", self.log(other))

    def test_a_grandchild_without_environment_is_still_its_jobs(self):
        inner = " ".join(f"'{word}'" for word in self.taker(BY_PATH, 3))
        script = f"(env -i BERTH_SOFTWARE_GPU=$BERTH_SOFTWARE_GPU setsid {inner} &) ; sleep 1000"
        job, pid = self.start(["sh", "-c", script], request={"share": 0.25})
        self.check_is_charged(job, pid, 3)

    def test_a_process_is_its_jobs_however_many_are_between_them(self):
        command = [sys.executable, "-c", DEEP, "300", *self.taker(BY_PATH, 3)]
        job, pid = self.start(command, request={"share": 0.25})
        self.check_is_charged(job, pid, 3)

    def test_a_job_is_noticed_whose_processes_beside_its_share_take_turns(self):
        # Each is there until the next one holds memory, and no longer.
        taker = " ".join(f"'{word}'" for word in self.taker(BY_PATH, 1))
        script = f"cd $BERTH_CHECKPOINT_DIR; while true; do rm -f new; {taker} >new & " \
                 "until grep -q ^pid new; do sleep 0.01; done; kill -9 $last; last=$!; done"
        job = self.shell(script, request={"share": 0.5})
        self.escaped(job)
        eventually(lambda: "berth: it uses GPUs beside its share: process" in self.log(job))

    def outside_its_gpus(self, device):
        """A program that takes memory of a GPU whatever its job was given."""
        return ["env", f"BERTH_SOFTWARE_GPU={self.server.sharing / 'sim1.gpus'}",
                f"CUDA_VISIBLE_DEVICES={device}", *self.taker(BY_PATH, 3)]

    def test_a_job_without_gpus_that_uses_one_is_told_and_may_be_ended(self):
        job, pid = self.start(self.outside_its_gpus(1), gpus=0)
        found = self.escaped(job)
        self.assertEqual([(one["gpu"], one["pid"]) for one in found], [(1, pid)])
        self.server.berth("policy", "set", "escaped=end")
        self.assertEqual(self.server.wait(job)["state"], "failed")

    def test_a_server_that_takes_up_jobs_knows_their_gpus(self):
        whole, _ = self.start(self.outside_its_gpus(0))
        outside, pid = self.start(self.outside_its_gpus(0))
        self.assertEqual((self.gpu_of(whole), self.gpu_of(outside)), (0, 1))
        self.server.kill()
        self.server.up()
        found = self.escaped(outside)
        self.assertEqual([(one["gpu"], one["pid"]) for one in found], [(0, pid)])
        self.assertEqual(self.uncounted(whole), [])
        self.assertNotIn("of no job", self.server.berth("top", "--once").stdout)

    def test_only_the_job_whose_process_it_is_is_charged(self):
        honest, _ = self.start(self.taker(BY_NAME, 3), request={"share": 0.5})
        whole, _ = self.start(self.taker(BY_PATH, 3))
        escapes, pid = self.start(self.taker(BY_PATH, 3), request={"share": 0.5})
        self.assertEqual(self.gpu_of(honest), self.gpu_of(escapes))
        self.check_is_charged(escapes, pid, 3)
        self.assertEqual(self.uncounted(honest) + self.uncounted(whole), [])
        self.assertEqual(self.events(honest) + self.events(whole), [])

    def test_a_gpu_that_the_job_was_not_given_is_beside_its_share_too(self):
        command = ["env", "-u", "CUDA_VISIBLE_DEVICES", *self.taker(BY_PATH, 5, device=1)]
        job, pid = self.start(command)
        self.assertEqual(self.gpu_of(job), 0)
        found = self.escaped(job)
        self.assertEqual([(one["gpu"], one["pid"]) for one in found], [(1, pid)])

    def test_a_process_of_no_job_is_nobodys_and_is_shown(self):
        job, _ = self.start(self.taker(BY_NAME, 3), request={"share": 0.5})
        gpus = self.word(job, "gpus")
        with subprocess.Popen(self.taker(BY_PATH, 2), stdout=subprocess.DEVNULL,
                              env=dict(os.environ, BERTH_SOFTWARE_GPU=gpus)) as stranger:
            try:
                said = f"process {stranger.pid} of no job, holds 2"
                eventually(lambda: said in self.server.berth("top", "--once").stdout)
                self.assertEqual(self.uncounted(job), [])
                share = self.server.get("nodes")["items"][0]["devices"][0]["shares"][0]
                self.assertEqual(share["memory_used"], 3 * GIB + CONTEXT)
            finally:
                stranger.kill()
        eventually(lambda: "of no job" not in self.server.berth("top", "--once").stdout)


if __name__ == "__main__":
    main()
