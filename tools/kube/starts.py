# SPDX-License-Identifier: Apache-2.0
"""What does one start of a control plane take, and what stays behind when it has stopped?"""
import os
import pathlib
import statistics
import tempfile

import processes
from control_plane import ControlPlane

SECONDS = 8  # a start may take; README.md here has what it does take


class Start:
    """One start and stop. `left` has a line for each process, port or file that stayed."""

    def __init__(self):
        with tempfile.TemporaryDirectory(prefix="berth-start-") as home:
            with surroundings(HOME=home, TMPDIR=home):
                with ControlPlane() as plane:
                    self.seconds = plane.started_after
                    self.cost = plane.cost()
                    port = int(plane.server.rpartition(":")[2])
            self.left = [f"process {name}" for name in lives_in(plane.path)]
            self.left += [f"port {port}"] * (port in listening())
            self.left += [f"file {path}" for path in (plane.path, *pathlib.Path(home).iterdir())
                          if path.exists()]

    @property
    def processor_seconds(self):
        return sum(seconds for seconds, _ in self.cost.values())


class surroundings:
    """Variables for what is started meanwhile."""

    def __init__(self, **variables):
        self.variables = variables

    def __enter__(self):
        self.before = {name: os.environ.get(name) for name in self.variables}
        os.environ.update(self.variables)

    def __exit__(self, *_):
        for name, value in self.before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def lives_in(folder):
    """Names of what belongs to a folder, or works in it; also of what has ended and was not
    waited for."""
    found = [name for name, _ in processes.of(folder)]
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            name = (entry / "comm").read_text().strip()
            state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
            if state == "Z" and parent == str(os.getpid()):
                found.append(f"{name}, ended")
            elif os.readlink(entry / "cwd").startswith(str(folder)):
                found.append(name)
        except OSError:
            continue
    return sorted(set(found))


def listening():
    """Ports of this machine that something listens on."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                found.add(int(words[1].rpartition(":")[2], 16))
    return found


def repeat(times):
    """Prints each, then the whole; fails where something stayed or took too long."""
    seconds, cost, wrong = [], [], 0
    for count in range(1, times + 1):
        start = Start()
        seconds.append(start.seconds)
        cost.append(start.processor_seconds)
        left = ", ".join(start.left) or "nothing"
        wrong += bool(start.left) or start.seconds > SECONDS
        print(f"start {count:3}: {start.seconds:5.2f} s, {start.processor_seconds:5.2f} s of a "
              f"processor; left {left}", flush=True)
    load = os.getloadavg()[0]
    print(f"{times} starts: {min(seconds):.2f} / {statistics.median(seconds):.2f} / "
          f"{max(seconds):.2f} s (least, median, most), {statistics.median(cost):.2f} s of a "
          f"processor; load {load:.1f}; {wrong} left something or took over {SECONDS} s")
    return 1 if wrong else 0
