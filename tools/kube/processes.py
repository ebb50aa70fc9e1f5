# SPDX-License-Identifier: Apache-2.0
"""Which processes belong to a control plane, and how do they start and end?

A process belongs to the folder that its environment names. So it is found, whichever process
started it and however that ended, no process id is written down that another process could have
later, and what it starts belongs to the folder too.
"""
import contextlib
import os
import pathlib
import select
import signal
import subprocess

FOLDER = "BERTH_CONTROL_PLANE"
NAME = "BERTH_CONTROL_PLANE_PROCESS"
TICKS = os.sysconf("SC_CLK_TCK")


# It is killed when we end, and does not begin where we have ended before the kernel knew of that.
BOUND_TO_US = ["setpriv", "--pdeathsig", "KILL", "--", "sh", "-c",
               '[ "$PPID" = "$0" ] && exec "$@"']


def start(folder, name, command, *, ends_with_us):
    """Runs in the folder and writes to its log/NAME.log."""
    bound = BOUND_TO_US + [str(os.getpid())] if ends_with_us else []
    with open(folder / "log" / f"{name}.log", "ab") as log:
        return subprocess.Popen(
            [*bound, *map(str, command)], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, FOLDER: str(folder), NAME: name})


def of(folder):
    """(name, process id) of all that live."""
    wanted = f"{FOLDER}={folder}".encode()
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        variables = environment(entry)
        if wanted in variables:
            name = next((one for one in variables if one.startswith(NAME.encode() + b"=")), b"=?")
            found.append((name.split(b"=", 1)[1].decode(), int(entry)))
    return sorted(found)


def environment(process):
    """Empty where it has ended, or is another user's."""
    try:
        return pathlib.Path(f"/proc/{process}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def end(folder, name=None):
    """Kills those of the folder, or those of a name, and waits until they are gone."""
    wanted = f"{FOLDER}={folder}".encode()
    while True:
        rest = [process for own, process in of(folder) if name in (None, own)]
        if not rest:
            return
        for process in rest:
            with contextlib.suppress(ProcessLookupError):
                handle = os.pidfd_open(process)
                try:
                    if wanted in environment(process):  # the handle is of that one
                        signal.pidfd_send_signal(handle, signal.SIGKILL)
                        select.select([handle], [], [])
                finally:
                    os.close(handle)


def cost(process):
    """Seconds of processor time and megabytes at most; None where it has ended."""
    try:
        times = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return None
    peak = next((line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")), 0)
    return (int(times[11]) + int(times[12])) / TICKS, int(peak) // 1024
