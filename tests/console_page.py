# SPDX-License-Identifier: Apache-2.0
"""Which commands does a page of the documents show, and what does it say that they print?"""
import re


def examples(page):
    """(command, expected exit code, lines of the output shown), in order."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(), re.S):
        for part in re.split(r"(?m)^\$ ", block)[1:]:
            command, _, output = part.partition("\n")
            if command.endswith("<<'END'"):
                body, _, output = output.partition("\nEND\n")
                command += f"\n{body}\nEND"
            code = re.search(r"  # exit code (\d+)$", command)
            yield command, int(code[1]) if code else 0, output.splitlines()
