# SPDX-License-Identifier: Apache-2.0
"""What berth_module(), berth_program() and berth_test() make of a folder."""
import unittest

import fixture

CASE = '#include <doctest/doctest.h>\nTEST_CASE("counts") { CHECK(1 + 1 == 2); }\n'


class Modules(fixture.TreeTest):
    def ctest(self, *options):
        return self.run_command("ctest", "--test-dir", "build", "--output-on-failure", *options)

    def test_each_test_file_is_a_ctest_of_its_own(self):
        self.module("base", "PURE TESTS text_test.cc", text="int text(); int text() { return 1; }")
        self.write("src/base/text_test.cc", CASE)
        self.assert_passes(self.build("base_test"))
        self.assert_passes(self.ctest("-R", "unit.base.text", "--no-tests=error"))

    def test_a_test_in_a_folder_of_its_module_is_named_by_it(self):
        self.module("base", "PURE TESTS words/text_test.cc",
                    text="int text(); int text() { return 1; }")
        self.write("src/base/words/text_test.cc", CASE)
        self.assert_passes(self.build("base_test"))
        self.assert_passes(self.ctest("-R", r"unit\.base\.words\.text", "--no-tests=error"))

    def test_a_test_file_without_a_case_fails(self):
        self.module("base", "PURE TESTS text_test.cc", text="int text(); int text() { return 1; }")
        self.write("src/base/text_test.cc", "#include <doctest/doctest.h>\n")
        self.assert_passes(self.build("base_test"))
        self.assert_stops(self.ctest("-R", "unit.base.text"), "0% tests passed")

    def test_a_warning_is_an_error_for_developers_alone(self):
        self.module("base", "PURE", text="int text(long a); int text(long a) { return a; }")
        self.assert_passes(self.build("berth_base"))
        self.run_command("cmake", "-B", "build", "-DBERTH_WERROR=ON")
        self.assert_stops(self.run_command("cmake", "--build", "build"), "conversion")

    def test_a_module_is_skipped_while_one_it_uses_is_missing(self):
        self.module("model", "PURE USES base", job="int job();")
        outcome = self.configure()
        self.assert_passes(outcome)
        self.assertIn("skipped: model uses base, which is not here yet", outcome[1])

    def test_a_program_may_use_adapters_and_lands_in_bin(self):
        self.module("ports", "")
        self.module("adapters/sqlite", "USES ports", store="int store(); int store() { return 0; }")
        self.write("src/app/CMakeLists.txt",
                   "berth_program(berth SOURCES main.cc USES adapters/sqlite)\n")
        self.write("src/app/main.cc", "int store();\nint main() { return store(); }\n")
        self.assert_passes(self.build("programs"))
        self.assert_passes(self.run_command("build/bin/berth"))

    def test_tests_above_the_modules_may_use_several_adapters(self):
        self.module("adapters/sqlite", "", store="int store(); int store() { return 0; }")
        self.module("adapters/process", "", launch="int launch(); int launch() { return 0; }")
        self.write("tests/CMakeLists.txt", "berth_test(contract SOURCES store_test.cc "
                   "USES adapters/sqlite adapters/process)\n")
        self.write("tests/store_test.cc", CASE)
        self.assert_passes(self.build("all"))
        self.assert_passes(self.ctest("-R", "contract.store", "--no-tests=error"))

    def test_sanitizers_bite(self):
        self.module("base", "PURE", text="int text(int i); int text(int i) { return 1 << i; }")
        self.write("src/app/CMakeLists.txt", "berth_program(berth SOURCES main.cc USES base)\n")
        self.write("src/app/main.cc", "int text(int);\nint main() { return text(99) == 0; }\n")
        self.assert_passes(self.configure())
        self.assert_passes(self.run_command("cmake", "-DBERTH_SANITIZE=address,undefined", "build"))
        self.assert_passes(self.run_command("cmake", "--build", "build", "--target", "berth"))
        self.assert_stops(self.run_command("build/bin/berth"), "shift exponent 99 is too large")


if __name__ == "__main__":
    unittest.main()
