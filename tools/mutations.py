# SPDX-License-Identifier: Apache-2.0
"""Where a C++ source could be a little wrong: small changes of meaning, one line each.

It relies on how clang-format writes: spaces around binary operators and none inside templates.
"""
import dataclasses
import random
import re

AFTER = r"(?= |$)"
OPPOSITES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
             "&&": "||", "||": "&&", "min": "max", "max": "min"}
# A name, what it looks for, and what it puts there instead.
OPERATORS = [
    ("comparison", re.compile(r"(?<= )(<|<=|>|>=|==|!=)" + AFTER),
     lambda match: OPPOSITES[match[1]]),
    ("least and most", re.compile(r"(?<=std::)(min|max)(?=\()|(?<=ranges::)(min|max)(?=\()"),
     lambda match: OPPOSITES[match[0]]),
    ("negation", re.compile(r"(?<![\w)\]])!(?=[\w(*])"), lambda match: ""),
    ("off by one", re.compile(r" [+-] 1(?![\w.'>])"), lambda match: ""),
    ("condition", re.compile(r"\bif \((?=[^;]*\) )(?!const )"), lambda match: "if (false && "),
    ("and and or", re.compile(r"(?<= )(&&|\|\|)" + AFTER), lambda match: OPPOSITES[match[1]]),
]
NO_CODE = re.compile(r"^\s*(//|#|static_assert|template|BERTH_CHECK|using |namespace )")
WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|//.*$')


@dataclasses.dataclass(frozen=True)
class Mutation:
    path: str
    line: int      # from 1
    kind: str
    before: str
    after: str

    def text(self):
        return (f"{self.path}:{self.line}: {self.kind}\n"
                f"    - {self.before.strip()}\n    + {self.after.strip()}")


def mutations_of(path, text):
    """All of one file."""
    for number, line in enumerate(text.splitlines(), 1):
        if NO_CODE.match(line):
            continue
        # Nothing inside words changes; columns stay.
        code = WORDS.sub(lambda word: "\0" * len(word[0]), line)
        for kind, pattern, instead in OPERATORS:
            for match in pattern.finditer(code):
                after = line[:match.start()] + instead(match) + line[match.end():]
                if kind == "condition" and (after := without_condition(line, code, match)) is None:
                    continue
                yield Mutation(path, number, kind, line, after)


def without_condition(line, code, match):
    """`if (a || b) c;` that never holds; None where the condition goes on in the next line."""
    depth = 0
    for at in range(match.end() - 1, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            condition = line[match.end():at]
            return f"{line[:match.end()]}false && ({condition}){line[at:]}"
    return None


def apply(mutation, text):
    lines = text.splitlines(keepends=True)
    assert lines[mutation.line - 1].rstrip("\n") == mutation.before
    lines[mutation.line - 1] = mutation.after + "\n"
    return "".join(lines)


def in_random_order(mutations, seed):
    """One of each kind in turn, so that no kind is most of them."""
    dice = random.Random(seed)
    kinds = {}
    for mutation in mutations:
        kinds.setdefault(mutation.kind, []).append(mutation)
    for of_kind in kinds.values():
        dice.shuffle(of_kind)
    while kinds:
        for kind in list(kinds):
            yield kinds[kind].pop()
            if not kinds[kind]:
                del kinds[kind]
