# SPDX-License-Identifier: Apache-2.0
"""A module that uses what it may not stops the configuration, the link or the include check."""
import unittest

import fixture


class Layering(fixture.TreeTest):
    def test_a_tree_that_keeps_the_rules_configures(self):
        self.module("base", "PURE", text="int text() { return 1; }")
        self.module("model", "PURE USES base", job="int text(); int job() { return text(); }")
        self.module("ports", "USES base model")
        self.module("adapters/sqlite", "USES ports", store="int store() { return 1; }")
        self.assert_passes(self.configure())

    def test_an_upward_use_stops_the_configuration(self):
        self.module("model", "PURE USES scheduling", job="int job();")
        self.assert_stops(self.configure(), "layering: model may not use scheduling")

    def test_a_use_of_the_same_level_stops_the_configuration(self):
        self.module("scheduling", "PURE USES lifecycle", cycle="int cycle();")
        self.assert_stops(self.configure(), "layering: scheduling may not use lifecycle")

    def test_an_adapter_may_not_use_an_adapter(self):
        self.module("adapters/process", "USES adapters/sqlite", launch="int launch();")
        self.assert_stops(self.configure(),
                          "layering: adapters/process may not use adapters/sqlite")

    def test_a_module_outside_the_list_stops_the_configuration(self):
        self.module("base", "PURE USES magic", text="int text();")
        self.assert_stops(self.configure(), "layering: base uses magic, which is not in")

    def test_a_pure_module_that_does_not_say_so_stops_the_configuration(self):
        self.module("base", "", text="int text();")
        self.assert_stops(self.configure(), "says base is pure; write PURE")

    def test_an_impure_module_cannot_call_itself_pure(self):
        self.module("ports", "PURE")
        self.assert_stops(self.configure(), "purity: ports says PURE")

    def test_a_symbol_of_an_undeclared_module_does_not_link(self):
        self.module("base", "PURE", text="int text() { return 1; }")
        self.module("model", "PURE USES base",
                    job="int decide(); int job(); int job() { return decide(); }")
        self.module("cluster", "PURE USES base", decide="int decide(); int decide() { return 1; }")
        self.assert_stops(self.build("link_model"), "decide()")

    def test_a_header_only_module_has_headers_that_stand_alone(self):
        self.module("base", "PURE", text="int text(); int text() { return 1; }")
        self.module("ports", "USES base")
        self.write("src/ports/clock.h", "#pragma once\nstd::string now();\n")
        self.assert_stops(self.build("link_ports"), "clock.h")

    def test_an_adapters_target_carries_its_folders_name(self):
        self.module("ports", "")
        self.module("adapters/sqlite", "USES ports", store="int store(); int store() { return 1; }")
        self.assert_passes(self.build("berth_adapters_sqlite", "link_adapters_sqlite"))


class Includes(fixture.TreeTest):
    def setUp(self):
        super().setUp()
        self.module("base", "PURE", text='#include "base/text.h"')
        self.write("src/base/text.h", "#pragma once\n")

    def test_declared_includes_pass(self):
        self.module("model", "PURE USES base", job='#include "base/text.h"')
        self.assert_passes(self.check("check-includes"))

    def test_an_undeclared_module_is_named_with_file_and_line(self):
        self.module("model", "PURE USES base", job='#include "scheduling/reclaim.h"')
        self.assert_stops(self.check("check-includes"),
                          "src/model/job.cc:2: model may not include scheduling/")

    def test_an_adapter_is_known_by_two_segments(self):
        self.module("adapters/process", "USES base", launch='#include "adapters/sqlite/store.h"')
        self.assert_stops(self.check("check-includes"), "may not include adapters/sqlite/")

    def test_folders_of_a_module_do_not_include_each_other_in_a_circle(self):
        self.write("src/base/low/word.h", "#pragma once\n")
        self.write("src/base/high/page.h", '#pragma once\n#include "base/low/word.h"\n')
        self.assert_passes(self.check("check-includes"))
        self.write("src/base/low/word.h", '#pragma once\n#include "base/high/page.h"\n')
        self.assert_stops(self.check("check-includes"),
                          "src/base/low/word.h:2: base/low and base/high include each other")

    def test_tests_and_files_beside_the_folders_may(self):
        self.write("src/base/text.h", '#pragma once\n#include "base/low/word.h"\n')
        self.write("src/base/low/word.h", '#pragma once\n#include "base/text.h"\n')
        self.write("src/base/high/page.h", '#pragma once\n#include "base/low/word.h"\n')
        self.write("src/base/low/word_test.cc", '#include "base/high/page.h"\n')
        self.assert_passes(self.check("check-includes"))

    def test_a_path_outside_the_modules_is_refused(self):
        self.module("model", "PURE USES base", job='#include "job.h"')
        self.assert_stops(self.check("check-includes"), '"job.h" does not start with a module')

    def test_yaml_is_included_by_codec_alone(self):
        self.module("api", "USES base", jobs="#include <yaml-cpp/yaml.h>")
        self.assert_stops(self.check("check-includes"), "belongs to codec alone")

    def test_a_pure_module_includes_nothing_that_looks_outside(self):
        self.module("model", "PURE USES base", job="#include <thread>")
        self.assert_stops(self.check("check-includes"), "may not include <thread>")

    def test_a_source_includes_its_own_header_first(self):
        self.module("model", "PURE USES base", job='#include "base/text.h"\n#include "model/job.h"')
        self.write("src/model/job.h", "#pragma once\n")
        self.assert_stops(self.check("check-includes"), 'includes its own "model/job.h" first')


if __name__ == "__main__":
    unittest.main()
