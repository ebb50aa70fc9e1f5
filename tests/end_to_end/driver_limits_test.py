# SPDX-License-Identifier: Apache-2.0
"""Shares are kept by the driver where it can: control groups for memory, MPS for time.

The kernel's tree, the MPS control program and the driver are stand-ins: folders with the same
files, a script that notes its calls, and the software driver, which keeps to the folders' limits.
"""
import os
import pathlib
import sys
import tempfile

from server_case import BIN, Refused, Server, ServerCase, eventually, main
from shares_test import PROGRAM

SOFTWARE = BIN.parent / "software_gpu"
CONTROL = """#!/bin/sh
echo "$*" >> "$CUDA_MPS_PIPE_DIRECTORY/calls"
case "$1" in
-d) sleep 600 & echo $! > "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid" ;;
-q) kill $(cat "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid") ;;
esac
"""


class DriverLimits(ServerCase):
    DRIVER = "13.4"
    CONTROL = CONTROL

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.groups = self.folder / "cgroup"
        self.groups.mkdir()
        (self.groups / "cgroup.controllers").write_text("cpu memory dmem\n")
        (self.groups / "cgroup.subtree_control").touch()
        (self.groups / "dmem.capacity").write_text(
            "nvidia/0000:03:00.0/vidmem 17179869184\nnvidia/0000:04:00.0/vidmem 17179869184\n")
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "nvidia-cuda-mps-control").write_text(self.CONTROL)
        (programs / "nvidia-cuda-mps-control").chmod(0o755)
        self.state = pathlib.Path(f"/dev/shm/berth-limits-{os.getpid()}")
        self.addCleanup(self.state.unlink, missing_ok=True)
        (self.folder / "gpus").write_text(
            f"state = {self.state}\ngpus = 2\nmemory = 16GiB\nreserved = 0MiB\ncontents = 0MiB\n"
            f"context = 64MiB\ndriver = {self.DRIVER}\ncgroups = {self.groups}\n")
        self.server = Server(
            "--gpus", "auto", "--cgroup", self.groups, environment={
                "LD_LIBRARY_PATH": str(SOFTWARE), "BERTH_SOFTWARE_GPU": str(self.folder / "gpus"),
                "BERTH_VGPU_DRIVER": str(SOFTWARE / "libcuda.so.1"),
                "BERTH_VGPU_NVML": str(SOFTWARE / "libnvidia-ml.so.1"),
                "PATH": f"{programs}:{os.environ['PATH']}"})
        self.enterContext(self.server)

    @property
    def own(self):
        cluster = (self.server.data / "cluster").read_text().strip()
        return self.groups / f"berth-{cluster}", self.server.sharing / "mps"

    def program(self, *gib, **spec):
        environment = [f"LD_LIBRARY_PATH={SOFTWARE}", f"BERTH_SOFTWARE_GPU={self.folder / 'gpus'}"]
        return self.server.submit([sys.executable, "-c", PROGRAM, *map(str, gib)],
                                  environment=environment, **spec)["id"]

    def has(self, job, gib):
        return eventually(lambda: f"has {gib}\n" in self.log(job))

    def go_on(self, job, gib):
        (self.server.data / "jobs/0" / f"{job}.checkpoint" / f"go{gib}").touch()

    def kept_by(self):
        return self.server.get("nodes")["items"][0]["shares_kept_by"]


