# SPDX-License-Identifier: Apache-2.0
"""Another user of the machine is hostile: nothing is overwritten, no job is out of reach."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import cuda_program
from server_case import BIN, Server, eventually, main

STRANGER = 65534
CLUSTER = "feedfacecafe"
FLAGS = ("--gpus", "sim:2x16G", "--sharing", "interposer")

# A program with a share of a GPU that stays until it is ended.
PROGRAM = cuda_program.OPEN + cuda_program.START + """
pointer = ctypes.c_uint64()
call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(1 << 30))
print("has 1", flush=True)
time.sleep(1000)
"""


def as_neighbour(act):
    """Runs act() as another user in a process of its own; answers its process id."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.setgroups([])
        os.setgid(STRANGER)
        os.setuid(STRANGER)
        act()
        os._exit(0)
    except BaseException as error:  # the child must not go on with the test
        print("neighbour:", error, file=sys.stderr, flush=True)
        os._exit(1)


def let(act):
    """The same, to its end."""
    _, status = os.waitpid(as_neighbour(act), 0)
    assert status == 0, "the neighbour did not get to the attack"


@unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
class Neighbour(unittest.TestCase):
    def setUp(self):
        self.data = pathlib.Path(tempfile.mkdtemp(prefix="berth-neighbour-"))
        self.addCleanup(shutil.rmtree, self.data, ignore_errors=True)
        (self.data / "cluster").write_text(CLUSTER + "\n")
        self.victim = pathlib.Path(tempfile.mkdtemp(prefix="berth-victim-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.victim, ignore_errors=True)
        (self.victim / "file").write_text("precious")
        self.victim.chmod(0o755)

    def up(self, *flags):
        server = Server(*FLAGS, *flags, data=self.data)
        self.enterContext(server)
        return server

    def is_untouched(self):
        self.assertEqual(sorted(path.name for path in self.victim.iterdir()), ["file"])
        self.assertEqual((self.victim / "file").read_text(), "precious")

    def sharing_job(self, server, **spec):
        job = server.submit([sys.executable, "-c", PROGRAM], request={"share": 0.5}, **spec)["id"]
        eventually(lambda: server.get(f"jobs/{job}/log") == b"has 1\n")
        return job

    def ends(self, server, job):
        server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
        self.assertEqual(server.wait(job)["state"], "cancelled")

    def no_gpu_is_lost(self, server):
        self.assertEqual(sum(pool["used"] for pool in server.get("pools")["items"]), 0)

    def prepare(self, folder, *names):
        """A folder of the neighbour's with links to what is root's."""
        def act():
            folder.mkdir(exist_ok=True)
            folder.chmod(0o777)
            for name in names:
                (folder / name).symlink_to(self.victim / "file")
        let(act)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)

    def ends_untouched(self):
        server = self.up()
        self.ends(server, self.sharing_job(server))
        self.is_untouched()
        self.no_gpu_is_lost(server)

    def test_a_folder_with_a_known_name_is_not_used(self):
        self.prepare(pathlib.Path(f"/tmp/berth-vgpu-{CLUSTER}"), "pid", "arbiter.log", "sim1.gpus")
        self.ends_untouched()

    def test_memory_with_a_known_name_is_not_used(self):
        state = pathlib.Path(f"/dev/shm/berth-vgpu-{CLUSTER}-sim1")
        let(lambda: state.symlink_to(self.victim / "file"))
        self.addCleanup(state.unlink, missing_ok=True)
        self.ends_untouched()

    def test_a_running_job_is_reached_after_a_restart_whoever_bound_names_meanwhile(self):
        server = self.up()
        job = self.sharing_job(server)
        pipe, bound_now = os.pipe()

        def squat():
            bound = []
            for name in [f"berth-{CLUSTER}-{job}-1", f"berth-{CLUSTER}-freezer-sim1"]:
                squatter = socket.socket(socket.AF_UNIX)
                try:
                    squatter.bind("\0" + name)
                    squatter.listen()
                    bound.append(squatter)
                except OSError:
                    pass  # it is in use
            os.write(bound_now, b"x")
            time.sleep(1000)
        squatter = as_neighbour(squat)
        os.close(bound_now)
        self.addCleanup(os.waitpid, squatter, 0)
        self.addCleanup(os.kill, squatter, 9)
        self.assertEqual(os.read(pipe, 1), b"x")
        server.kill()
        server.up()
        server.wait(job, until="running")
        self.ends(server, job)
        self.no_gpu_is_lost(server)

    def test_a_thousand_connections_of_another_user_hold_nobody_up(self):
        server = self.up()
        job = self.sharing_job(server)
        server.kill()
        server.up()
        server.wait(job, until="running")
        paths = [path for path in (self.data / "run").rglob("*") if path.is_socket()]
        self.assertGreaterEqual(len(paths), 3)  # supervisor, control, tenant

        def knock():
            for number in range(1000):
                for path in paths:
                    knocker = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                    try:
                        knocker.connect(str(path))
                        os._exit(1)  # it was let in
                    except PermissionError:
                        knocker.close()
        knocker = as_neighbour(knock)
        self.ends(server, job)
        self.assertEqual(os.waitpid(knocker, 0)[1], 0)
        self.no_gpu_is_lost(server)

    def test_a_runtime_folder_that_another_user_made_is_refused_in_a_sentence(self):
        run = self.data / "run"
        self.while_open(run.mkdir)
        self.assertIn(f'the folder "{run}" belongs to user {STRANGER}, wanted user 0; remove it',
                      self.refusal())
        run.rmdir()
        self.while_open(lambda: run.symlink_to(self.victim))
        self.assertIn(f'"{run}" belongs to user {STRANGER}', self.refusal())
        self.is_untouched()

    def while_open(self, act):
        """The neighbour acts while the data folder is open to everybody, as /tmp is."""
        self.data.chmod(0o1777)
        let(act)
        self.data.chmod(0o700)

    def test_a_data_folder_where_others_can_put_files_is_refused_with_what_to_do(self):
        for mode in (0o1777, 0o777, 0o775, 0o770, 0o702):
            self.data.chmod(mode)
            self.assertIn(f'chmod 700 "{self.data}"', self.refusal())
        above = self.data / "above"
        above.mkdir()
        self.data.chmod(0o755)
        self.data = above / "data"
        self.data.mkdir(mode=0o700)
        above.chmod(0o775)
        os.chown(above, 0, STRANGER)
        self.assertIn("other users can replace what lies in", self.refusal())
        os.chown(above, STRANGER, 0)
        self.assertIn(f"belongs to user {STRANGER}", self.refusal())

    def test_what_another_user_left_in_the_data_folder_is_not_believed(self):
        for name in ("token", "cluster", "berth.db", "port"):
            path = self.data / name
            path.unlink(missing_ok=True)
            self.while_open(lambda: path.write_text("bth_known\n"))
            self.assertIn(f'"{path}" belongs to user {STRANGER}, wanted user 0; remove it',
                          self.refusal())
            path.unlink()
        jobs = self.data / "jobs"
        self.while_open(lambda: jobs.mkdir(mode=0o700))
        self.assertIn(f'the folder "{jobs}" belongs to user {STRANGER}', self.refusal())
        os.chown(jobs, 0, 0)
        jobs.chmod(0o777)
        self.assertIn(f'the folder "{jobs}" has mode 0777, wanted 0700', self.refusal())
        (jobs / "0").mkdir()
        os.chown(jobs / "0", STRANGER, STRANGER)
        jobs.chmod(0o700)
        self.assertIn(f'the folder "{jobs / "0"}" belongs to user {STRANGER}', self.refusal())

    def test_a_token_that_others_can_read_is_refused(self):
        token = self.data / "token"
        token.write_text("bth_known\n")
        token.chmod(0o640)
        self.assertIn(f'chmod 600 "{token}", or remove it', self.refusal())

    def test_only_the_folder_itself_can_be_seen_in_one_that_others_can_read(self):
        self.data.chmod(0o755)
        (self.data / "cluster").unlink()
        self.addCleanup(os.umask, os.umask(0))
        server = self.up()
        own = self.victim / "own"
        job = server.submit(["sh", "-c", f"umask; mkdir {own} $BERTH_CHECKPOINT_DIR/model"])["id"]
        self.assertEqual(server.wait(job)["state"], "succeeded")
        self.assertEqual(server.get(f"jobs/{job}/log").decode().strip(), "0000")
        self.assertEqual(own.stat().st_mode & 0o777, 0o777)  # the job's files are its user's matter
        seen = [path for path in self.data.iterdir() if path.stat().st_mode & 0o077]
        self.assertEqual(seen, [])
        files = [path for path in (self.data / "jobs").rglob("*.*") if path.is_file()]
        self.assertTrue(files)
        self.assertEqual([path for path in files if path.stat().st_mode & 0o077], [])

    def test_the_jobs_of_an_earlier_version_are_hidden_and_that_is_said_once(self):
        self.data.chmod(0o755)
        jobs = self.data / "jobs"
        (jobs / "0").mkdir(parents=True)
        said = []
        for _ in range(2):
            server = self.up()
            self.assertEqual([path.stat().st_mode & 0o777 for path in (jobs, jobs / "0")],
                             [0o700, 0o700])
            server.berth("down")
            said.append((self.data / "server.log").read_text().count("could read"))
        self.assertEqual(said, [1, 1])

    def refusal(self):
        server = Server(*FLAGS, data=self.data)
        self.addCleanup(server.kill)
        refused = server.berth("up", "--port", "0", check=False)
        self.assertNotEqual(refused.returncode, 0)
        return refused.stderr


@unittest.skipUnless(os.geteuid() == 0, "limits of processes do not hold for root")
class FewProcesses(unittest.TestCase):
    """A job for which there is no process says so and waits for one."""

    def setUp(self):
        self.user = 20_000 + os.getpid() % 40_000
        data = pathlib.Path(tempfile.mkdtemp(prefix="berth-few-"))
        self.addCleanup(shutil.rmtree, data, ignore_errors=True)
        os.chown(data, self.user, self.user)
        # A clone may lie below a folder that is root's alone.
        build = pathlib.Path(tempfile.mkdtemp(prefix="berth-built-"))
        self.addCleanup(shutil.rmtree, build, ignore_errors=True)
        build.chmod(0o755)
        for folder in ("bin", "lib", "software_gpu"):
            shutil.copytree(BIN.parent / folder, build / folder, symlinks=True)
        self.server = Server("--gpus", "sim:2x16G", "--sharing", "interposer", data=data,
                             programs=build / "bin")
        self.as_user(self.server.programs / "berth", "up", "--port", "0", *self.server.flags)
        self.addCleanup(self.server.kill)
        self.addCleanup(lambda: self.server.berth("down", "--jobs", "cancel"))

    def as_user(self, *words):
        subprocess.run(["setpriv", f"--reuid={self.user}", f"--regid={self.user}",
                        "--clear-groups", *map(str, words)],
                       env=self.server.environment, check=True, capture_output=True)

    def allow(self, process, others):
        """The number of other processes of the user with which this one may still make another."""
        self.as_user("prlimit", f"--nproc={others}:", f"--pid={process}")

    def check_it_waits(self, job):
        why = eventually(lambda: self.server.get(f"jobs/{job}").get("why"))
        self.assertRegex(why, "^the machine has no room for its start, which is tried again: "
                              r"cannot make a process: Resource temporarily unavailable \(")
        for words, start in (("show", "now"), ("why", "is starting and waits:")):
            eventually(lambda: f"{start} {why}" in " ".join(
                self.server.berth(words, job).stdout.split()))
        self.assertEqual(self.server.get(f"jobs/{job}")["state"], "starting")

    def check_it_runs(self, job):
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["attempts"]), ("succeeded", 1))

    def spawner(self):
        server = self.server.pid
        for process in pathlib.Path(f"/proc/{server}/task/{server}/children").read_text().split():
            if b"spawner" in pathlib.Path(f"/proc/{process}/cmdline").read_bytes():
                return process
        self.fail("the server has no spawner")

    def test_its_supervisor(self):
        self.server.wait(self.server.submit(["true"])["id"])
        spawner = self.spawner()
        self.allow(spawner, 1)
        job = self.server.submit(["true"])["id"]
        self.check_it_waits(job)
        self.allow(spawner, 1000)
        self.check_it_runs(job)

    def test_the_arbiter_of_its_share(self):
        self.server.wait(self.server.submit(["true"])["id"])
        self.allow(self.server.pid, 1)
        job = self.server.submit(["true"], request={"share": 0.5})["id"]
        self.check_it_waits(job)
        self.allow(self.server.pid, 1000)
        self.check_it_runs(job)


