# SPDX-License-Identifier: Apache-2.0
"""The source tree as the checks see it: its files, its modules and how a check reports."""
import argparse
import os
import pathlib
import re
import sys

HOUSE = pathlib.Path(__file__).resolve().parent.parent
# Never ours to judge: build products, caches, other people's code.
SKIPPED = {".git", ".cache", ".venv", "build", "dist", "node_modules", "__pycache__"}


class Finding(Exception):
    """Raised when a check itself cannot go on; shown as one line."""


class Skipped(Exception):
    """Raised when a check cannot be made here; shown as one line, exit 77."""


class Module:
    """A row of cmake/modules.cmake with what its CMakeLists.txt declares."""

    def __init__(self, name, level, pure):
        self.name = name
        self.level = level
        self.pure = pure
        self.present = False
        self.uses = set()
        self.sources = []  # SOURCES and TESTS


def files(root):
    """All files below root as sorted paths relative to it."""
    found = []
    for folder, names, plain in os.walk(root):
        names[:] = [name for name in names if name not in SKIPPED]
        found += [pathlib.Path(folder, name).relative_to(root) for name in plain
                  if name != ".git"]
    return sorted(found)


def modules(root):
    """The modules of cmake/modules.cmake by name, with what each one declares."""
    text = (root / "cmake/modules.cmake").read_text()
    rows = re.findall(r"^\s+(\d+)\s+(\S+)\s+(pure|effects)\s*$", text, re.M)
    result = {name: Module(name, int(level), purity == "pure") for level, name, purity in rows}
    for module in result.values():
        listing = root / "src" / module.name / "CMakeLists.txt"
        module.present = listing.exists()
        if module.present:
            read_declaration(listing.read_text(), module)
    return result


def read_declaration(text, module):
    """Adds what the berth_module() and berth_program() calls in text say."""
    text = re.sub(r"#[^\n]*", "", text)
    for call in re.findall(r"berth_(?:module|program)\(([^)]*)\)", text):
        section = None
        for word in call.split():
            if word in ("PURE", "SOURCES", "TESTS", "USES", "LIBS"):
                section = word
            elif section == "USES":
                module.uses.add(word)
            elif section in ("SOURCES", "TESTS"):
                module.sources.append(word)


def module_of(path, names):
    """The module that a path below src/ belongs to ("adapters/sqlite"), or None."""
    parts = str(path).split("/")
    for length in (2, 1):
        candidate = "/".join(parts[:length])
        if len(parts) > length and candidate in names:
            return candidate
    return None


def without_comments(text, literals="blank"):
    """C++ text with comments blanked, and the insides of literals too unless they are to be kept;
    line by line as before."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|'
        r"(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.S)

    def blank(match):
        token = match.group(0)
        newlines = "\n" * token.count("\n")
        if literals == "keep" and not token.startswith("/"):
            return token
        return newlines if token.startswith("/") else '""' + newlines

    return pattern.sub(blank, text)


def main(check, description, lower=None):
    """Runs check(root), a generator of findings, as a program; after lower(root), with --lower."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=pathlib.Path, default=HOUSE)
    if lower:
        parser.add_argument("--lower", action="store_true",
                            help="write down the figures that have fallen")
    arguments = parser.parse_args()
    try:
        if lower and arguments.lower:
            lower(arguments.root.resolve())
        findings = list(check(arguments.root.resolve()))
    except Skipped as reason:
        print(f"skipped: {reason}")
        sys.exit(77)
    except Finding as problem:
        findings = [str(problem)]
    for finding in findings:
        print(finding)
    print(f"{len(findings)} findings" if findings else "nothing found")
    sys.exit(1 if findings else 0)
