# SPDX-License-Identifier: Apache-2.0
"""How are figures kept? A line of JSON each, with the date and the machine."""
import datetime
import json
import os
import pathlib
import platform

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "results/figures.jsonl"


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.machine())
    return f"{model}, {os.cpu_count()} cores, Linux {platform.release().split('-')[0]}"


def note(figures, to):
    to.parent.mkdir(exist_ok=True)
    stamp = {"date": datetime.date.today().isoformat(), "machine": machine()}
    with to.open("a") as file:
        file.write(json.dumps({**figures, **stamp}) + "\n")
