// SPDX-License-Identifier: Apache-2.0
#include "codec/text/json.h"

#include <doctest/doctest.h>

#include <string>

#include "base/rng.h"
#include "codec/text/json_reader.h"
#include "codec/text/json_writer.h"

using namespace berth;

namespace {

std::string again(const base::Result<codec::Value>& value) {
    if (!value) return value.error().message;
    std::string text;
    codec::append_json(text, *value);
    return text;
}

}  // namespace

TEST_CASE("a zero byte that others have written is read as a character of its own") {
    const std::string text = R"({"a\u0000": "b\u0000c"})";
    berth::codec::JsonReader reader(text, berth::codec::JsonReader::Zero::Replaced);
    std::string_view key;
    reader.begin_object();
    REQUIRE(reader.next_key(key));
    CHECK(key == "a\xef\xbf\xbd");
    CHECK(reader.read_string() ==
          "b\xef\xbf\xbd"
          "c");
    CHECK_FALSE(reader.next_key(key));
    CHECK_FALSE(reader.is_failed());
}

TEST_CASE("JSON is taken exactly as RFC 8259 has it") {
    for (const char* text :
         {"null", "true", "0", "-0", "0.5", "-1.5e+30", "1E2", "\"\"", "[]", "{}", "[[],{}]",
          "\"\\u0001\"", "\"a\\\\b\"", "{\"\":1}", "[1,2,3]", "\"\xf0\x9f\x9a\x80\"", "\"\\u007f\"",
          "{\"a\":{\"b\":[true,false,null]}}"}) {
        CHECK(again(codec::parse_json(text, "f")) == text);
    }
    CHECK(again(codec::parse_json(" [ 1 , \"\\u0041\\/\" ]\r\n\t", "f")) == R"([1,"A/"])");
    CHECK(again(codec::parse_json(R"("\ud83d\ude80 \ud83d x")", "f")) ==
          "\"\xf0\x9f\x9a\x80 \xef\xbf\xbd x\"");
    for (const char* text : {"",
                             " ",
                             "nul",
                             "truex",
                             "01",
                             "1.",
                             ".5",
                             "+1",
                             "-",
                             "1e",
                             "0x1",
                             "NaN",
                             "\"",
                             "\"\\x\"",
                             "\"\\u12\"",
                             "\"\\u12g4\"",
                             "\"\\u0000\"",
                             "\"\n\"",
                             "[1,]",
                             "[,1]",
                             "[1 2]",
                             "[1",
                             "]",
                             "{\"a\":1,}",
                             "{a:1}",
                             "{\"a\"}",
                             "{\"a\":}",
                             "{1:2}",
                             "{\"a\":1 \"b\":2}",
                             "1 2",
                             "[1]]",
                             "{\"a\":1,\"a\":2}",
                             "'a'",
                             "// x\n1",
                             "\"\\"}) {
        CAPTURE(text);
        CHECK_FALSE(codec::parse_json(text, "f").has_value());
    }
}

TEST_CASE("any bytes survive a JSON string, and the text is valid UTF-8") {
    base::Rng rng(5);
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes(rng.index(12), ' ');
        for (char& byte : bytes) byte = static_cast<char>(rng.between(1, 255));
        std::string text;
        codec::append_json_string(text, bytes);
        codec::JsonReader reader(text);
        REQUIRE(reader.read_string() == bytes);
        for (std::size_t place = 0; place < text.size();) {
            const std::size_t length = codec::utf8_length(std::string_view(text).substr(place));
            REQUIRE(length > 0);
            place += length;
        }
    }
}

TEST_CASE("a string ends where it ends, however it lies in memory") {
    for (std::size_t before = 0; before < 20; ++before) {
        for (std::size_t inside = 0; inside < 20; ++inside) {
            CAPTURE(before);
            CAPTURE(inside);
            const std::string padding(before, ' ');
            const std::string content = std::string(inside, 'x') + "\xc3\xa4";
            const std::string text = padding + '"' + content + "\" , 1";
            codec::JsonReader plain(text);
            CHECK(plain.read_text() == content);
            const std::string escaped = padding + '"' + content + "\\n" + content + '"';
            codec::JsonReader reader(escaped);
            CHECK(reader.read_text() == content + "\n" + content);
            const std::string broken = padding + '"' + content + "\x1f" + content + '"';
            codec::JsonReader refused(broken);
            CHECK(refused.read_text().empty());
            CHECK(refused.error() == "line 1: control character in a string");
            codec::JsonReader open(std::string_view(text).substr(0, before + 1 + inside));
            open.read_text();
            CHECK(open.error() == "line 1: a string is not closed");
        }
    }
}

