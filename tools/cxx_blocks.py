# SPDX-License-Identifier: Apache-2.0
"""Which blocks and statements does C++ text have? Read as clang-format leaves it: its spaces say
what is a template argument and what a comparison, and which braces are of a value and which of a
block."""
import re

import tree

LAMBDA = re.compile(r"\[\](?:<>)?(?:\(\))?(?: mutable| noexcept)*(?: -> [\w:<>&* ]+)?\s*$")
VALUE_FOLLOWS = re.compile(r"(?:[=,({?+|]|\breturn)\s*$")
# Before a parenthesis in which a comma is an operator: not a call, not a list of parameters.
OPERAND_FOLLOWS = re.compile(r"(?:^|[=?:!]|&&|\|\||\b(?:return|if|while|switch|constexpr))\s*$")
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:alignas\(\)\s+)?(?:\[\]\s+)?([\w:]+(?:<>)?)"
                   r"(?:\s+final)?\s*(?::[^:].*)?$", re.S)
FUNCTION = re.compile(r"((?:[\w~]+(?:<>)?::)*(?:operator\S*?|~?\w+))\s*\(\)")
CLOSED_BY = {"(": ")", "[": "]", "{": "}", "<": ">"}


class Frame:
    """What an open bracket holds so far: a block of code, or a group of anything else."""

    def __init__(self, bracket, kind, name, first):
        self.bracket = bracket
        self.kind = kind      # namespace, class, function, block, group, operand
        self.name = name
        self.first = first    # line of what stands before the bracket
        self.lambda_of = None
        self.restart(first)

    @property
    def is_code(self):
        return self.kind not in ("group", "operand")

    def restart(self, line=None):
        self.head = ""        # of the present statement, with brackets left empty
        self.start = line     # its first line
        self.comma = None     # line of its first comma outside of brackets


class Blocks:
    """`classes` and `functions` are (name, first line, last line), each with what is inside it:
    classes with inner ones, functions without lambdas, which are part of them. The functions in the
    body of a class are in `inline_functions`. `joined` are lines on which a comma joins two
    declarations or two expressions."""

    def __init__(self, text):
        self.classes = []
        self.functions = []
        self.inline_functions = []
        self.joined = []
        self.text = without_directives(tree.without_comments(text))
        self.line = 1
        self.frames = [Frame("", "namespace", "", 1)]
        for index, letter in enumerate(self.text):
            self.read(index, letter)

    def read(self, index, letter):
        top = self.frames[-1]
        if letter == "\n":
            self.line += 1
        if not letter.isspace() and not top.head.strip():
            top.start = self.line
        before = self.text[index - 1] if index else "\n"
        after = self.text[index + 1:index + 2]
        if letter in "([" or letter == "{" or (letter == "<" and opens_angle(top, before, after)):
            self.open(letter, before)
        elif letter in ")]}" or (letter == ">" and top.bracket == "<" and before != "-"):
            self.close(letter)
        elif letter == ";" and self.code_frame_is_on_top():
            self.end_statement()
        else:
            if letter == "," and not self.text.startswith(", ...", index):
                top.comma = top.comma or self.line
            top.head += letter

    def code_frame_is_on_top(self):
        """A ; ends what looked like a template argument and was none."""
        while self.frames[-1].bracket == "<":
            self.frames.pop()
        return self.frames[-1].is_code

    def open(self, bracket, before):
        top = self.frames[-1]
        kind, name = "group", ""
        if bracket == "(" and OPERAND_FOLLOWS.search(top.head):
            kind = "operand"
        elif bracket == "{" and self.is_block(before):
            kind, name = self.kind_of_block()
        self.frames.append(Frame(bracket, kind, name, top.start or self.line))

    def is_block(self, before):
        top = self.frames[-1]
        if LAMBDA.search(top.head):
            return True
        if not top.is_code or not before.isspace():
            return False
        return not VALUE_FOLLOWS.search(top.head) and not re.search(r"\benum\b", top.head)

    def kind_of_block(self):
        top = self.frames[-1]
        if self.within("function") or self.within("group"):
            return "block", ""
        if LAMBDA.search(top.head):
            return "function", "a lambda"
        if re.search(r"\b(?:namespace|extern)\b[^()]*$", top.head):
            return "namespace", ""
        found = FUNCTION.search(top.head)
        if found:
            return "function", found[1]
        found = CLASS.search(top.head)
        return ("class", found[1]) if found else ("block", "")

    def within(self, kind):
        return any(frame.kind == kind for frame in self.frames)

    def close(self, letter):
        while len(self.frames) > 1 and CLOSED_BY[self.frames[-1].bracket] != letter:
            self.frames.pop()
        if len(self.frames) == 1:
            return
        frame = self.frames.pop()
        top = self.frames[-1]
        if frame.kind == "operand" and frame.comma:
            self.joined.append(frame.comma)
        outer = [one.name for one in self.frames if one.kind == "class"]
        if frame.kind == "class":
            self.classes.append(("::".join(outer + [frame.name]), frame.first, self.line))
        elif frame.kind == "function":
            found = self.inline_functions if outer else self.functions
            found.append((frame.name, frame.first, self.line))
        if frame.is_code and top.is_code and not LAMBDA.search(top.head):
            top.restart()
        else:
            top.head += frame.bracket + letter

    def end_statement(self):
        top = self.frames[-1]
        if top.comma:
            self.joined.append(top.comma)
        top.restart()


def opens_angle(top, before, after):
    is_template = top.head.endswith("template ")
    return is_template or (re.match(r"\w", before) and not re.match(r"[\s=<]", after) and
                           not top.head.endswith("operator"))


def without_directives(text):
    return re.sub(r"(?m)^[ \t]*#(?:.*\\\n)*.*$", lambda match: "\n" * match[0].count("\n"), text)
