# SPDX-License-Identifier: Apache-2.0
"""Whose is the folder of a control plane, and how does nothing stay behind in it?

Who starts one holds the lock of the folder: for the time of the start, or as long as it lasts where
it ends with the process that started it. Such folders lie in HOME; one whose lock is free there has
no owner any more, and the next start removes it with the processes that it still has.
"""
import contextlib
import fcntl
import pathlib
import shutil
import tempfile

import processes
import programs

HOME = programs.FOLDER / "planes"
LOCK = "lock"
# What a control plane puts into its folder beside the lock.
CONTENTS = ["kubeconfig", "server", "pki", "commands.json", "scheduler.json", "log", "etcd",
            "etcd.sock", "etcd-peer.sock", "kubectl-cache"]


class NotYours(programs.Refusal):
    """Says what is in the folder, and what to do."""


class Folder:
    def __init__(self, path):
        self.path = path
        self.lock = None

    def take(self):
        """Whether the lock is ours now."""
        lock = open(self.path / LOCK, "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self.lock = lock
        return True

    def release(self):
        if self.lock is not None:
            self.lock.close()
        self.lock = None

    def clear(self):
        """Ends the processes, and removes what they and the start made."""
        processes.end(self.path)
        for name in CONTENTS:
            if (self.path / name).is_dir():
                shutil.rmtree(self.path / name)
            else:
                (self.path / name).unlink(missing_ok=True)

    def remove(self):
        self.clear()
        (self.path / LOCK).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.path.rmdir()  # unless it has what is not ours
        self.release()

    def is_in_use(self):
        return (self.path / LOCK).exists() or bool(processes.of(self.path))


def of_our_own():
    """A new folder, locked; removes those whose process was killed."""
    HOME.mkdir(parents=True, exist_ok=True, mode=0o700)
    with open(HOME / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a folder is not seen before it is locked
        for path in HOME.glob("plane-*"):
            left = Folder(path)
            if left.take():
                left.remove()
        new = Folder(pathlib.Path(tempfile.mkdtemp(prefix="plane-", dir=HOME)).resolve())
        new.take()
        return new


def of_the_caller(path):
    """The folder that is named, locked and empty; made where it is not there."""
    path = path.resolve()
    path.mkdir(parents=True, exist_ok=True, mode=0o700)
    foreign = {entry.name for entry in path.iterdir()}.difference(CONTENTS, [LOCK])
    if foreign:
        raise NotYours(f"{path} has other files, such as {min(foreign)}; name a new folder")
    folder = Folder(path)
    if not folder.take():
        raise NotYours(f"another start is at work in {path}; wait for it")
    if (path / "kubeconfig").exists():
        folder.release()
        state = "runs" if processes.of(path) else "ran until something ended it"
        raise NotYours(f"a control plane {state} in {path}; ./dev kube stop {path} removes it")
    folder.clear()  # what a start left that was killed
    return folder


def existing(path):
    path = path.resolve()
    if not path.is_dir() or not Folder(path).is_in_use():
        raise NotYours(f"no control plane in {path}; ./dev kube start {path} makes one")
    return Folder(path)
