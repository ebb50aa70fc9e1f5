// SPDX-License-Identifier: Apache-2.0
#include "codec/text/exposition.h"

#include <algorithm>

#include "codec/text/json_writer.h"

namespace berth::codec {
namespace {

// Of a byte that is no UTF-8 nothing can be read: one in its place says that it is there.
std::string escaped(std::string_view text) {
    constexpr std::string_view kUnreadable = "\xef\xbf\xbd";
    std::string out;
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        if (text[0] == '\n') {
            out += "\\n";
        } else if (length == 0) {
            out += kUnreadable;
        } else {
            if (text[0] == '"' || text[0] == '\\') out += '\\';
            out += text.substr(0, length);
        }
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

}  // namespace

void Exposition::metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP " + name_ + " " + std::string(help) + "\n";
    text_ += "# TYPE " + name_ + " " + std::string(type) + "\n";
}

void Exposition::sample(std::string_view value) {
    text_ += name_ + " " + std::string(value) + "\n";
}

void Exposition::sample(std::int64_t value) { sample(std::to_string(value)); }

void Exposition::sample(std::string_view label, std::string_view of, std::string_view value) {
    text_ +=
        name_ + "{" + std::string(label) + "=\"" + escaped(of) + "\"} " + std::string(value) + "\n";
}

void Exposition::sample(std::string_view label, std::string_view of, std::int64_t value) {
    sample(label, of, std::to_string(value));
}

}  // namespace berth::codec
