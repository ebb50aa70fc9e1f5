# SPDX-License-Identifier: Apache-2.0
"""plans: what it writes is the same each time, and a decision that differs is named in words."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PLANS, SCENARIOS = sys.argv[1:3]
SEEDS = 40


class Plans(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name, "plans")

    def plans(self, *arguments):
        done = subprocess.run([PLANS, *arguments], text=True, stdout=subprocess.PIPE)
        return done.returncode, done.stdout

    def write(self, *arguments):
        code, _ = self.plans("--seeds", str(SEEDS), *arguments, "--to", str(self.file), SCENARIOS)
        self.assertEqual(code, 0)
        return self.file.read_text()

    def compare(self, *arguments):
        return self.plans("--against", str(self.file), *arguments)

    def change(self, pattern, replacement):
        """Another core: changes the first match below a life's line, and that line's hashes."""
        text = self.file.read_text()
        at = re.search(pattern, text)
        life = ("\n" + text).rindex("\nseed ", 0, at.start())
        changed = text[life:at.start()] + at.expand(replacement)
        kind = "verdicts" if "wait" in pattern else "plans"
        changed = re.sub(kind + r" \w+", kind + " 0", changed, count=1)
        self.file.write_text(text[:life] + changed + text[at.end():])

    def test_the_same_core_writes_the_same(self):
        self.assertEqual(self.write(), self.write())
        code, said = self.compare("--verdicts")
        self.assertEqual(code, 0, said)
        self.assertIn(", 0 differ", said)

    def test_a_line_a_life_unless_words_are_asked_for(self):
        lives = SEEDS + len(list(pathlib.Path(SCENARIOS).glob("**/*.scn")))
        self.assertEqual(len(self.write().splitlines()), lives)
        self.assertGreater(len(self.write("--words").splitlines()), 10 * lives)

    def test_a_start_elsewhere_is_told_as_both_decided_it(self):
        self.write("--words")
        self.change(r"> start (\S+) n0", r"> start \1 n9")
        code, said = self.compare()
        self.assertEqual(code, 1)
        self.assertRegex(said, r"(?s)before\n.*> start \S+ n9.*now\n.*> start \S+ n0")
        self.assertIn(", 1 differ", said)

    def test_another_wakeup_differs(self):
        self.write("--words")
        self.change(r"# wakes in \d+ms", "# wakes in 7ms")
        code, said = self.compare()
        self.assertEqual(code, 1)
        self.assertRegex(said, r"(?s)before\n.*wakes in 7ms.*now\n.*wakes in \d+ms")

    def test_a_hash_alone_names_the_life(self):
        text = self.write()
        self.file.write_text(re.sub(r"(seed 3 plans )\w+", r"\g<1>0", text))
        code, said = self.compare()
        self.assertEqual(code, 1)
        self.assertIn("seed 3 differs", said)

    def test_a_verdict_in_other_words_differs_on_demand_only(self):
        self.write("--words")
        self.change(r"> wait (\S+) (\w+):", r"> wait \1 \2, for another cause:")
        self.assertEqual(self.compare()[0], 0)
        code, said = self.compare("--verdicts")
        self.assertEqual(code, 1)
        self.assertIn("for another cause", said)

    def test_a_file_without_lives_proves_nothing(self):
        self.file.write_text("")
        self.assertEqual(self.compare()[0], 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
