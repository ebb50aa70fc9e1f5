#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training job in its shortest form: steps, a save when it is asked to leave, and going on.

Berth asks a job to leave with SIGTERM and starts the same command again later. A job loses nothing
when it saves then, below BERTH_CHECKPOINT_DIR, and looks there first when it starts.
"""
import os
import pathlib
import signal
import sys
import time

STEPS = 20
checkpoint = pathlib.Path(os.environ.get("BERTH_CHECKPOINT_DIR", ".")) / "step"
asked_to_leave = False


def leave(*_):
    global asked_to_leave
    asked_to_leave = True


signal.signal(signal.SIGTERM, leave)
step = int(checkpoint.read_text()) if checkpoint.exists() else 0
while step < STEPS:
    time.sleep(0.05)  # your training step
    step += 1
    print(f"step {step} of {STEPS}", flush=True)
    if asked_to_leave:
        checkpoint.write_text(str(step))
        sys.exit(0)
checkpoint.unlink(missing_ok=True)