@unittest.skipUnless(os.geteuid() == 0, "only root can have a mount namespace everywhere")
class ElsewhereTest(unittest.TestCase):
    """A job with a /tmp of its own, or another TMPDIR, still finds its arbiter; so does one whose
    server has a data folder with a long path."""

    def ends_well(self, data, command, **spec):
        with Server(*FLAGS, data=data) as server:
            job = server.submit(command, request={"share": 0.5}, **spec)["id"]
            eventually(lambda: server.get(f"jobs/{job}/log") == b"has 1\n")
            server.kill()
            server.up()
            server.wait(job, until="running")
            server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
            self.assertEqual(server.wait(job)["state"], "cancelled")

    def folder(self, name=""):
        root = pathlib.Path(tempfile.mkdtemp(prefix="berth-elsewhere-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, root, ignore_errors=True)
        if name:
            (root / name).mkdir(parents=True)
        return root / name

    def test_a_job_with_a_tmp_of_its_own(self):
        mount = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /tmp && exec "$@"', "sh"]
        if subprocess.run([*mount, "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace is to be had here")
        self.ends_well(self.folder(), [*mount, sys.executable, "-c", PROGRAM])

    def test_a_job_with_another_tmpdir(self):
        self.ends_well(self.folder(), [sys.executable, "-c", PROGRAM],
                       environment=[f"PATH={os.environ['PATH']}", "TMPDIR=/var/empty"])

    def test_a_data_folder_with_an_equals_sign_in_its_path(self):
        self.ends_well(self.folder("a=b"), [sys.executable, "-c", PROGRAM])

    def test_a_data_folder_with_a_long_path(self):
        data = self.folder()
        long = 95 - len(str(data)) - 1
        self.ends_well(self.folder("x" * long), [sys.executable, "-c", PROGRAM])


if __name__ == "__main__":
    main()
