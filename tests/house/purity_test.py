# SPDX-License-Identifier: Apache-2.0
"""The archive of a pure module may not ask for the outside world, whichever way it is reached."""
import os
import unittest

import fixture

IMPURE = {
    "clock": "#include <chrono>\nlong f() "
             "{ return std::chrono::steady_clock::now().time_since_epoch().count(); }",
    "dice": "#include <random>\nunsigned f() { return std::random_device{}(); }",
    "file": '#include <fstream>\nbool f() { return std::ifstream("x").good(); }',
    "socket": "#include <sys/socket.h>\nint f() { return socket(1, 1, 0); }",
    "thread": "#include <thread>\nvoid f() { std::thread([] {}).join(); }",
    "environment": '#include <cstdlib>\nconst char* f() { return std::getenv("HOME"); }',
    "console": '#include <iostream>\nvoid f() { std::cout << "x"; }',
    "loader": '#include <dlfcn.h>\nvoid* f() { return dlopen("x", 1); }',
    "process": "#include <unistd.h>\nint f() { return fork(); }",
}
PURE = """
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <vector>
constexpr const char* kNames[] = {"one", "two"};
std::string f(const std::map<int, std::vector<std::string>>& words, std::chrono::seconds wait) {
    std::string joined = kNames[wait.count() % 2];
    for (const auto& word : words.at(1) | std::views::reverse) joined += word;
    std::ranges::sort(joined);
    return joined;
}
"""


class Purity(fixture.TreeTest):
    def judge(self, text, level="-O2"):
        self.write("file.cc", text + "\n")
        compiler = os.environ.get("CXX", "g++")
        self.assert_passes(self.run_command(compiler, "-std=c++20", level, "-c", "file.cc"))
        self.assert_passes(self.run_command("ar", "rcs", "file.a", "file.o"))
        return self.run_command(str(fixture.HOUSE / "tools/check-purity"), "file.a")

    def test_each_way_outside_is_found(self):
        for kind, text in IMPURE.items():
            with self.subTest(kind):
                self.assert_stops(self.judge(text), f"({kind})")

    def test_ordinary_computing_passes_optimised_or_not(self):
        self.assert_passes(self.judge(PURE, "-O2"))
        self.assert_passes(self.judge(PURE, "-O0"))

    def test_state_of_its_own_is_found(self):
        self.assert_stops(self.judge("int calls = 0;\nint f() { return ++calls; }"),
                          "writable global: calls")

    def test_a_static_inside_a_function_is_found(self):
        text = "int f() {\n    static int calls = 0;\n    return ++calls;\n}"
        self.assert_stops(self.judge(text), "writable global")

    def test_the_build_registers_the_check(self):
        self.module("base", "PURE", dice="#include <cstdlib>\nint f();\nint f() { return rand(); }")
        self.assert_passes(self.build("berth_base"))
        self.assert_stops(self.run_command("ctest", "--test-dir", "build", "-R", "purity.base",
                                           "--output-on-failure"), "references rand (dice)")


if __name__ == "__main__":
    unittest.main()
