// SPDX-License-Identifier: Apache-2.0
#include "codec/text/json_reader.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "codec/text/json_writer.h"

namespace berth::codec {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;

// The first byte from `place` on that is a quote, a backslash or, when asked, a control character;
// the end when there is none. Eight at a time: most bytes of a JSON text are inside of strings. The
// lowest bit that is found is exact, which is all that is used.
enum class Controls { Stop, Pass };
template <Controls controls>
std::size_t find_mark(std::string_view text, std::size_t place) {
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t kHighs = 0x80 * kOnes;
        const auto zeros = [](std::uint64_t eight) { return (eight - kOnes) & ~eight; };
        for (; place + 8 <= text.size(); place += 8) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, text.data() + place, sizeof eight);
            std::uint64_t found = zeros(eight ^ kOnes * '"') | zeros(eight ^ kOnes * '\\');
            if (controls == Controls::Stop) found |= (eight - kOnes * 0x20) & ~eight;
            found &= kHighs;
            if (found != 0) return place + static_cast<std::size_t>(std::countr_zero(found)) / 8;
        }
    }
    for (; place < text.size(); ++place) {
        const char c = text[place];
        const bool is_control = controls == Controls::Stop && static_cast<unsigned char>(c) < 0x20;
        if (c == '"' || c == '\\' || is_control) return place;
    }
    return place;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string& out, unsigned code) {
    const auto put = [&](unsigned byte) { out += static_cast<char>(byte); };
    if (code < 0x80) {
        put(code);
    } else if (code < 0x800) {
        put(0xc0 | (code >> 6));
        put(0x80 | (code & 0x3f));
    } else if (code < 0x10000) {
        put(0xe0 | (code >> 12));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    } else {
        put(0xf0 | (code >> 18));
        put(0x80 | ((code >> 12) & 0x3f));
        put(0x80 | ((code >> 6) & 0x3f));
        put(0x80 | (code & 0x3f));
    }
}

}  // namespace

void JsonReader::skip_space() {
    // Most texts have none.
    if (place_ < text_.size() && text_[place_] > ' ') return;
    while (place_ < text_.size() && (text_[place_] == ' ' || text_[place_] == '\n' ||
                                     text_[place_] == '\t' || text_[place_] == '\r')) {
        ++place_;
    }
}

int JsonReader::line() {
    skip_space();
    const auto from = text_.begin() + static_cast<std::ptrdiff_t>(line_place_);
    const auto to = text_.begin() + static_cast<std::ptrdiff_t>(place_);
    line_ += static_cast<int>(std::count(from, to, '\n'));
    line_place_ = place_;
    return line_;
}

void JsonReader::fail(std::string_view message) {
    if (failed_) return;
    error_ = "line " + std::to_string(line()) + ": " + std::string(message);
    failed_ = true;
    place_ = text_.size();
}

JsonReader::Type JsonReader::peek() {
    skip_space();
    if (failed_ || place_ >= text_.size()) return Type::Nothing;
    switch (text_[place_]) {
        case '{': return Type::Object;
        case '[': return Type::Array;
        case '"': return Type::String;
        case 't':
        case 'f': return Type::Bool;
        case 'n': return Type::Null;
        case '-': return Type::Number;
        default: return is_digit(text_[place_]) ? Type::Number : Type::Nothing;
    }
}

bool JsonReader::take(char wanted) {
    skip_space();
    if (place_ >= text_.size() || text_[place_] != wanted) return false;
    ++place_;
    return true;
}

bool JsonReader::take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(place_).starts_with(word)) return false;
    place_ += word.size();
    return true;
}

void JsonReader::open(char bracket) {
    if (!take(bracket)) return fail(bracket == '{' ? "wanted an object" : "wanted a list");
    if (++depth_ > kJsonDepthMax) return fail("nested too deep");
    is_first_ = true;
}

// Steps over a comma to the next item, or over the closing bracket.
bool JsonReader::next_item(char bracket) {
    if (failed_) return false;
    if (take(bracket)) {
        --depth_;
        is_first_ = false;
        return false;
    }
    if (!is_first_ && !take(',')) {
        fail(bracket == '}' ? "wanted \",\" or \"}\"" : "wanted \",\" or \"]\"");
        return false;
    }
    is_first_ = false;
    return true;
}

bool JsonReader::next_key(std::string_view& key) {
    if (!next_item('}')) return false;
    if (peek() != Type::String) {
        fail("wanted a name in quotes");
        return false;
    }
    key = read_quoted();
    if (!take(':')) fail("wanted \":\" behind a name");
    return !failed_;
}

bool JsonReader::next_element() { return next_item(']'); }

