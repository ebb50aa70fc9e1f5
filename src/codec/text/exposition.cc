// SPDX-License-Identifier: Apache-2.0
#include "codec/text/exposition.h"

namespace berth::codec {
namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\n') {
            out += "\\n";
            continue;
        }
        if (letter == '"' || letter == '\\') out += '\\';
        out += letter;
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
