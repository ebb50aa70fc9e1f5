// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

namespace berth::cli {

Form form_wanted(const Arguments& arguments, bool has_quiet) {
    const std::string form = arguments.text("output");
    if (arguments.has("json") || form == "json") return Form::Json;
    if ((has_quiet && arguments.has("quiet")) || form == "name") return Form::Name;
    if (form == "csv") return Form::Csv;
    return form == "wide" ? Form::Wide : Form::Table;
}

bool wants_json(const Arguments& arguments) {
    return arguments.has("json") || arguments.text("output") == "json";
}

void print_table(const Context& context, const Table& table, Form form,
                 const std::vector<std::string>& names) {
    std::string text;
    if (form == Form::Name) {
        for (const std::string& name : names) text += printable(name) + "\n";
    } else if (form == Form::Csv) {
        text = table.csv();
    } else if (form == Form::Wide) {
        text = table.render_unbounded(context.out);
    } else {
        text = table.render(context.out);
    }
    print(text);
}

void print_json(std::string_view json) { print(indented_json(json)); }

// Works on the text, so that nothing the server wrote is lost or reordered.
std::string indented_json(std::string_view json) {
    std::string out;
    std::size_t depth = 0;
    bool in_string = false;
    const auto new_line = [&] { out += "\n" + std::string(depth * 2, ' '); };
    for (std::size_t i = 0; i < json.size(); ++i) {
        const char c = json[i];
        if (in_string) {
            out += c;
            if (c == '\\' && i + 1 < json.size()) out += json[++i];
            in_string = c != '"';
            continue;
        }
        switch (c) {
            case ' ':
            case '\t':
            case '\r':
            case '\n': break;
            case '"': out += c, in_string = true; break;
            case ',': out += c, new_line(); break;
            case ':': out += ": "; break;
            case '{':
            case '[': {
                const std::size_t next = json.find_first_not_of(" \t\r\n", i + 1);
                const bool is_empty = next != json.npos && (json[next] == '}' || json[next] == ']');
                out += c;
                if (is_empty) {
                    out += json[next];
                    i = next;
                } else {
                    ++depth;
                    new_line();
                }
                break;
            }
            case '}':
            case ']':
                if (depth > 0) --depth;
                new_line();
                out += c;
                break;
            default: out += c;
        }
    }
    return out + "\n";
}

}  // namespace berth::cli
