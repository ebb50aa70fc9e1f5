# SPDX-License-Identifier: Apache-2.0
"""How do files of others come onto this machine? Known by their SHA-256, into a cache outside the
tree, which all clones share.
"""
import hashlib
import os
import pathlib
import tempfile
import urllib.request

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "berth"
WHEELS = "https://files.pythonhosted.org/packages"


def file(name, digest, addresses):
    """The bytes of the first address that has the file we know."""
    reasons = []
    for address in addresses:
        try:
            with urllib.request.urlopen(address, timeout=30) as answer:
                found = answer.read()
        except OSError as error:
            reasons.append(f"{address}: {error}")
            continue
        if hashlib.sha256(found).hexdigest() == digest:
            return found
        reasons.append(f"{address}: SHA-256 is not {digest}")
    raise OSError(f"{name}: " + "; ".join(reasons))


def wheel(where, name, digest):
    """The bytes of a wheel on PyPI. Errors: OSError, as of file()."""
    return file(name, digest, [f"{WHEELS}/{where}/{name}"])


def fill(folder, packages, fetch_package):
    """fetch_package(package, folder) brings each package. All of a folder or nothing: it gets its
    name when everything is in it.
    """
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parent:
        part = pathlib.Path(parent) / folder.name
        part.mkdir()
        for package in packages:
            fetch_package(package, part)
        if not folder.is_dir():  # another clone may have been faster
            part.rename(folder)