// The content of a string: a part of the text itself when it holds no escape.
std::string_view JsonReader::read_quoted() {
    if (!take('"')) {
        fail("wanted a string");
        return std::string_view{};
    }
    const std::size_t start = place_;
    place_ = find_mark<Controls::Stop>(text_, place_);
    if (place_ < text_.size() && text_[place_] == '"') {
        return text_.substr(start, place_++ - start);
    }
    scratch_.assign(text_.substr(start, place_ - start));
    while (place_ < text_.size() && text_[place_] != '"') {
        const char next = text_[place_++];
        if (next == '\\') {
            if (!append_escape(scratch_)) {
                fail("wrong escape in a string");
                return "";
            }
        } else if (static_cast<unsigned char>(next) < 0x20) {
            fail("control character in a string");
            return "";
        } else {
            scratch_ += next;
        }
    }
    if (place_ >= text_.size()) {
        fail("a string is not closed");
        return "";
    }
    ++place_;
    return scratch_;
}

bool JsonReader::read_hex4(unsigned& code) {
    if (text_.size() - place_ < 4) return false;
    const char* from = text_.data() + place_;
    const auto [end, error] = std::from_chars(from, from + 4, code, 16);
    place_ += 4;
    return error == std::errc{} && end == from + 4;
}

// Behind a backslash. A surrogate pair is one character; a lone \udc80 ... \udcff is a raw byte.
bool JsonReader::append_escape(std::string& out) {
    static constexpr std::string_view kLetters = "\"\\/bfnrt";
    static constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (place_ >= text_.size()) return false;
    const char letter = text_[place_++];
    if (const auto found = kLetters.find(letter); found != std::string_view::npos) {
        out += kMeanings[found];
        return true;
    }
    unsigned code = 0;
    if (letter != 'u' || !read_hex4(code)) return false;
    if (code == 0 && replaces_zero_) code = 0xfffd;
    if (code == 0) return false;
    if (code >= 0xd800 && code < 0xdc00 && text_.substr(place_).starts_with("\\u")) {
        const std::size_t behind_first = place_;
        unsigned low = 0;
        place_ += 2;
        if (!read_hex4(low)) return false;
        if (low >= 0xdc00 && low < 0xe000) {
            append_utf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
        place_ = behind_first;
    }
    if (code >= 0xdc80 && code <= 0xdcff) {
        out += static_cast<char>(code - 0xdc00);
    } else {
        append_utf8(out, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
    }
    return true;
}

std::string JsonReader::read_string() { return std::string(read_quoted()); }

std::string_view JsonReader::read_number_text() {
    skip_space();
    const std::size_t start = place_;
    const auto digits = [&] {
        const std::size_t from = place_;
        while (place_ < text_.size() && is_digit(text_[place_])) ++place_;
        return place_ - from;
    };
    const auto has = [&](std::string_view any) {
        return place_ < text_.size() && any.find(text_[place_]) != std::string_view::npos;
    };
    if (has("-")) ++place_;
    const bool leads_with_zero = has("0");
    const std::size_t whole = digits();
    bool is_good = whole == 1 || (whole > 1 && !leads_with_zero);
    if (has(".")) {
        ++place_;
        is_good = digits() > 0 && is_good;
    }
    if (has("eE")) {
        ++place_;
        if (has("+-")) ++place_;
        is_good = digits() > 0 && is_good;
    }
    if (!is_good) {
        fail("wanted a number");
        return "";
    }
    return text_.substr(start, place_ - start);
}

std::int64_t JsonReader::read_int() {
    const std::string_view digits = read_number_text();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        fail("wanted a whole number");
        return 0;
    }
    return number;
}

std::uint64_t JsonReader::read_uint() {
    const std::string_view digits = read_number_text();
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size()) {
        fail("wanted a whole number that is not negative");
        return 0;
    }
    return number;
}

bool JsonReader::read_bool() {
    if (take_word("true")) return true;
    if (!take_word("false")) fail("wanted true or false");
    return false;
}

void JsonReader::read_null() {
    if (!take_word("null")) fail("wanted null");
}

void JsonReader::skip() {
    std::string_view key;
    switch (peek()) {
        case Type::Object:
            for (begin_object(); next_key(key);) skip();
            break;
        case Type::Array:
            for (begin_array(); next_element();) skip();
            break;
        case Type::String: read_quoted(); break;
        case Type::Number: read_number_text(); break;
        case Type::Bool: read_bool(); break;
        case Type::Null: read_null(); break;
        case Type::Nothing: fail("wanted a value"); break;
    }
}

void JsonReader::pass_over() {
    const Type type = peek();
    if (type != Type::Object && type != Type::Array) return skip();
    int depth = 0;
    while (place_ < text_.size()) {
        const char c = text_[place_++];
        if (c == '"') {
            pass_over_string();
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            is_first_ = false;
            return;
        }
    }
    fail("a bracket is not closed");
}

// Behind the quote that opens it.
void JsonReader::pass_over_string() {
    for (;;) {
        place_ = find_mark<Controls::Pass>(text_, place_);
        if (place_ >= text_.size()) return;
        if (text_[place_] == '"') {
            ++place_;
            return;
        }
        place_ = std::min(place_ + 2, text_.size());
    }
}

void JsonReader::finish() {
    skip_space();
    if (!failed_ && place_ != text_.size()) fail("wanted the end of the text");
}

}  // namespace berth::codec