class Newest(DriverLimits):
    def test_the_driver_keeps_shares_and_the_reason_is_told(self):
        reason = "driver: driver 615.43.02 and the kernel's dmem controller keep them"
        self.assertEqual(self.kept_by(), reason)
        node = self.server.get("nodes")["items"][0]["name"]
        self.assertIn(f"shares are kept by {reason}",
                      self.server.berth("gpus", "--node", node).stdout)
        self.assertIn(f"kept by {reason}", (self.server.data / "server.log").read_text())

    def test_half_a_gpu_is_half_of_its_memory_and_no_process_gets_past_it(self):
        job = self.program(7, request={"share": 0.5})
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        self.assertIn("sees 1 of 8 GiB", self.log(job))
        job = self.program(8, request={"share": 0.5})
        self.assertEqual(self.server.wait(job)["exit_code"], 3)
        self.assertIn("cuMemAlloc_v2 2", self.log(job))

    def test_nothing_is_preloaded_and_the_part_of_the_time_is_said_to_mps(self):
        job = self.shell("env", request={"share": 0.25})
        self.server.wait(job)
        groups, mps = self.own
        self.assertNotIn("LD_PRELOAD", self.log(job))
        self.assertIn(f"CUDA_MPS_PIPE_DIRECTORY={mps}\n", self.log(job))
        self.assertIn("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25\n", self.log(job))
        self.assertEqual((mps / "calls").read_text(), f"-d -p 3 -a {mps}/mps.toml\n")

    def test_a_whole_gpu_is_whole_and_has_nothing_to_do_with_mps(self):
        job = self.program(15)
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))
        job = self.shell("env")
        self.server.wait(job)
        self.assertNotIn("CUDA_MPS", self.log(job))

    def test_the_limit_stays_when_the_server_dies_and_ends_with_the_job(self):
        job = self.program(4, 5, request={"share": 0.5})
        self.has(job, 4)
        groups, _ = self.own
        limit = (groups / f"{job}.1.0" / "dmem.max").read_text()
        self.assertRegex(limit, "^nvidia/0000:0[34]:00.0/vidmem 8589934592\n$")
        self.server.kill()
        self.server.up()
        self.go_on(job, 4)
        self.assertEqual(self.server.wait(job)["exit_code"], 3, self.log(job))
        self.assertFalse((groups / f"{job}.1.0").exists())

    def test_all_of_it_goes_when_nobody_needs_it(self):
        job = self.program(1, request={"share": 0.5})
        self.server.wait(job)
        groups, mps = self.own
        self.server.berth("down")
        self.assertFalse(groups.exists())
        self.assertFalse(mps.exists())

    def test_what_began_with_the_driver_goes_on_with_it(self):
        job = self.program(4, request={"share": 0.5})
        held = self.program(3, 1, request={"share": 0.5})
        self.has(held, 3)
        self.server.kill()
        self.server.flags += ["--sharing", "interposer"]
        self.server.up()
        self.assertEqual(self.kept_by(), "driver: jobs run that began with it")
        for one in (3, 1):
            self.go_on(held, one)
        self.server.wait(held)
        self.server.wait(job)
        self.server.berth("down")
        self.server.up()
        self.assertEqual(self.kept_by(), "interposer: --sharing interposer")


class Older(DriverLimits):
    DRIVER = "13.0"

    def test_an_older_driver_leaves_it_to_the_interposer(self):
        self.assertEqual(self.kept_by(), "interposer: driver 580.65.06 is older than 615, "
                                         "the first that keeps limits itself")

    def test_what_cannot_be_had_is_refused(self):
        self.server.berth("down")
        self.server.flags += ["--sharing", "driver"]
        with self.assertRaisesRegex(RuntimeError, "--sharing driver: driver 580.65.06 is older"):
            self.server.up()


class Broken(DriverLimits):
    CONTROL = "#!/bin/sh\necho no device >&2\nexit 1\n"

    def test_without_mps_shares_are_refused_and_whole_gpus_given(self):
        lack = "nvidia-cuda-mps-control does not start: no device"
        self.assertIn(lack, self.server.banner)
        self.assertIn(lack, self.server.get("status")["shares"][0]["lack"])
        with self.assertRaisesRegex(Refused, lack):
            self.program(7, request={"share": 0.5})
        job = self.program(15)
        self.assertEqual(self.server.wait(job)["state"], "succeeded", self.log(job))


if __name__ == "__main__":
    main()
