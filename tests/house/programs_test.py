# SPDX-License-Identifier: Apache-2.0
"""What `./dev demo` builds, the target `programs`, is all that README uses: each program, and each
library that a program loads for its jobs."""
import os
import pathlib
import re
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["BERTH_BUILD"])
FOLDERS = "bin|lib|software_gpu"


def linked_for(target):
    """The files that a build of the target links into the folders of what users run."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", target],
                              capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"-o ((?:{FOLDERS})/\S+)", commands))


class Programs(unittest.TestCase):
    def test_the_programs_come_with_all_that_they_load(self):
        wanted = linked_for("all")
        self.assertIn("bin/berth", wanted)
        self.assertIn("lib/libberth-cuda.so", wanted)
        self.assertEqual(sorted(wanted - linked_for("programs")), [])


if __name__ == "__main__":
    unittest.main()
