# SPDX-License-Identifier: Apache-2.0
"""Limits that some places are above today: tools/above_limits.txt lists them, and may only shrink.

A line is `KIND NAME FIGURE`. A finding is a place that is above its limit and not listed, one that
is above its figure, one that has fallen below it, and one that is no longer above its limit.
"""
FILE = "tools/above_limits.txt"


def read(root, kind):
    """{name: figure} of one kind."""
    file = root / FILE
    if not file.exists():
        return {}
    rows = [line.split() for line in file.read_text().splitlines() if line[:1] not in ("", "#")]
    return {name: int(figure) for one, name, figure in rows if one == kind}


def compare(root, kind, measured, limit, unit):
    """What is wrong with {name: figure}, as one line each."""
    listed = read(root, kind)
    for name in sorted(set(measured) | set(listed)):
        figure, known = measured.get(name, 0), listed.get(name)
        if known is None and figure > limit:
            yield f"{name}: {figure} {unit}, at most {limit}"
        elif known is not None and figure > known:
            yield f"{name}: {figure} {unit}, {known} in {FILE}, where figures may only fall"
        elif known is not None and figure <= limit:
            yield f"{name}: no longer above {limit} {unit}; remove its line `{kind}` from {FILE}"
        elif known is not None and figure < known:
            yield f"{name}: fell to {figure} {unit}; lower the number of `{kind}` in {FILE}"


def lower(root, kind, measured, limit):
    """Writes what has fallen into the file; nothing is added to it or raised."""
    kept = []
    for line in (root / FILE).read_text().splitlines():
        if line.startswith(kind + " "):
            _, name, figure = line.split()
            now = min(int(figure), measured.get(name, 0))
            if now <= limit:
                continue
            line = f"{kind} {name} {now}"
        kept.append(line)
    (root / FILE).write_text("\n".join(kept) + "\n")
