# SPDX-License-Identifier: Apache-2.0
"""Every finding of the checks in tools/, provoked once; includes: layering_test.py."""
import json
import shutil
import unittest

import fixture

SPDX = f"// {fixture.LICENCE}\n"
HEADER = SPDX + "#pragma once\n"


class Tidy(fixture.TreeTest):
    def setUp(self):
        super().setUp()
        self.module("model", "PURE", job="int job();")

    def test_a_tidy_tree_has_no_finding(self):
        self.write("src/model/job.h", HEADER + "int job();  // TODO(#12): name it\n")
        self.write("dev", f"#!/usr/bin/env bash\n# {fixture.LICENCE}\n", 0o755)
        self.assert_passes(self.check("check-tidy"))

    def test_what_a_line_may_not_hold(self):
        cases = {
            "x" * 101: "101 columns, at most 100",
            "int a;\t// tab": "tab",
            "int a; ": "trailing space",
            "int a;  // TO" "DO later": "without an issue number",
            '"/wo' 'rk/secret"': "names a private place",
            "int a;\r": "carriage return",
            "std::shared_ptr<int> a;": "no shared_ptr",
            "double a;": "no float or double",
        }
        for line, words in cases.items():
            with self.subTest(words):
                self.write("src/model/job.h", HEADER + line + "\n")
                self.assert_stops(self.check("check-tidy"), words)

    def test_words_in_comments_and_texts_are_free(self):
        self.write("src/model/job.h", HEADER + '// a double check\nconst char* a = "float";\n')
        self.assert_passes(self.check("check-tidy"))

    def test_processes_meet_where_no_other_user_can_be_first(self):
        cases = {
            'bind("/tmp/berth-" + id);': "world-writable folder",
            'const char* a = "state = /dev/shm/gpus";': "world-writable folder",
            'std::string a("\\0berth", 6);': "abstract socket name",
            "address.sun_path[0] = 0;": "sun_path outside src/runtime",
        }
        for line, words in cases.items():
            with self.subTest(line):
                self.write("src/model/job.cc", SPDX + line + "\n")
                self.assert_stops(self.check("check-tidy"), words)
        self.write("src/model/job.cc", SPDX + "// sun_path, as in \"/tmp/name\"\n"
                   'const char* place = "/dev/shm";\nconst char* work = "/tmp";\n')
        self.assert_passes(self.check("check-tidy"))

    def test_modules_outside_the_core_may_use_what_it_may_not(self):
        self.module("api", "", jobs="double a;\nstd::shared_ptr<int> b;")
        self.assert_passes(self.check("check-tidy"))

    def test_no_input_reaches_a_check(self):
        self.module("supervision", "", frame="void check();")
        check = 'void f(int a) {\n%s    BERTH_CHECK(a > 0, "a frame has bytes");%s\n}\n'
        path = "src/supervision/frame.cc"
        self.write(path, SPDX + check % ("", ""))
        self.assert_stops(self.check("check-tidy"), "say why no input reaches it")
        for ours in (("    // ours: the caller counts them\n", ""), ("", "  // ours: it counts")):
            self.write(path, SPDX + check % ours)
            self.assert_passes(self.check("check-tidy"))

    def test_what_a_file_needs(self):
        cases = [
            ("src/model/job.h", SPDX, "#pragma once"),
            ("src/model/job.h", "#pragma once\n", "first line is not SPDX"),
            ("src/model/job_manager.h", HEADER, "named by the question"),
            ("src/model/Job.h", HEADER, "lower_snake"),
            ("src/model/job.h", HEADER + "int a;", "end with a newline"),
            ("src/model/job.h", HEADER + "int a;\n" * 199, "201 lines, at most 200"),
            ("src/model/job.cc", SPDX + "int a;\n" * 600, "601 lines, at most 600"),
            ("src/model/lost.cc", SPDX, "not listed in CMakeLists.txt"),
            ("tools/x", f"#!/usr/bin/env bash\n# {fixture.LICENCE}\n", "not executable"),
        ]
        for path, text, words in cases:
            with self.subTest(words):
                kept = self.root / path
                before = kept.read_text() if kept.exists() else None
                self.write(path, text)
                self.assert_stops(self.check("check-tidy"), words)
                kept.unlink() if before is None else kept.write_text(before)

    def test_a_listed_source_exists(self):
        (self.root / "src/model/job.cc").unlink()
        self.assert_stops(self.check("check-tidy"), "lists job.cc, which does not exist")

    def test_a_long_function_is_named_in_each_language(self):
        body = "    a();\n" * 69
        cases = {
            "src/model/job.cc": SPDX + f"namespace b {{\nint Job::run(\n  int a) {{\n{body}}}}}\n",
            "a.py": f"# {fixture.LICENCE}\ndef run():\n{body}    a()\n",
            "a.sh": f"# {fixture.LICENCE}\nrun() {{\n{body}}}\n",
        }
        lines = {"src/model/job.cc": 72, "a.py": 71, "a.sh": 71}
        for path, text in cases.items():
            with self.subTest(path):
                self.write(path, text)
                self.assert_stops(self.check("check-tidy"), f"run has {lines[path]} lines")

    def test_braces_of_an_initialiser_list_do_not_hide_a_function(self):
        body = "    a();\n" * 70
        text = f"class Job {{\n    Job() : a_{{1}}, b_{{2}} {{\n{body}    }}\n    int a_;\n}};\n"
        self.write("src/model/job.cc", SPDX + text)
        self.assert_stops(self.check("check-tidy"), "Job has 72 lines")

    def test_a_class_may_be_longer_than_a_function(self):
        members = "".join(f"    int f{number}() {{ return {number}; }}\n" for number in range(80))
        self.write("src/model/job.cc", SPDX + f"class Job {{\n{members}}};\n")
        self.assert_passes(self.check("check-tidy"))


