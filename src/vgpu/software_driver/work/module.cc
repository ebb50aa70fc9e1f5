// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/module.h"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace berth::vgpu::software_driver {
namespace {

// The PTX without comments, so that words in them count for nothing.
std::string without_comments(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        const bool is_line = text.starts_with("//");
        if (!is_line && !text.starts_with("/*")) {
            plain += text.front();
            text.remove_prefix(1);
            continue;
        }
        const auto end = is_line ? text.find('\n') : text.find("*/", 2);
        if (end == std::string_view::npos) break;
        text.remove_prefix(is_line ? end : end + 2);
        plain += ' ';
    }
    return plain;
}

bool is_word(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9') || letter == '_' || letter == '$' || letter == '.';
}

// The next word, of letters, digits and dots; or one other character.
std::string_view next_token(std::string_view& text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) {
        text = {};
        return {};
    }
    text.remove_prefix(first);
    std::size_t length = 0;
    while (length < text.size() && is_word(text[length])) ++length;
    if (length == 0) length = 1;
    const auto token = text.substr(0, length);
    text.remove_prefix(length);
    return token;
}

// Of ".u64" eight; 0 for what is no type.
std::size_t type_bytes(std::string_view token) {
    constexpr std::string_view kKinds = "bsuf";
    if (token.size() < 3 || token[0] != '.' || kKinds.find(token[1]) == std::string_view::npos)
        return 0;
    std::size_t bits = 0;
    const auto digits = token.substr(2);
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
    return error == std::errc{} && rest == digits.data() + digits.size() ? bits / 8 : 0;
}

// What stands between the parentheses behind an entry's name; nothing when it is cut short.
std::optional<std::vector<std::size_t>> read_parameters(std::string_view& text) {
    std::vector<std::size_t> bytes;
    std::size_t element = 0;
    for (;;) {
        const auto token = next_token(text);
        if (token.empty()) return std::nullopt;
        if (const std::size_t size = type_bytes(token); size != 0) element = size;
        if (token == "[") {
            std::size_t count = 0;
            const auto number = next_token(text);
            std::from_chars(number.data(), number.data() + number.size(), count);
            element *= count;
        }
        if ((token == "," || token == ")") && element != 0) {
            bytes.push_back(element);
            element = 0;
        }
        if (token == ")") return bytes;
    }
}

struct Known {
    std::string_view name;
    Behaviour behaviour;
    std::size_t parameters;
};
constexpr std::array<Known, 4> kKnown = {{{"berth_spin_ns", Behaviour::Spin, 1},
                                          {"berth_add1", Behaviour::Add1, 2},
                                          {"berth_fill", Behaviour::Fill, 3},
                                          {"berth_copy", Behaviour::Copy, 3}}};

Behaviour behaviour_of(const Entry& entry) {
    for (const Known& known : kKnown)
        if (entry.name == known.name && entry.parameter_bytes.size() == known.parameters)
            return known.behaviour;
    return Behaviour::TakesTime;
}

}  // namespace

std::vector<Entry> entries_of(std::string_view ptx) {
    const std::string plain = without_comments(ptx);
    std::string_view text = plain;
    if (next_token(text) != ".version") return {};
    std::vector<Entry> entries;
    while (!text.empty()) {
        if (next_token(text) != ".entry") continue;
        Entry entry;
        entry.name = next_token(text);
        const auto before = text;
        if (next_token(text) == "(") {
            auto parameters = read_parameters(text);
            if (!parameters) return {};
            entry.parameter_bytes = std::move(*parameters);
        } else {
            text = before;
        }
        entry.behaviour = behaviour_of(entry);
        entries.push_back(std::move(entry));
    }
    return entries;
}

}  // namespace berth::vgpu::software_driver
