// SPDX-License-Identifier: Apache-2.0
//
// How is JSON text read? Value by value, without a tree in between; json.h builds a tree on it.
//
// Strict RFC 8259: no comments, no trailing commas, no NaN; and no zero bytes in strings. The
// first thing wrong is kept with its line, and from then on every read answers with nothing, so
// callers check once at the end. Nesting is bounded (kJsonDepthMax), so that a hostile text cannot
// exhaust the stack.
// Guarantee: what json_writer.h wrote is read back byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

inline constexpr int kJsonDepthMax = 200;

class JsonReader {
  public:
    enum class Type { Object, Array, String, Number, Bool, Null, Nothing };

    // A zero byte in a string: no name, path or variable can hold one. What others have written
    // and must be read all the same has U+FFFD in its place.
    enum class Zero { Refused, Replaced };

    // `text` must outlive the reader.
    explicit JsonReader(std::string_view text, Zero zero = Zero::Refused)
        : text_(text), replaces_zero_(zero == Zero::Replaced) {}

    // What comes next; Nothing at the end of the text or after a failure.
    Type peek();

    // for (r.begin_object(); r.next_key(key);) { read or skip one value }
    // A key is valid until the next call.
    void begin_object() { open('{'); }
    bool next_key(std::string_view& key);
    void begin_array() { open('['); }
    bool next_element();

    std::string read_string();
    // The same without a copy, valid until something else is read.
    std::string_view read_text() { return read_quoted(); }
    std::int64_t read_int();
    std::uint64_t read_uint();
    std::string_view read_number_text();
    bool read_bool();
    void read_null();
    void skip();
    // The same without a look inside of an object or list: its brackets and quotes match, whether
    // the rest is JSON is not asked. For what a server writes that is not expected to write
    // anything else.
    void pass_over();

    // Nothing but white space may follow.
    void finish();

    bool is_failed() const { return failed_; }
    // "line 3: wanted a string" when failed.
    const std::string& error() const { return error_; }
    // Keeps the first failure only.
    void fail(std::string_view message);
    // The line of the next value, from 1.
    int line();

  private:
    void skip_space();
    void open(char bracket);
    bool next_item(char bracket);
    bool take(char wanted);
    bool take_word(std::string_view word);
    std::string_view read_quoted();
    void pass_over_string();
    bool append_escape(std::string& out);
    bool read_hex4(unsigned& code);

    std::string_view text_;
    std::size_t place_ = 0;
    int depth_ = 0;
    bool is_first_ = false;  // directly behind an opening bracket
    bool failed_ = false;
    bool replaces_zero_ = false;
    std::string scratch_;  // of the last string with an escape in it
    std::string error_;
    std::size_t line_place_ = 0;
    int line_ = 1;
};

}  // namespace berth::codec