class Shape(fixture.TreeTest):
    """Of a class a line each: its head, its members, its end, and as many of each function."""

    LIST = "tools/above_limits.txt"

    def setUp(self):
        super().setUp()
        self.module("model", "PURE", job="int job();")

    def write_class(self, inside, outside):
        self.write("src/model/job.h",
                   HEADER + "class Job {\n" + "    int a();\n" * (inside - 2) + "};\n")
        self.write("src/model/job.cc",
                   SPDX + "std::pair<int, int> Job::run() {\n" + "    a();\n" * (outside - 2) +
                   "}\n")

    def write_sources(self, count):
        for number in range(count - 1):  # with job.cc
            self.write(f"src/model/a{number}.h", HEADER)

    def test_a_folder_has_at_most_30_sources(self):
        self.write_sources(30)
        self.assert_passes(self.check("check-shape"))
        self.write_sources(31)
        self.assert_stops(self.check("check-shape"), "src/model: 31 sources, at most 30")

    def test_a_folder_below_counts_for_itself(self):
        self.write_sources(30)
        self.write("src/model/words/word.h", HEADER)
        self.assert_passes(self.check("check-shape"))

    def test_a_class_has_at_most_250_lines_with_its_functions_elsewhere(self):
        self.write_class(200, 50)
        self.assert_passes(self.check("check-shape"))
        self.write_class(200, 51)
        self.assert_stops(self.check("check-shape"), "model/Job: 251 lines, at most 250")

    def test_what_is_listed_may_stay_and_may_not_grow(self):
        self.write_class(200, 100)
        self.write(self.LIST, "# today\nclass model/Job 300\n")
        self.assert_passes(self.check("check-shape"))
        self.write_class(200, 101)
        self.assert_stops(self.check("check-shape"), "model/Job: 301 lines, 300 in " + self.LIST)

    def test_a_listed_figure_falls_with_what_it_counts(self):
        self.write(self.LIST, "# today\nclass model/Job 300\n")
        self.write_class(200, 90)
        self.assert_stops(self.check("check-shape"), "fell to 290 lines; lower the number")
        self.assert_passes(self.check("check-shape", "--lower"))
        self.assertEqual((self.root / self.LIST).read_text(), "# today\nclass model/Job 290\n")
        self.write_class(200, 50)
        self.assert_stops(self.check("check-shape"), "no longer above 250 lines; remove its line")
        self.assert_passes(self.check("check-shape", "--lower"))
        self.assertEqual((self.root / self.LIST).read_text(), "# today\n")

    def test_no_comma_joins_declarations_or_statements(self):
        joined = [
            "int a = 0, b = 1;",
            "std::map<int, int> a, b;",
            "class A {\n    void f(int x, int y), g();\n};",
            "void f() {\n    a = 1, b = 2;\n}",
            "bool f() { return a = read(), true; }",
            "bool f() { return a && (b = read(), true); }",
            "void f() {\n    visit([](int x) { g(x, 1), h(); });\n}",
            "auto f = [](int x) { return x; }, g = f;",
            "void f() {\n    if (a) b(), c();\n}",
        ]
        for text in joined:
            with self.subTest(text):
                self.write("src/model/job.cc", SPDX + text + "\n")
                self.assert_stops(self.check("check-shape"), "a comma joins two declarations")

    def test_commas_that_separate_are_free(self):
        self.write("src/model/job.cc", SPDX + """
#define PAIR(a, b) a, b
template <typename A, typename B = std::pair<A, int>>
class Job : public A, private B {
  public:
    Job(int a, int b) : a_(a), b_{b, 1}, c_([](int x, int y) { return x < y; }) {}
    std::map<int, std::vector<int>> f(int a, int b = std::max(1, 2)) const;
};
enum class Tone { Good, Bad };
constexpr int kSizes[] = {1, 2, 3};
void f(std::initializer_list<int> a, bool (*g)(int, int)) {
    for (int i = 0, n = 9; i < n; ++i, --n) g(i, n);
    const auto [x, y] = std::pair{1, 2};
    std::sort(a, [&](int p, int q) { return p < q && g(p, q); });
    (call(a), ...);
}
""")
        self.assert_passes(self.check("check-shape"))

    def test_tests_may_join_statements(self):
        self.write("src/model/job_test.cc", SPDX + "int a = 0, b = 1;\n")
        self.assert_passes(self.check("check-shape"))


