#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a virtual cluster of the Philly trace with a model for each job, for --speeds.

The trace does not tell what its jobs trained. As Muri's authors did, one is drawn for each, here
from those that Gavel measured on as many GPUs (a wider job: on the most it measured), evenly, with
a fixed seed. BERTH_TRACES names the folder of the traces.
"""
import argparse
import ast
import csv
import datetime
import gzip
import json
import random
import sys

from compare import traces_folder


def models_by_gpus(table):
    """The jobs measured together and spread, by their GPUs."""
    models = {}
    for text, speeds in table["v100"].items():
        name, gpus = ast.literal_eval(text)
        if speeds["null"] > 0 and text in table["v100_unconsolidated"]:
            models.setdefault(gpus, []).append(name)
    return models


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cluster")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    folder = traces_folder()
    with gzip.open(folder / "gavel/simulation_throughputs.json.gz") as file:
        models = models_by_gpus(json.load(file))
    with gzip.open(folder / "philly/philly.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file)
                if row["cluster"] == options.cluster and int(row["num_gpus"]) > 0]
    dice = random.Random(options.seed)
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["submit_s", "duration_s", "gpus", "project", "name"])
    for row in sorted(rows, key=lambda row: row["timestamp"]):
        at = datetime.datetime.fromisoformat(row["timestamp"] + "+00:00").timestamp()
        measured = max(gpus for gpus in models if gpus <= int(row["num_gpus"]))
        out.writerow([int(at), row["duration"], row["num_gpus"], row["cluster"],
                      dice.choice(models[measured])])


if __name__ == "__main__":
    main()
