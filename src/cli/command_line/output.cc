// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/output.h"

#include <algorithm>

#include "cli/terminal/yaml_text.h"
#include "codec/text/json.h"
#include "model/limits.h"

namespace berth::cli {
namespace {

constexpr std::size_t kInlineMax = 72;

// Behind the closing quote of the string that starts at `start`.
std::size_t string_end(std::string_view json, std::size_t start) {
    std::size_t i = start + 1;
    while (i < json.size() && json[i] != '"') i += json[i] == '\\' ? 2 : 1;
    return std::min(i + 1, json.size());
}

// Behind the bracket that closes the one at `start`, when nothing is nested in it and it is short
// enough for one line; else npos.
std::size_t short_end(std::string_view json, std::size_t start) {
    for (std::size_t i = start + 1; i < json.size() && i - start < kInlineMax;) {
        const char c = json[i];
        if (c == '{' || c == '[') return json.npos;
        if (c == '}' || c == ']') return i + 1;
        i = c == '"' ? string_end(json, i) : i + 1;
    }
    return json.npos;
}

// The text of a document with what steers a terminal escaped. Outside of quotes none of it stands
// but newlines.
std::string escaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t control = model::control_length(text.substr(i));
        if (control < 2) {
            out += text[i++];
            continue;
        }
        unsigned point = static_cast<unsigned char>(text[i]) & (control == 2 ? 0x1fU : 0x0fU);
        for (std::size_t k = 1; k < control; ++k) point = point << 6 | (text[i + k] & 0x3fU);
        out += "\\u";
        for (const unsigned shift : {12U, 8U, 4U, 0U})
            out += "0123456789abcdef"[point >> shift & 15];
        i += control;
    }
    return out;
}

// Flat JSON on one line, a space behind each comma and colon.
std::string spaced(std::string_view json) {
    std::string out;
    for (std::size_t i = 0; i < json.size(); ++i) {
        if (json[i] == '"') {
            const std::size_t end = string_end(json, i);
            out += json.substr(i, end - i);
            i = end - 1;
        } else if (json[i] > ' ') {
            out += json[i];
            if (json[i] == ',' || json[i] == ':') out += ' ';
        }
    }
    return out;
}

}  // namespace

OutputForm form_wanted(const Arguments& arguments, bool has_quiet) {
    const std::string form = arguments.text("output");
    if (arguments.has("json") || form == "json" || form == "yaml") return OutputForm::Document;
    if ((has_quiet && arguments.has("quiet")) || form == "name") return OutputForm::Name;
    if (form == "csv") return OutputForm::Csv;
    return form == "wide" ? OutputForm::Wide : OutputForm::Table;
}

bool wants_document(const Arguments& arguments) {
    const std::string form = arguments.text("output");
    return arguments.has("json") || form == "json" || form == "yaml";
}

void print_table(const Context& context, const Table& table, OutputForm form,
                 const std::vector<std::string>& names) {
    std::string text;
    if (form == OutputForm::Name) {
        for (const std::string& name : names) text += printable(name) + "\n";
    } else if (form == OutputForm::Csv) {
        text = table.csv();
    } else if (form == OutputForm::Wide) {
        text = table.render_unbounded(context.out);
    } else {
        text = table.render(context.out);
    }
    print(text);
}

void print_document(const Arguments& arguments, std::string_view json) {
    const bool as_yaml = !arguments.has("json") && arguments.text("output") == "yaml";
    if (as_yaml) {
        if (const auto document = codec::parse_json(json, "answer")) {
            return print("---\n" + escaped(yaml_text(*document)));
        }
    }
    print(indented_json(json));
}

// Works on the text, so that nothing the server wrote is lost or reordered.
std::string indented_json(std::string_view json) {
    std::string out;
    std::size_t depth = 0;
    const auto new_line = [&] { out += "\n" + std::string(depth * 2, ' '); };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (c == '"') {
            const std::size_t end = string_end(json, i);
            out += json.substr(i, end - i);
            i = end - 1;
        } else if (c == '{' || c == '[') {
            if (const std::size_t end = short_end(json, i); end != json.npos) {
                out += spaced(json.substr(i, end - i));
                i = end - 1;
                continue;
            }
            out += c;
            ++depth;
            new_line();
        } else if (c == '}' || c == ']') {
            if (depth > 0) --depth;
            new_line();
            out += c;
        } else if (c == ',') {
            out += c;
            new_line();
        } else if (c == ':') {
            out += ": ";
        } else if (c > ' ') {
            out += c;
        }
    }
    return escaped(out) + "\n";
}

}  // namespace berth::cli
