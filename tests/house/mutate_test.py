# SPDX-License-Identifier: Apache-2.0
"""./dev mutate: what it changes in a line, and what it leaves alone."""
import sys
import unittest

import fixture

sys.path.insert(0, str(fixture.HOUSE / "tools"))
import mutations  # noqa: E402


def changed(line):
    return {mutation.after for mutation in mutations.mutations_of("a.cc", line)}


class Mutations(unittest.TestCase):
    def test_a_comparison_moves_by_one_or_turns(self):
        self.assertEqual(changed("return used < limit;"), {"return used <= limit;"})
        self.assertEqual(changed("return used == limit;"), {"return used != limit;"})

    def test_least_and_most_are_swapped(self):
        self.assertEqual(changed("return std::min(a, b);"), {"return std::max(a, b);"})
        self.assertEqual(changed("return std::ranges::max(a);"), {"return std::ranges::min(a);"})

    def test_a_negation_is_dropped(self):
        self.assertEqual(changed("return !is_due(job);"), {"return is_due(job);"})

    def test_one_less_or_more(self):
        self.assertEqual(changed("take(first + 1);"), {"take(first);"})
        self.assertEqual(changed("SmallVector<Node, kNodes + 1> nodes;"), set())

    def test_and_becomes_or(self):
        self.assertEqual(changed("return a &&"), {"return a ||"})

    def test_a_condition_never_holds(self):
        self.assertEqual(changed("if (fits(job)) return;"), {"if (false && (fits(job))) return;"})

    def test_a_condition_of_two_lines_stays(self):
        self.assertEqual(changed("if (fits(job,"), set())

    def test_templates_words_comments_and_checks_stay(self):
        for line in ("std::vector<int> all(Add&& add);", 'say("a < b && c");', "f();  // a < b",
                     "// if (a) b", "BERTH_CHECK(a == b);", "template <typename T>"):
            self.assertEqual(changed(line), set(), line)

    def test_a_change_is_of_one_line(self):
        text = "int f() {\n    return a < b;\n}\n"
        mutation = next(mutations.mutations_of("a.cc", text))
        self.assertEqual(mutations.apply(mutation, text), "int f() {\n    return a <= b;\n}\n")

    def test_the_same_dice_choose_the_same_and_every_kind(self):
        text = "if (!a && b < c) d = std::min(e, f + 1);\n" * 5
        chosen = [list(mutations.in_random_order(mutations.mutations_of("a.cc", text), 7))
                  for _ in range(2)]
        self.assertEqual(chosen[0], chosen[1])
        self.assertEqual(len({mutation.kind for mutation in chosen[0][:6]}), 6)


if __name__ == "__main__":
    unittest.main()
