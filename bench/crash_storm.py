#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Is anything lost or done twice when the server is killed at very many random moments under load?
# The test of the normal suite (tests/end_to_end/crash_test.py) with more kills.
#   bench/crash_storm.py [--kills 500]
import argparse
import json
import os
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/end_to_end"))
import crash_test  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=500)
    arguments = parser.parse_args()
    os.environ["BERTH_KILLS"] = str(arguments.kills)
    begin = time.monotonic()
    case = crash_test.Crash("test_nothing_is_lost_or_done_twice_at_random_moments")
    result = unittest.TextTestRunner(verbosity=1).run(case)
    print("\n" + json.dumps({"bench": "crash_storm", "kills": arguments.kills,
                             "lost_or_doubled": len(result.failures) + len(result.errors),
                             "seconds": round(time.monotonic() - begin)}))
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
