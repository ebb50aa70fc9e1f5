# SPDX-License-Identifier: Apache-2.0
"""Closed when it fails: without a part that keeps shares there are no shares, and it is said why.

Each test has its own copy of the programs, of which it takes one away, empties it or replaces it.
"""
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

import cuda_program
from server_case import BIN, Refused, Server, eventually, main

# What any job's process does when it is started; no word of the loader's may be before it.
QUIET = ["sh", "-c", "echo quiet"]
SESSION = cuda_program.OPEN + cuda_program.START + "print('on', flush=True)\ntime.sleep(1000)\n"


def remove(path):
    path.unlink()


def empty(path):
    path.unlink()
    path.touch(mode=0o755)


def make_unreadable(path):
    """Also for root, which may read everything else."""
    path.unlink()
    path.mkdir()


def replace_by_false(path):
    path.unlink()
    shutil.copy("/bin/false", path)


def link_or_copy(source, target):
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


class BrokenParts(unittest.TestCase):
    def parts(self):
        """A copy of the programs and of the libraries beside them."""
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="berth-parts-")))
        for folder in ("bin", "lib", "software_gpu"):
            shutil.copytree(BIN.parent / folder, root / folder, copy_function=link_or_copy)
        return root

    def server(self, root, *flags):
        return Server("--gpus", "sim:2x16G", "--min-runtime", "0", *flags, programs=root / "bin")

    def refused(self, server, **spec):
        with self.assertRaises(Refused) as refusal:
            server.submit(QUIET, **spec)
        self.assertEqual(refusal.exception.status, 422)
        return refusal.exception.body

    def accepted(self, server, **spec):
        try:
            return server.submit(QUIET, **spec)["id"]
        except Refused:
            return None

    def check_shares_are_refused(self, server, cause):
        said = r"[Ss]hares +of GPUs cannot be kept: [^\n]*" + cause + \
            r"[^\n]*start the server again; jobs that ask for one are refused"
        self.assertRegex(server.banner, said)
        self.assertRegex(server.berth("status").stdout, said)
        shares = server.get("status")["shares"]
        self.assertEqual([(one["node"], one["kept_by"]) for one in shares], [("sim1", "")])
        self.assertRegex(shares[0]["lack"], cause)
        self.assertRegex(server.get("nodes")["items"][0]["shares_lack"], cause)
        for spec in ({"request": {"share": 0.5}}, {"request": {"gpu_memory": 12 << 30}},
                     {"may_share": True}):
            self.assertRegex(self.refused(server, **spec), "shares are not kept here: .*" +
                             cause.replace('"', r'\\"'))
        run = server.berth("run", "-g", "0.5", "--", "true", check=False)
        self.assertNotEqual(run.returncode, 0)
        self.assertRegex(run.stderr, cause)

    def check_whole_gpus_are_given(self, server):
        for environment in ([], ["BERTH_PROFILE=1"]):
            job = server.submit(QUIET, environment=[*environment, f"PATH={os.environ['PATH']}"])
            self.assertEqual(server.wait(job["id"])["state"], "succeeded")
            self.assertEqual(server.get(f"jobs/{job['id']}/log"), b"quiet\n")

    def test_without_a_part_that_keeps_shares_they_are_refused_with_its_name(self):
        for part in ("lib/libberth-cuda.so", "lib/libberth-cuda-alias.so", "lib/libberth-nvml.so",
                     "software_gpu/libcuda.so.1", "software_gpu/libnvidia-ml.so.1",
                     "bin/berth-arbiter", "bin/berth-gpu-probe"):
            for damage in (remove, empty, make_unreadable):
                with self.subTest(part=part, damage=damage.__name__):
                    root = self.parts()
                    damage(root / part)
                    with self.server(root) as server:
                        self.check_shares_are_refused(server, str(root / part))
                        if part.startswith("software_gpu"):
                            continue
                        self.check_whole_gpus_are_given(server)

    def test_what_breaks_after_the_start_is_noticed_by_the_next_job_that_shares(self):
        root = self.parts()
        part = root / "lib/libberth-cuda.so"
        with self.server(root) as server:
            sound = part.read_bytes()
            for damage in (remove, empty, make_unreadable):
                damage(part)
                try:
                    job = server.submit(QUIET, request={"share": 0.5})["id"]
                    ended = server.wait(job)
                    self.assertEqual((ended["state"], ended["exit_code"]), ("failed", 126))
                    self.assertIn(str(part), server.berth("show", str(job)).stdout)
                except Refused as refused:  # the server has looked already, as now and then
                    self.assertIn(str(part), refused.body)
                self.assertIn(str(part), server.berth("status").stdout)
                self.check_whole_gpus_are_given(server)
                part.rmdir() if part.is_dir() else part.unlink(missing_ok=True)
                part.write_bytes(sound)
                part.chmod(0o755)
                job = eventually(lambda: self.accepted(server, request={"share": 0.5}))
                self.assertEqual(server.wait(job)["state"], "succeeded")

    def test_an_arbiter_that_ends_at_once_keeps_no_shares(self):
        root = self.parts()
        replace_by_false(root / "bin/berth-arbiter")
        with self.server(root) as server:
            self.check_shares_are_refused(server, 'berth-arbiter" does not start')
            self.check_whole_gpus_are_given(server)

    def test_stricter_ways_in_front_of_the_driver_need_their_parts_as_well(self):
        for way, part in (("audit", "lib/libberth-audit.so"), ("mount", "bin/berth-driver-mount")):
            with self.subTest(way=way):
                root = self.parts()
                remove(root / part)
                with self.server(root, "--in-front", way) as server:
                    self.assertRegex(self.refused(server, request={"share": 0.5}), part)

    def test_with_all_parts_shares_are_kept_however_they_come_before_the_driver(self):
        for way in ("preload", "audit", "mount"):
            with self.subTest(way=way), self.server(self.parts(), "--in-front", way) as server:
                self.assertEqual(server.get("status")["shares"],
                                 [{"node": "sim1", "lack": "", "kept_by": "interposer: simulated "
                                   "GPUs have no control groups"}])
                self.assertEqual(server.get("status")["checkpoint_lack"], "")

    def test_a_job_that_waits_for_a_share_waits_until_shares_are_kept_again(self):
        root = self.parts()
        with self.server(root) as server:
            holders = [server.submit(["sleep", "1000"])["id"] for _ in range(2)]
            for job in holders:
                server.wait_for_state(job, "running")
            waiting = [server.submit(QUIET, **spec)["id"]
                       for spec in ({"request": {"share": 0.5}}, {"may_share": True})]
            server.kill()
            remove(root / "lib/libberth-cuda.so")
            server.up()
            for job in holders:
                server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
                server.wait(job)
            self.check_whole_gpus_are_given(server)  # the GPUs are free
            for job in waiting:
                shown = server.get(f"jobs/{job}")
                self.assertEqual(shown["state"], "queued")
                self.assertEqual(shown["verdict"]["reason"], "NeverFits")
                self.assertIn(str(root / "lib/libberth-cuda.so"), shown["why"])
                self.assertIn("libberth-cuda.so", server.berth("why", job).stdout)
            server.berth("down")
            link_or_copy(BIN.parent / "lib/libberth-cuda.so", root / "lib/libberth-cuda.so")
            server.up()
            for job in waiting:
                self.assertEqual(server.wait(job)["state"], "succeeded")

    def test_a_session_runs_without_the_parts_that_see_its_calls_but_is_not_parked(self):
        root = self.parts()
        remove(root / "lib/libberth-cuda.so")
        with self.server(root) as server:
            job = server.submit(["sleep", "1000"], kind="build", park_after=1, preemptible=True)
            server.wait_for_state(job["id"], "running")
            self.assertRegex(server.berth("show", job["id"]).stdout,
                             "parks +never: calls to GPUs are not seen: .*libberth-cuda.so")

    def session(self, server):
        job = server.submit([sys.executable, "-c", SESSION])["id"]
        eventually(lambda: server.get(f"jobs/{job}/log").endswith(b"on\n"))
        return job

    def check_pauses_by_signal(self, server, job):
        server.request("POST", f"jobs/{job}/pause")
        paused = server.wait_for_state(job, "paused")["last_pause"]
        self.assertIsNone(paused["frozen"])
        self.assertNotIn("freezer", paused["detail"])  # it was not looked for

    def test_without_a_freezer_a_pause_is_a_signal_at_once_and_nothing_else_is_promised(self):
        for damage in (remove, empty, make_unreadable, replace_by_false):
            with self.subTest(damage=damage.__name__):
                root = self.parts()
                damage(root / "bin/berth-freezer")
                with self.server(root) as server:
                    said = r"[Pp]auses +by signal, no processes are kept: .*berth-freezer"
                    self.assertRegex(server.banner, said)
                    self.assertRegex(server.berth("status").stdout, said)
                    self.assertIn("berth-freezer", server.get("status")["checkpoint_lack"])
                    job = self.session(server)
                    self.assertRegex(server.berth("show", job).stdout,
                                     "pauses by +signal, .*no checkpoint: .*berth-freezer")
                    self.check_pauses_by_signal(server, job)

    def test_a_freezer_that_is_gone_later_is_not_waited_for(self):
        root = self.parts()
        with self.server(root) as server:
            job = self.session(server)
            self.assertRegex(server.berth("show", job).stdout, "pauses by +checkpoint")
            server.kill()
            remove(root / "bin/berth-freezer")
            server.up()
            self.check_pauses_by_signal(server, job)

    def test_what_the_proof_of_shares_needs_is_gone_afterwards(self):
        with self.server(self.parts()) as server:
            cluster = (server.data / "cluster").read_text().strip()
            self.assertEqual([path for path in pathlib.Path("/tmp").glob(f"*{cluster}*/proof")], [])
            children = pathlib.Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
            names = [pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
                     for pid in children.split()]
            self.assertNotIn("berth-arbiter", names)
            self.assertNotIn("berth-gpu-probe", names)


if __name__ == "__main__":
    main()
