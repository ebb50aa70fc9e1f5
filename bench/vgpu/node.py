# SPDX-License-Identifier: Apache-2.0
"""The GPUs of this machine, an arbiter for them, and programs as its tenants."""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = ROOT / "build/release"
PROGRAM = BUILD / "bench/vgpu/berth-bench-tenant"
STREAMS = BUILD / "bench/vgpu/berth-bench-streams"
OVERLAP = BUILD / "bench/vgpu/berth-bench-overlap"
GANG = BUILD / "bench/vgpu/berth-bench-gang"
ARBITER = BUILD / "bin/berth-arbiter"
SOFTWARE = BUILD / "software_gpu"
STATE = "/dev/shm/berth-bench-gpu"
GPUS_MAX = 8
TIMEOUT_S = 300


class Gpu:
    """The first GPU, as the management library shows it."""

    def __init__(self, software, python):
        self.is_software = software
        self.python = python
        if software:
            os.environ["LD_LIBRARY_PATH"] = str(SOFTWARE)
        path = str(SOFTWARE / "libnvidia-ml.so.1") if software else "libnvidia-ml.so.1"
        try:
            self.nvml = ctypes.CDLL(path)
        except OSError as error:
            sys.exit(f"gpu.py: {error}; without a GPU: --software")
        self.begin()
        self.device = ctypes.c_void_p()
        self.ask("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(self.device))
        self.uuids = []
        other = ctypes.c_void_p()
        while (len(self.uuids) < GPUS_MAX and not self.nvml.nvmlDeviceGetHandleByIndex_v2(
                len(self.uuids), ctypes.byref(other))):
            self.uuids.append(self.text("nvmlDeviceGetUUID", other))
        self.name = self.text("nvmlDeviceGetName", self.device)
        self.driver = self.text("nvmlSystemGetDriverVersion")

    def begin(self, memory="80GiB", more=""):
        """With unused software GPUs, of which `more` is said."""
        if self.is_software:
            pathlib.Path(STATE).unlink(missing_ok=True)
            os.environ["BERTH_SOFTWARE_GPU"] = (
                f"state={STATE};gpus={GPUS_MAX};driver=13.0;memory={memory}" + more)
        self.ask("nvmlInit_v2")

    def begin_again(self, **how):
        self.ask("nvmlShutdown")
        self.begin(**how)

    def ask(self, name, *arguments):
        code = getattr(self.nvml, name)(*arguments)
        if code:
            sys.exit(f"gpu.py: {name}: NVML error {code}")

    def text(self, name, *arguments):
        text = ctypes.create_string_buffer(96)
        self.ask(name, *arguments, text, 96)
        return text.value.decode()

    def used(self):
        memory = (ctypes.c_ulonglong * 3)()
        self.ask("nvmlDeviceGetMemoryInfo", self.device, memory)
        return memory[2]


class Node:
    """An arbiter, and programs as its tenants."""

    def __init__(self, gpu):
        self.gpu = gpu
        self.folder = tempfile.TemporaryDirectory(prefix="berth-gpu-")
        self.names = 0

    def __enter__(self):
        self.arbiter = subprocess.Popen([ARBITER, "--dir", self.folder.name], text=True,
                                        stdout=subprocess.PIPE)
        if not self.arbiter.stdout.readline().startswith("ready"):
            sys.exit("gpu.py: berth-arbiter does not start")
        return self

    def __exit__(self, *_):
        self.arbiter.terminate()
        self.arbiter.wait()
        self.folder.cleanup()

    def order(self, *words):
        return output([ARBITER, "--dir", self.folder.name, "order", *words], os.environ)

    def tenant(self, terms="", memory="60G", gpus=slice(1)):
        """Its environment and its name."""
        self.names += 1
        name = f"tenant-{self.names}"
        words = ",".join(f"{uuid}:{memory}" for uuid in self.gpu.uuids[gpus])
        self.order("tenant", name, f"gpus={words}", *terms.split())
        lib = BUILD / "lib"
        preload = ":".join(str(lib / f"libberth-{part}.so") for part in
                           ("cuda", "cuda-alias", "nvml"))
        env = dict(os.environ, LD_PRELOAD=preload,
                   BERTH_VGPU_SOCKET=f"{self.folder.name}/tenants/{name}",
                   CUDA_VISIBLE_DEVICES=",".join(self.gpu.uuids[gpus]))
        if self.gpu.is_software:
            env["BERTH_VGPU_DRIVER"] = str(SOFTWARE / "libcuda.so.1")
            env["BERTH_VGPU_NVML"] = str(SOFTWARE / "libnvidia-ml.so.1")
        return env, name

    def said(self, name, word):
        """What the arbiter's status says of a tenant of one GPU."""
        words = dict(word.split("=", 1) for word in self.order("status", name).split()
                     if "=" in word)
        return words[word]

    def charged(self, name):
        return int(self.said(name, "charged"))


def output(words, env):
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True, text=True,
                          timeout=TIMEOUT_S)
    if done.returncode != 0:
        sys.exit(f"gpu.py: {' '.join(map(str, words))}: exit {done.returncode}: {done.stderr}"
                 f"{done.stdout[-2000:]}")
    return done.stdout


def together(programs, program=PROGRAM):
    """Runs (words, environment) side by side: what each found. They begin when all are ready."""
    all_ = [running((program, *words), env) for words, env in programs]
    for one in all_:
        go(one)
    return [json.loads(one.communicate(timeout=TIMEOUT_S)[0]) for one in all_]


def running(words, env):
    """A program that is ready to begin."""
    one = subprocess.Popen([*map(str, words)], env=env, text=True, stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE)
    if one.stdout.readline() != "ready\n":
        sys.exit(f"gpu.py: {one.args}: exit {one.wait()}")
    return one


def go(one):
    one.stdin.write("go\n")
    one.stdin.flush()


def machine():
    cpu = pathlib.Path("/proc/cpuinfo").read_text().split("model name", 1)[-1].split("\n")[0]
    return f"{cpu.split(':', 1)[-1].strip()}, {os.cpu_count()} cores"


def end(program):
    program.kill()
    program.wait()
