// SPDX-License-Identifier: Apache-2.0
#include "codec/text/json_writer.h"

#include <array>
#include <charconv>

namespace berth::codec {
namespace {

constexpr std::string_view kHex = "0123456789abcdef";

// True for the bytes that are written as they are: printable ASCII but quote and backslash.
constexpr std::array<bool, 256> plain_bytes() {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x7f; ++byte) plain[byte] = byte != '"' && byte != '\\';
    return plain;
}

constexpr std::array<bool, 256> kPlain = plain_bytes();

void append_unicode_escape(std::string& out, unsigned code) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 0xf];
}

void append_control(std::string& out, unsigned char byte) {
    switch (byte) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\t': out += "\\t"; break;
        case '\r': out += "\\r"; break;
        default: append_unicode_escape(out, byte);
    }
}

bool is_continuation(std::string_view text, std::size_t place) {
    return place < text.size() && (static_cast<unsigned char>(text[place]) & 0xc0) == 0x80;
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const auto first = static_cast<unsigned char>(text[0]);
    const auto second = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0U;
    if (first < 0x80) return 1;
    if (first < 0xc2 || first > 0xf4 || !is_continuation(text, 1)) return 0;
    if (first < 0xe0) return 2;
    if (!is_continuation(text, 2)) return 0;
    if (first < 0xf0) {
        const bool is_overlong = first == 0xe0 && second < 0xa0;
        const bool is_surrogate = first == 0xed && second >= 0xa0;
        return is_overlong || is_surrogate ? 0 : 3;
    }
    const bool is_overlong = first == 0xf0 && second < 0x90;
    const bool is_beyond = first == 0xf4 && second >= 0x90;
    return is_overlong || is_beyond || !is_continuation(text, 3) ? 0 : 4;
}

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t done = 0;
    std::size_t place = 0;
    const auto flush = [&] { out.append(text.substr(done, place - done)); };
    while (place < text.size()) {
        const auto byte = static_cast<unsigned char>(text[place]);
        if (kPlain[byte]) {
            ++place;
        } else if (byte < 0x80) {
            flush();
            append_control(out, byte);
            done = ++place;
        } else if (const std::size_t length = utf8_length(text.substr(place)); length > 0) {
            place += length;
        } else {
            flush();
            append_unicode_escape(out, 0xdc00U + byte);
            done = ++place;
        }
    }
    flush();
    out += '"';
}

void append_json_int(std::string& out, std::int64_t number) {
    std::array<char, 24> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), end);
}

void append_json_uint(std::string& out, std::uint64_t number) {
    std::array<char, 24> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    out.append(digits.data(), end);
}

JsonWriter& JsonWriter::key(std::string_view name) {
    next() += '"';
    out_ += name;
    out_ += "\":";
    needs_comma_ = false;
    return *this;
}

JsonWriter& JsonWriter::text_key(std::string_view name) {
    append_json_string(next(), name);
    out_ += ':';
    needs_comma_ = false;
    return *this;
}

}  // namespace berth::codec
