# SPDX-License-Identifier: Apache-2.0
#
# What do the measurements and end-to-end tests share? A server of their own in a new directory,
# and a plain HTTP client for it.
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ.get("BERTH_BIN", ROOT / "build/release/bin"))
# Seconds before what hangs is given up. No test depends on how fast the machine is otherwise.
PATIENCE = 120


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("berth", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"HTTP {status}: {body[:500]}")
        self.status = status
        self.body = body


class Server:
    """One `berth up` in its own data directory; a context manager that takes it down."""

    def __init__(self, *flags, data=None, environment=None, programs=BIN):
        self.programs = pathlib.Path(programs)
        self.flags = [str(flag) for flag in flags]
        self.owns_data = data is None
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="berth-", dir=temporary_root()))
        self.environment = dict(os.environ, BERTH_DATA=str(self.data), NO_COLOR="1",
                                **(environment or {}))
        self.environment.pop("BERTH_URL", None)
        self.connection = None

    def __enter__(self):
        self.up()
        return self

    def __exit__(self, *_):
        try:
            self.berth("down", "--jobs", "cancel", check=False)
        finally:
            self.kill()
            self.end_arbiter()
            if self.owns_data:
                shutil.rmtree(self.data, ignore_errors=True)

    def up(self, **environment):
        self.close()
        result = subprocess.run(
            [self.programs / "berth", "up", "--port", "0", *self.flags],
            capture_output=True, text=True, env=dict(self.environment, **environment),
            timeout=PATIENCE)
        if result.returncode != 0:
            raise RuntimeError(f"berth up: {result.stderr}")
        self.banner = result.stdout
        return result.stdout

    def berth(self, *words, check=True, timeout=PATIENCE, **options):
        result = subprocess.run([self.programs / "berth", *map(str, words)],
                                capture_output=True, text=True,
                                env=self.environment, timeout=timeout, **options)
        if check and result.returncode != 0:
            raise RuntimeError(f"berth {words}: {result.returncode}: {result.stderr}")
        return result

    @property
    def pid(self):
        try:
            return int((self.data / "lock").read_text())
        except (FileNotFoundError, ValueError):
            return None

    def is_alive(self):
        pid = self.pid
        if pid is None:
            return False
        try:
            status = pathlib.Path(f"/proc/{pid}/stat").read_text()
        except FileNotFoundError:
            return False
        return status.rpartition(")")[2].split()[0] != "Z"

    def kill(self):
        """kill -9, and wait until it is gone."""
        if self.is_alive():
            os.kill(self.pid, signal.SIGKILL)
        while self.is_alive():
            time.sleep(0.001)
        self.close()

    @property
    def sharing(self):
        """The folder of its arbiter."""
        return self.data / "run/vgpu"

    def end_arbiter(self):
        """Takes away what a killed server left of GPU sharing."""
        try:
            pid = int((self.sharing / "pid").read_text())
            if b"berth-arbiter" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGTERM)
        except (OSError, ValueError):
            pass
        memory = self.sharing / "memory"
        if memory.is_symlink():
            shutil.rmtree(memory.readlink(), ignore_errors=True)
        shutil.rmtree(self.sharing, ignore_errors=True)

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def request(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = UnixConnection(str(self.data / "berth.sock"))
        text = json.dumps(body) if body is not None else None
        self.connection.request(method, "/api/v1/" + path, text, headers or {})
        response = self.connection.getresponse()
        raw = response.read()
        if response.status >= 300:
            raise Refused(response.status, raw.decode(errors="replace"))
        if response.headers["Content-Type"] != "application/json":
            return raw
        return json.loads(raw)

    def get(self, path):
        return self.request("GET", path)

    def submit(self, command, key=None, **spec):
        headers = {"Idempotency-Key": key} if key else {}
        return self.request("POST", "jobs", submission(command, **spec), headers)

    def wait(self, job, until="final", seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while True:
            answer = self.get(f"jobs/{job}?wait=5&until={until}")
            final = answer["state"] in ("succeeded", "failed", "cancelled")
            if final or (until == "running" and answer["state"] in ("starting", "running")):
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"job {job} is {answer['state']}")

    def wait_for_state(self, job, *states, seconds=PATIENCE):
        deadline = time.monotonic() + seconds
        while True:
            answer = self.get(f"jobs/{job}")
            if answer["state"] in states:
                return answer
            if time.monotonic() > deadline:
                raise TimeoutError(f"job {job} is {answer['state']}, wanted {states}")
            time.sleep(0.01)


def submission(command, gpus=1, project="", environment=None, grace=None, signal=None, **spec):
    request = dict(gpus=gpus, **spec.pop("request", {}))
    launch = {
        "command": command,
        "workdir": "/tmp",
        "environment": environment or [f"PATH={os.environ['PATH']}", "HOME=/tmp"],
    }
    if grace is not None:
        launch["pause"] = {"grace": grace}
    if signal is not None:
        launch.setdefault("pause", {})["signal"] = signal
    return {"spec": dict(project=project, request=request, **spec), "launch": launch}


def temporary_root():
    """Paths of Unix sockets are short, so data directories are near the root."""
    return os.environ.get("BERTH_TEST_DIR", "/tmp")


def build_stamp(folder):
    """The program that notes when it began to run."""
    program = pathlib.Path(folder) / "stamp"
    subprocess.run(["cc", "-O2", "-o", program, ROOT / "tests/support/stamp.c"], check=True)
    return str(program)


def build_wall_clock(folder):
    """The library that lets a test set the wall clock of a program."""
    library = pathlib.Path(folder) / "wall_clock.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library,
                    ROOT / "tests/support/wall_clock.c", "-ldl"], check=True)
    return str(library)


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * part))]


def sync_ms(folder, rounds=100):
    """What one synced append costs on this disk: the floor of every durable answer."""
    path = os.path.join(folder, "sync-probe")
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    times = []
    for _ in range(rounds):
        begin = time.monotonic()
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
        times.append((time.monotonic() - begin) * 1000)
    os.close(file)
    os.unlink(path)
    return round(quantile(times, 0.5), 2)


def cpu_seconds(pid):
    """User and system time of a process and of the children it has waited for."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