TEST_CASE("what is passed over ends with its last bracket") {
    for (const char* value :
         {"{}", "[]", "1.5", "true", "null", "\"a\"", "{\"a\":[{}, \"}\", 1]}", "[[[\"]]]\"]]]",
          "{\"\\\"}\":\"\\\\\"}", "[\"a long text: {[ \\u0000\"]"}) {
        CAPTURE(value);
        const std::string text = "[" + std::string(value) + ", 7]";
        codec::JsonReader reader(text);
        reader.begin_array();
        REQUIRE(reader.next_element());
        reader.pass_over();
        REQUIRE(reader.next_element());
        CHECK(reader.read_int() == 7);
        CHECK_FALSE(reader.next_element());
        reader.finish();
        CHECK_MESSAGE(!reader.is_failed(), reader.error());
    }
    for (const char* text : {"{", "[\"]", "[\"\\", "{\"a\":[}", ""}) {
        CAPTURE(text);
        codec::JsonReader reader(text);
        reader.pass_over();
        CHECK(reader.is_failed());
    }
}

TEST_CASE("a hostile text is refused, not followed") {
    for (const std::string opening : {"[", "{\"a\":", "- ", "[{\"a\":", "? "}) {
        std::string text;
        for (int i = 0; i < 50'000; ++i) text += opening;
        CHECK_FALSE(codec::parse_json(text, "f").has_value());
        CHECK_FALSE(codec::parse_yaml(text, "f").has_value());
        CHECK_FALSE(codec::parse_yaml("a: " + text, "f").has_value());
    }
    // Aliases of aliases: 10^9 values if followed.
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 9; ++i) {
        const std::string before = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
        for (int k = 0; k < 10; ++k) bomb += before + (k < 9 ? ", " : "]\n");
    }
    CHECK(codec::parse_yaml(bomb, "f").error().message.find("too many values") !=
          std::string::npos);
    CHECK_FALSE(codec::parse_yaml("a: &a [*a]", "f").has_value());
}

TEST_CASE("a map may have any number of names, and each is compared with few others") {
    std::string wide = "{\"k0\":1";
    for (int i = 1; i < 300'000; ++i) wide += ",\"k" + std::to_string(i) + "\":1";
    const auto all = codec::parse_json(wide + "}", "f");
    REQUIRE(all.has_value());
    CHECK(all->members.size() == 300'000);
    CHECK(codec::parse_json(wide + ",\n\"k0\":1}", "f").error().message ==
          "f:2: \"k0\" is given twice");
    CHECK(codec::parse_yaml("a: 1\nb: 2\na: 3", "f").error().message ==
          "f:3: \"a\" is given twice");
}

TEST_CASE("an alias stands for what its anchor names, also as a name") {
    CHECK(again(codec::parse_yaml("a: &x [1, {b: ~}]\nc: *x\nd: &y e\n*y : 2", "f")) ==
          R"({"a":[1,{"b":null}],"c":[1,{"b":null}],"d":"e","e":2})");
    CHECK(codec::parse_yaml("a: &x [1]\n*x : 2", "f").error().message ==
          "f:1: wanted a name before the colon");
    CHECK(codec::parse_yaml("a: 1\nb: &x {c: *x}", "f").error().message == "f:2: nested too deep");
}

TEST_CASE("YAML scalars follow the core schema") {
    CHECK(again(codec::parse_yaml("[no, on, 1, 1.5, 007, 0x1f, ~, '', '1', true, 12:30]", "f")) ==
          R"(["no","on",1,1.5,"007","0x1f",null,"","1",true,"12:30"])");
    CHECK(again(codec::parse_yaml("a: b\n---\nc: d", "f")) ==
          "f:2: wanted one document, found another one");
    CHECK(again(codec::parse_yaml("a: 1\n b: 2\n", "f")).starts_with("f:2: "));
}
