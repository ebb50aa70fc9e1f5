// SPDX-License-Identifier: Apache-2.0
//
// How is JSON text written? Appended to a string, without a tree in between: the server writes
// tens of thousands of events a second this way.
//
// A string may hold any bytes. What is not valid UTF-8 is written byte by byte as \udc80 ... \udcff
// (a lone low surrogate, as Python's "surrogateescape" does it), which json_reader.h turns back:
// every string survives the round trip exactly, and the text is always valid UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

// Appends `text` in quotes, escaped.
void append_json_string(std::string& out, std::string_view text);
void append_json_int(std::string& out, std::int64_t number);
void append_json_uint(std::string& out, std::uint64_t number);

// Keeps track of commas and brackets, so that callers write only names and values.
class JsonWriter {
  public:
    explicit JsonWriter(std::string& out) : out_(out) {}

    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }
    // `name` must need no escaping: our own field names. For others use text_key().
    // Its value is what comes next: json.key("job").number(7).
    JsonWriter& key(std::string_view name);
    JsonWriter& text_key(std::string_view name);

    void string(std::string_view text) { append_json_string(next(), text); }
    void number(std::int64_t value) { append_json_int(next(), value); }
    void unsigned_number(std::uint64_t value) { append_json_uint(next(), value); }
    void boolean(bool value) { next() += value ? "true" : "false"; }
    void null() { next() += "null"; }
    // Text that is JSON already, for example a decimal number.
    void raw(std::string_view json) { next() += json; }

  private:
    // Where the next value is written, behind a comma where one is wanted.
    std::string& next() {
        if (needs_comma_) out_ += ',';
        needs_comma_ = true;
        return out_;
    }
    void open(char bracket) {
        next() += bracket;
        needs_comma_ = false;
    }
    void close(char bracket) {
        out_ += bracket;
        needs_comma_ = true;
    }

    std::string& out_;
    bool needs_comma_ = false;
};

// How many bytes the UTF-8 character at the start of `text` takes; 0 = not valid UTF-8 there.
std::size_t utf8_length(std::string_view text);

}  // namespace berth::codec
