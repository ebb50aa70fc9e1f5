# SPDX-License-Identifier: Apache-2.0
"""Which programs make a Kubernetes control plane, and where do they lie on this machine?

build.py makes them in a cache outside the tree, which all clones share. A name in the cache
carries a key of everything that decides what is built, and appears when it is whole. A folder that
KUBEBUILDER_ASSETS names is taken in place of the built one.
"""
import hashlib
import os
import pathlib
import platform
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
FOLDER = CACHE / "berth" / "kube"

# Exactly this one, wherever it comes from, so that the result has a hash that we know.
GO = "1.26.6"
RELEASE = re.search(r"\bk8s\.io/kubernetes v(\S+)", (HERE / "go.mod").read_text())[1]
STAMP = "k8s.io/component-base/version"
# Without its version a server calls itself v0.0.0-master, and its feature gates misbehave.
LINK = " ".join(["-s -w", *(f"-X {STAMP}.git{name}={value}" for name, value in (
    ("Version", f"v{RELEASE}"), ("Major", RELEASE.split(".")[0]),
    ("Minor", RELEASE.split(".")[1]), ("TreeState", "clean")))])
# What the linker leaves out (-s -w) is not made: a tenth of the compiler's work.
COMPILE = "all=-dwarf=false"

# One file is all of these, by the name that it is called by.
NAMES = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]


class Refusal(Exception):
    """Says all that is to be said: what was found, and what to do."""


class Missing(Refusal):
    """Says what is not there, and what to run."""


class Damaged(Missing):
    """A built file is not the one it was."""


def key(folder, *words):
    digest = hashlib.sha256(" ".join([GO, platform.machine(), *words]).encode())
    for path in sorted(folder.glob("go.*")) + sorted(folder.glob("*.go")):
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


KEY = key(HERE, LINK, COMPILE)
BUILT = FOLDER / f"kubernetes-{RELEASE}-{KEY}"
ONE_FILE = BUILT / "kubernetes"
TOOL = FOLDER / f"kubetool-{key(HERE / 'tool', COMPILE)}"


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pinned_hash():
    """What the built file has to be, or None on a processor that it was not built for yet."""
    for line in (HERE / "kubernetes.sha256").read_text().splitlines():
        words = line.split()
        if words[:2] == [KEY, platform.machine()]:
            return words[2]
    return None


def chosen_by_user():
    """The folder that KUBEBUILDER_ASSETS names, or None. All its programs have to be there: parts
    of two releases do not make one control plane."""
    named = os.environ.get("KUBEBUILDER_ASSETS")
    if not named:
        return None
    folder = pathlib.Path(named).resolve()
    missing = [name for name in NAMES if not os.access(folder / name, os.X_OK)]
    if missing:
        raise Missing(f"KUBEBUILDER_ASSETS names {folder}, which lacks {', '.join(missing)}; "
                      "unset it to use what ./dev kube builds")
    return folder


def find():
    """The folder of the programs; says why not where there is none."""
    folder = chosen_by_user()
    for path in (TOOL,) if folder else (ONE_FILE, TOOL):
        if not path.is_file():
            raise Missing(f"Kubernetes {RELEASE} is not built here ({path} is not there); "
                          "./dev kube builds it: once, about 7 minutes of a processor")
    return folder or BUILT


def find_or_skip():
    """For a test: where there are none it ends with 77, and fails where they are required."""
    try:
        return find()
    except Missing as missing:
        if os.environ.get("BERTH_KUBE") == "required":
            sys.exit(f"failed: {missing}")
        print(f"skipped: {missing}")
        sys.exit(77)


def check():
    """Like find(), and reads the whole file to see that it is the one we know."""
    folder = find()
    if folder != BUILT:
        return folder
    wanted = pinned_hash() or (BUILT / "sha256").read_text().strip()
    found = sha256(ONE_FILE)
    if found != wanted:
        raise Damaged(f"{ONE_FILE} is damaged: SHA-256 {found}, wanted {wanted}; "
                      "./dev kube builds it again")
    return folder
