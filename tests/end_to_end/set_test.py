# SPDX-License-Identifier: Apache-2.0
"""A job that runs gets another part of its GPU by `berth set`, and keeps it whatever dies."""
import os
import pathlib
import signal
import subprocess
import sys

import cuda_program
from server_case import BIN, Server, ServerCase, eventually, main

# Takes as many GiB as the next line of "orders" says, or gives back all of the last, and says what
# the driver answered.
TAKER = cuda_program.OPEN + cuda_program.START + """
orders = os.path.join(os.environ["BERTH_CHECKPOINT_DIR"], "orders")
done, taken = 0, []
while True:
    lines = open(orders).read().split() if os.path.exists(orders) else []
    for order in lines[done:]:
        done += 1
        if order == "give":
            call("cuMemFree_v2", taken.pop())
            print(done, "gave", flush=True)
            continue
        pointer = ctypes.c_uint64()
        code = cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(int(order) << 30))
        if code == 0: taken.append(pointer)
        print(done, "took" if code == 0 else f"refused {code}", flush=True)
    time.sleep(0.01)
"""


class Set(ServerCase):
    FLAGS = ("--gpus", "sim:2x16G")

    def taker(self, request):
        self.orders = 0
        job = self.server.submit([sys.executable, "-c", TAKER], request=request)["id"]
        eventually(lambda: self.state(job) == "running")
        return job

    def ask(self, job, order):
        """What the driver answers to the job."""
        self.orders += 1
        folder = self.server.data / "jobs/0" / f"{job}.checkpoint"
        with open(folder / "orders", "a") as file:
            file.write(f"{order}\n")
        start = f"{self.orders} "
        return eventually(lambda: [line.removeprefix(start) for line in self.log(job).splitlines()
                                   if line.startswith(start)])[0]

    def set(self, *words, check=True):
        return self.server.berth("set", *words, check=check)

    def test_more_memory_lets_in_what_was_refused_and_less_takes_only_what_is_unused(self):
        job = self.taker({"share": 0.25})
        self.assertEqual(self.ask(job, 3), "took")
        self.assertEqual(self.ask(job, 4), "refused 2")
        self.assertEqual(self.set(job, "-g", "0.5").stdout, f"job {job} python3 has 0.5 of a GPU\n")
        self.assertEqual(self.ask(job, 4), "took")
        refused = self.set(job, "--share", "0.25", check=False)
        self.assertNotEqual(refused.returncode, 0)
        self.assertRegex(refused.stderr,
                         "cannot have that where it runs: it uses 7.*G of the memory")
        self.assertEqual(self.server.get(f"jobs/{job}")["spec"]["request"]["share"], 0.5)
        self.assertEqual(self.ask(job, "give"), "gave")
        self.set(job, "--share", "0.25")
        self.assertEqual(self.ask(job, 4), "refused 2")

    def test_what_it_could_have_nowhere_or_does_not_mean_one_thing_is_refused(self):
        job = self.server.submit(["sleep", "600"], gpus=1, request={
            "share": 0.25, "gpu_memory": 4 << 30})["id"]
        eventually(lambda: self.state(job) == "running")
        for words, said in ((("--gpu-memory", "1000G"), "cannot have that where it runs"),
                            (("--share", "1"), "wanted less than 1 beside 4G of memory"),
                            (("-g", "0.5", "--share", "0.3"), "gpus says another one"),
                            (("-g", "4..16"), "wanted GPUs such as 2, 0.5, 12G, 0.5.12G or 2x0.5")):
            refused = self.set(job, *words, check=False)
            self.assertNotEqual(refused.returncode, 0, words)
            self.assertRegex(refused.stderr, said)
            self.assertNotIn("--requeue", refused.stderr)
        self.assertEqual(self.server.get(f"jobs/{job}")["spec"]["request"]["share"], 0.25)

    def test_others_start_on_what_it_gave_back_and_it_grows_only_into_what_is_idle(self):
        job = self.taker({"share": 0.75})
        other = self.server.submit(["sleep", "600"], gpus=2, request={"share": 0.5})["id"]
        self.assertEqual(self.state(other), "queued")
        self.set(job, "-g", "0.5")
        eventually(lambda: self.state(other) == "running")
        refused = self.set(job, "-g", "0.75", check=False)
        self.assertIn("has room for at most 0.5", refused.stderr)
        self.assertIn("--requeue", refused.stderr)
        self.assertEqual(self.state(job), "running")
        said = self.set(job, "-g", "0.75", "--requeue").stdout
        self.assertIn("saves, leaves its GPUs and waits for 0.75 of a GPU", said)
        eventually(lambda: self.state(job) in ("paused", "queued"))
        self.assertEqual(self.server.get(f"jobs/{job}")["spec"]["request"]["share"], 0.75)
        self.server.berth("cancel", other)
        eventually(lambda: self.state(job) == "running")
        self.assertEqual(self.arbiter(job, attempt=2)["share"], "0.75")

    def test_shares_and_caps_reach_the_arbiter_and_strict_ones_are_caps(self):
        job = self.taker({"share": 0.25})
        self.assertEqual(self.arbiter(job)["cap"], "1")
        self.set(job, "--cap", "0.6")
        self.assertEqual((self.arbiter(job)["share"], self.arbiter(job)["cap"]), ("0.25", "0.6"))
        self.assertIn("at most 0.6 of its time", self.server.berth("show", job).stdout)
        node = self.server.get("nodes")["items"][0]
        self.assertIn("cap 60%", self.server.berth("gpus", "--node", node["name"]).stdout)
        self.server.berth("pool", "set", "default", "--strict-shares", "yes")
        self.assertEqual(self.arbiter(job)["cap"], "0.25")
        self.server.berth("pool", "set", "default", "--strict-shares", "no")
        self.set(job, "--cap", "none")
        self.assertEqual(self.arbiter(job)["cap"], "1")

    def test_whole_gpus_cannot_become_a_part_of_one_while_nothing_holds_them_to_it(self):
        job = self.shell("sleep 600")
        eventually(lambda: self.state(job) == "running")
        refused = self.set(job, "-g", "0.5", check=False)
        self.assertIn("it was started with whole GPUs, and nothing holds it to a part",
                      refused.stderr)

    def test_the_new_part_outlives_arbiter_and_server(self):
        job = self.taker({"share": 0.25})
        self.set(job, "-g", "0.5")
        os.kill(int((self.server.sharing / "pid").read_text()), signal.SIGKILL)
        self.server.kill()
        self.server.up()
        eventually(lambda: self.state(job) == "running")
        self.assertEqual(self.arbiter(job)["limit"], str(8 << 30))
        self.assertEqual(self.ask(job, 7), "took")

    def limit_after_crash(self, at, words):
        """Of memory as the server leaves it that dies there, and once it has a successor."""
        job = self.taker({"share": 0.5})
        self.server.berth("down", "--jobs", "keep")
        self.server.up(BERTH_CRASH_AT=at)
        eventually(lambda: self.state(job) == "running")
        self.set(job, *words, check=False)
        eventually(lambda: not self.server.is_alive())
        limit = int(self.arbiter(job)["limit"]) >> 30
        self.server.up()
        eventually(lambda: self.state(job) == "running")
        request = self.server.get(f"jobs/{job}")["spec"]["request"]
        return limit, request["share"], int(self.arbiter(job)["limit"]) >> 30

    def test_a_crash_before_the_change_is_written_down_leaves_the_old_part(self):
        self.assertEqual(self.limit_after_crash("before-commit:1", ("-g", "0.25")), (4, 0.5, 8))

    def test_a_crash_once_it_is_written_down_keeps_the_new_one(self):
        self.assertEqual(self.limit_after_crash("after-commit:1", ("-g", "0.75")), (8, 0.75, 12))


if __name__ == "__main__":
    main()
