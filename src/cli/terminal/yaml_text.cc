// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/yaml_text.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "codec/text/json_writer.h"

namespace berth::cli {
namespace {

using codec::Value;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Words without quotes that every reader of YAML takes for a text.
bool is_plain(std::string_view text) {
    static constexpr std::array<std::string_view, 9> kOther{"true", "false", "null", "yes", "no",
                                                            "on",   "off",   "y",    "n"};
    if (text.empty() || !is_letter(text.front()) || text.back() == ' ') return false;
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
    return std::ranges::find(kOther, lower) == kOther.end() &&
           std::ranges::all_of(text, [](char c) {
               return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '/' || c == '.' ||
                      c == ' ';
           });
}

std::string word(std::string_view text) {
    if (is_plain(text)) return std::string(text);
    std::string quoted;
    codec::append_json_string(quoted, text);
    return quoted;
}

void write(std::string& out, const Value& value, std::size_t depth);

// The value behind "name:" or "-"; `is_item` puts the first member of a map on the same line.
void write_nested(std::string& out, const Value& value, std::size_t depth, bool is_item) {
    const bool is_map = value.kind == Value::Kind::Map && !value.members.empty();
    const bool is_list = value.kind == Value::Kind::List && !value.items.empty();
    if (!is_map && !is_list) {
        out += ' ';
        return write(out, value, depth);
    }
    const std::size_t line_end = out.size();
    out += '\n';
    write(out, value, depth + 1);
    // "-" and the first line of its value share a line: the others are as deep anyway.
    if (is_item) out.replace(line_end, 1 + 2 * (depth + 1), " ");
}

void write(std::string& out, const Value& value, std::size_t depth) {
    const std::string indent(2 * depth, ' ');
    switch (value.kind) {
        case Value::Kind::Map:
            if (value.members.empty()) out += "{}\n";
            for (const auto& [name, member] : value.members) {
                out += indent + word(name) + ":";
                write_nested(out, member, depth, false);
            }
            return;
        case Value::Kind::List:
            if (value.items.empty()) out += "[]\n";
            for (const Value& item : value.items) {
                out += indent + "-";
                write_nested(out, item, depth, true);
            }
            return;
        case Value::Kind::Null: out += "null\n"; return;
        case Value::Kind::String: out += word(value.text) + "\n"; return;
        case Value::Kind::Bool:
        case Value::Kind::Number: out += value.text + "\n"; return;
    }
}

}  // namespace

std::string yaml_text(const Value& document) {
    std::string out;
    write(out, document, 0);
    return out;
}

}  // namespace berth::cli