@unittest.skipUnless(shutil.which("clang-tidy-19"), "clang-tidy-19 is not installed")
class Complexity(fixture.TreeTest):
    LIST = "tools/above_limits.txt"

    def setUp(self):
        super().setUp()
        self.module("model", "PURE", job="int job();")
        file = str(self.root / "src/model/job.cc")
        command = {"directory": str(self.root), "command": f"c++ -c {file}", "file": file}
        self.write("build/release/compile_commands.json", json.dumps([command]))

    def write_function(self, depth):
        """Each branch counts as deep as it lies: 1 + 2 + ... + depth."""
        body = "".join(f"if (a > {number}) " for number in range(depth))
        self.write("src/model/job.cc",
                   SPDX + f"int run(int a) {{\n    {body}return 1;\n    return 0;\n}}\n")

    def test_a_function_is_no_harder_to_follow_than_25(self):
        self.write_function(6)
        self.assert_passes(self.check("check-complexity"))
        self.write_function(7)
        self.assert_stops(self.check("check-complexity"),
                          "model/run: 28 of cognitive complexity, at most 25")
        self.write(self.LIST, "complexity model/run 28\n")
        self.assert_passes(self.check("check-complexity"))
        self.write_function(6)
        self.assert_stops(self.check("check-complexity"), "remove its line `complexity`")

    def test_a_program_may_use_the_module_beside_it(self):
        listing = (self.root / "src/model/CMakeLists.txt").read_text()
        self.write("src/model/CMakeLists.txt",
                   listing + "berth_program(model SOURCES main.cc USES model)\n")
        self.write("src/model/main.cc", SPDX + "int main() {}\n")
        self.assert_passes(self.check("check-complexity"))

    def test_what_it_cannot_read_is_a_finding(self):
        self.write("src/model/job.cc", SPDX + "int run(\n")
        self.assert_stops(self.check("check-complexity"), "says of")

    def test_so_is_a_name_for_a_text_that_is_gone(self):
        self.write("src/model/job.cc", SPDX + """#include <string>
#include <string_view>
char first(const std::string& text) {
    const std::string_view name = text.empty() ? "none" : text;
    return name[0];
}
""")
        self.assert_stops(self.check("check-complexity"), "will be destroyed")

    def test_where_nothing_is_configured_it_says_that_it_skips(self):
        (self.root / "build/release/compile_commands.json").unlink()
        self.assertEqual(self.check("check-complexity")[0], 77)


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Commits(fixture.TreeTest):
    WHY = "Because."

    def setUp(self):
        super().setUp()
        self.git("init", "--quiet", "repository")
        self.root /= "repository"
        self.commit("long before " * 9, "")
        _, self.base = self.git("rev-parse", "HEAD")

    def git(self, *arguments):
        return self.run_command("git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments)

    def commit(self, subject, body):
        text = f"{subject}\n\n{body}"
        self.assert_passes(self.git("commit", "--quiet", "--allow-empty", "-m", text))

    def check_commits(self):
        return self.check("check-commits", "--base", self.base.strip())

    def test_a_subject_of_72_columns_with_a_body_passes_whatever_was_before(self):
        self.commit("x" * 72, self.WHY)
        self.assert_passes(self.check_commits())

    def test_a_long_subject_is_named(self):
        self.commit("x" * 73, self.WHY)
        self.assert_stops(self.check_commits(), "a subject of 73 columns, at most 72: xxx")

    def test_a_commit_says_why(self):
        self.commit("core: a change", "")
        self.assert_stops(self.check_commits(), "has no body that says why: core: a change")

    def test_where_the_history_is_not_there_it_says_that_it_skips(self):
        self.commit("core: a change", "")
        self.git("clone", "--quiet", "--depth", "1", f"file://{self.root}", "../shallow")
        (self.root.parent / "plain").mkdir()
        cases = {"shallow": "the history does not reach back", "plain": "not a git repository"}
        for folder, words in cases.items():
            with self.subTest(folder):
                self.root = self.root.parent / folder
                code, said = self.check_commits()
                self.assertEqual(code, 77, said)
                self.assertIn("skipped: ", said)
                self.assertIn(words, said)


class Text(fixture.TreeTest):
    LIST = ("word zaps|zapped : pauses\nword once more : again\n"
            "term Likeness : shape\nname hunt : RoomQuery\n")

    def list_words(self, left=""):
        self.write("tools/banned-words.txt", self.LIST + left)

    def test_a_banned_word_is_found_in_comments_texts_and_documents(self):
        self.list_words()
        for path, text in {
            "src/model/job.h": "int job();  // Zapped\n",
            "src/model/job.cc": 'const char* a = "a job zaps";\n',
            "docs/concepts.md": "A job is zapped.\n",
            "tests/scenarios/a.scn": "# a wait once\n# more\n",
            "README.md": "zapped\n",
        }.items():
            with self.subTest(path):
                self.write(path, text)
                self.assert_stops(self.check("check-text"), f"{path}:1: ")
                (self.root / path).unlink()

    def test_the_finding_says_what_to_write(self):
        self.list_words()
        self.write("docs/concepts.md", "\nZapped.\n")
        self.assert_stops(self.check("check-text"),
                          'docs/concepts.md:2: "Zapped": write pauses')

    def test_a_term_is_banned_as_it_is_written_and_a_name_in_the_code_of_the_core(self):
        self.list_words()
        self.write("src/model/job.cc", "int hunt;  // in all likeness\n")
        self.write("src/cluster/job.cc", 'int hunter;  // a hunt\nconst char* a = "hunt";\n')
        self.assert_passes(self.check("check-text"))
        self.write("src/cluster/job.cc", "// a comment\n\nint hunt;\n")
        self.assert_stops(self.check("check-text"), "src/cluster/job.cc:3: \"hunt\"")
        self.write("src/cluster/job.cc", "Likeness a;\n")
        self.assert_stops(self.check("check-text"), "src/cluster/job.cc:1: \"Likeness\"")

    def test_a_name_that_another_program_gave_is_not_counted(self):
        self.list_words("theirs `zapped` : a name of Kubernetes\n")
        self.write("docs/concepts.md", "Kubernetes says `zapped`.\n")
        self.assert_passes(self.check("check-text"))
        self.write("docs/concepts.md", "Kubernetes says `zapped`: zapped.\n")
        self.assert_stops(self.check("check-text"), "docs: 1 banned words, at most 0")

    def test_a_folder_has_as_many_as_it_is_allowed_and_no_more_or_less(self):
        self.write("src/cli/pages/job.h", "// zapped, zapped\n")
        self.list_words("left 1 src/cli\n")
        self.assert_stops(self.check("check-text"), "src/cli: 2 banned words, at most 1")
        self.list_words("left 2 src/cli\n")
        self.assert_passes(self.check("check-text"))
        self.list_words("left 3 src/cli\n")
        self.assert_stops(self.check("check-text"), "src/cli: 2 banned words, "
                          "tools/banned-words.txt says 3: lower it")

    def test_history_and_inputs_of_fuzzing_keep_their_words(self):
        self.list_words()
        self.write("CHANGELOG.md", "zapped\n")
        self.write("docs/adr/0001-words.md", "zapped\n")
        self.write("tests/corpus/scenario.inputs", "zapped\n")
        self.assert_passes(self.check("check-text"))

    def test_lowering_never_raises_a_number(self):
        self.write("src/cli/job.h", "// zapped\n")
        self.write("src/api/job.h", "// zapped, zapped\n")
        self.list_words("left 3 src/cli\nleft 1 src/api\nleft 7 src/gone\n")
        self.check("check-text", "--lower")
        lines = (self.root / "tools/banned-words.txt").read_text().splitlines()
        self.assertEqual([line for line in lines if line.startswith("left ")],
                         ["left 1 src/api", "left 1 src/cli"])


class Docs(fixture.TreeTest):
    ADR = "# 0001: words\n\n## Context\n\n## Decision\n\n## Consequences\n\n## Alternatives\n"

    def test_documents_in_form_pass(self):
        self.write("README.md", "# Berth\n\n```\n# not a title [x](gone)\n```\n[a](docs/a.md#b)\n")
        self.write("docs/a.md", "# A\n\n[web](https://example.com) [back](../README.md)\n")
        self.write("docs/adr/0001-words.md", self.ADR)
        self.write("CHANGELOG.md",
                   "# Changes\n\n## [Unreleased]\n\n### Added\n\n## [0.1.0] - 2025-01-31\n")
        self.assert_passes(self.check("check-docs"))

    def test_what_is_out_of_form(self):
        changelog = "# Changes\n\n## [Unreleased]\n"
        cases = [
            ("a.md", "no title\n", "has 0 titles"),
            ("a.md", "# One\n# Two\n", "has 2 titles"),
            ("a.md", "# One\n[x](gone.md)\n", "a.md:2: link to gone.md"),
            ("CHANGELOG.md", "# Changes\n\n## 1.0\n", "the first version is ## [Unreleased]"),
            ("CHANGELOG.md", changelog + "## 1.0\n", "a version is"),
            ("CHANGELOG.md", changelog + "### News\n", "News is none of"),
            ("docs/architecture.md", "# A\n\n| 3 pure | `ports` | x |\n", "ports, level 3, pure: "),
            ("docs/adr/one.md", self.ADR, "an ADR is named"),
            ("docs/adr/0002-two.md", self.ADR, "the title starts with # 0002: "),
            ("docs/adr/0001-one.md", "# 0001: a\n\n## Context\n", "sections are"),
            ("docs/adr/0001-one.md", self.ADR + "\n" * 60, "longer than a page"),
        ]
        for path, text, words in cases:
            with self.subTest(words):
                self.write(path, text)
                self.assert_stops(self.check("check-docs"), words)
                (self.root / path).unlink()


if __name__ == "__main__":
    unittest.main()
