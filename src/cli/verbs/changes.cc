// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/changes.h"

#include <map>

#include "base/quantity.h"
#include "cli/command_line/context.h"

namespace berth::cli {
namespace {

Outcome<std::map<std::string, std::string>> entries_of(const Arguments& arguments,
                                                       std::string_view flag) {
    std::map<std::string, std::string> entries;
    for (const std::string& text : arguments.all(flag)) {
        for (const std::string_view part : split_words(text, ',')) {
            const std::size_t equals = part.find('=');
            if (equals == std::string_view::npos || equals == 0) {
                return bad_usage("--" + std::string(flag) + ": wanted KEY=VALUE, or KEY= to " +
                                 "remove it, found \"" + std::string(part) + "\"");
            }
            entries[std::string(part.substr(0, equals))] = part.substr(equals + 1);
        }
    }
    return entries;
}

}  // namespace

Success add_map(codec::JsonWriter& json, const Arguments& arguments, std::string_view flag,
                MapOf values) {
    if (!arguments.has(flag)) return {};
    const auto entries = entries_of(arguments, flag);
    if (!entries) return tl::unexpected(entries.error());
    json.key(flag).begin_object();
    for (const auto& [key, value] : *entries) {
        json.text_key(key);
        if (value.empty()) {
            json.null();
        } else if (values == MapOf::Texts) {
            json.string(value);
        } else {
            const auto number = base::parse_thousandths(value);
            if (!number) {
                return bad_usage("--" + std::string(flag) + ": wanted a number such as 1 or 0.5 " +
                                 "behind " + key + "=, found \"" + value + "\"");
            }
            json.raw(base::format_thousandths(*number));
        }
    }
    json.end_object();
    return {};
}

void add_strict(codec::JsonWriter& json, const Arguments& arguments) {
    if (!arguments.has(kStrictFlag.name)) return;
    json.key(kStrictFlag.fields).raw(arguments.text(kStrictFlag.name) == "yes" ? "true" : "false");
}

void print_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) print_notice(printable("note: " + note) + "\n");
}

}  // namespace berth::cli
