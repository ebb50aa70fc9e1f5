// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/table.h"

#include <doctest/doctest.h>

#include "cli/command_line/output.h"
#include "cli/terminal/yaml_text.h"
#include "codec/text/json.h"

namespace berth::cli {
namespace {

constexpr Style kAsciiStyle{.width = 24};
constexpr Style kRichStyle{.is_terminal = true, .colour = true, .unicode = true, .width = 24};

Table sample_table() {
    Table table({{.title = "ID", .align = Align::Right},
                 {.title = "NAME", .worth = 1, .width_min = 6},
                 {.title = "WHY", .worth = 1, .width_min = 6}});
    table.add_row({"7", "llama", "runs"});
    table.add_row({"1042", "bert-large-uncased", {"waits for two whole nodes", Tone::Bad}});
    return table;
}

}  // namespace

TEST_CASE("what turns or steers a terminal is escaped in documents") {
    CHECK(indented_json("[\"a\u202eb\u009b\u00e9\"]") == "[\"a\\u202eb\\u009b\u00e9\"]\n");
}

TEST_CASE("a table is cut to the width, in proportion to what columns are worth") {
    CHECK(sample_table().render(kAsciiStyle) ==
          "  ID  NAME      WHY\n"
          "   7  llama     runs\n"
          "1042  bert-...  waits...\n");
    Style wide = kAsciiStyle;
    wide.width = 40;
    CHECK(sample_table().render(wide) ==
          "  ID  NAME              WHY\n"
          "   7  llama             runs\n"
          "1042  bert-large-un...  waits for two...\n");
}

TEST_CASE("colour goes around the cut text and counts for nothing") {
    CHECK(sample_table().render(kRichStyle).find("\x1b[1;31mwaits f…\x1b[0m\n") !=
          std::string::npos);
}

TEST_CASE("no row ever has trailing spaces or is wider than asked") {
    for (int width = 20; width < 60; ++width) {
        Style style = kAsciiStyle;
        style.width = width;
        std::string_view text;
        const std::string rendered = sample_table().render(style);
        for (text = rendered; !text.empty(); text.remove_prefix(text.find('\n') + 1)) {
            const std::string_view row = text.substr(0, text.find('\n'));
            CHECK(display_width(row) <= std::max(width, 22));
            CHECK_FALSE(row.ends_with(' '));
        }
    }
}

TEST_CASE("csv has full values, quoted where needed") {
    Table table({{.title = "NAME"}, {.title = "WHY / PROGRESS"}});
    table.add_row({"a,b", "says \"no\""});
    CHECK(table.csv() == "name,why_progress\n\"a,b\",\"says \"\"no\"\"\"\n");
}

TEST_CASE("widths count what a terminal shows") {
    CHECK(display_width("abc") == 3);
    CHECK(display_width("Zürich") == 6);
    CHECK(display_width("学習") == 4);
    CHECK(display_width("e\u0301") == 1);
    CHECK(truncated("学習ジョブ", 5, "…") == "学習…");
    CHECK(truncated("short", 5, "...") == "short");
    CHECK(truncated("longer", 2, "...") == "lo");
}

TEST_CASE("text of users cannot steer the terminal") {
    CHECK(printable("a\x1b[31mb\nc\td\x7f") == "a?[31mb c d?");
    CHECK(printable("bad \xff utf8 \xc3") == "bad ? utf8 ?");
    CHECK(printable("Zürich") == "Zürich");
    CHECK(printable("a\u202eb\u009bc\u2066\ufeff") == "a?b?c??");
}

TEST_CASE("json is indented, short lists stay on one line") {
    CHECK(indented_json(R"({"a":[1,2],"b":{"c":"x,:{}\"","d":[{"e":1}]},"f":[]})") ==
          "{\n"
          "  \"a\": [1, 2],\n"
          "  \"b\": {\n"
          "    \"c\": \"x,:{}\\\"\",\n"
          "    \"d\": [\n"
          "      {\"e\": 1}\n"
          "    ]\n"
          "  },\n"
          "  \"f\": []\n"
          "}\n");
}

TEST_CASE("a document reads as yaml, and gives itself again") {
    const std::string json =
        R"({"a":[1,2.50],"b":{"c":"x: y","d":[{"e":1,"f":[[],{}]},[true,"true"]]},)"
        R"("g":"","h":null})";
    const auto document = codec::parse_json(json, "test");
    REQUIRE(document.has_value());
    const std::string text = yaml_text(*document);
    CHECK(text ==
          "a:\n"
          "  - 1\n"
          "  - 2.50\n"
          "b:\n"
          "  c: \"x: y\"\n"
          "  d:\n"
          "    - e: 1\n"
          "      f:\n"
          "        - []\n"
          "        - {}\n"
          "    - - true\n"
          "      - \"true\"\n"
          "g: \"\"\n"
          "h: null\n");
    std::string again;
    const auto read = codec::parse_yaml(text, "test");
    REQUIRE(read.has_value());
    codec::append_json(again, *read);
    CHECK(again == json);
}

}  // namespace berth::cli
