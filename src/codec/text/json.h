// SPDX-License-Identifier: Apache-2.0
//
// What does a JSON or YAML text say, as one tree? Each value knows its line, so that its reader can
// point at what is wrong. Names keep their order; a name given twice is an error.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::codec {

struct Member;

struct Value {
    enum class Kind { Null, Bool, Number, String, List, Map };

    Kind kind = Kind::Null;
    // Of a string its content; of a number, true or false the text as it was written.
    std::string text;
    std::vector<Value> items;
    std::vector<Member> members;
    int line = 1;

    // Defined where the members' type is complete; clang insists.
    Value();
    Value(const Value&);
    Value(Value&&) noexcept;
    Value& operator=(const Value&);
    Value& operator=(Value&&) noexcept;
    ~Value();

    // The member of that name, or null.
    const Value* find(std::string_view name) const;
    bool is_scalar() const { return kind != Kind::List && kind != Kind::Map; }
    // For error messages: "a list", or the text of a scalar in quotes, shortened.
    std::string described() const;
};

struct Member {
    std::string name;
    Value value;
};

// Errors: Invalid, "FILE:LINE: what is wrong".
base::Result<Value> parse_json(std::string_view text, std::string_view file_name);

// YAML, in which JSON is written too: a text that begins with a brace or bracket is read as JSON
// when it is JSON, so that every legal JSON text is taken. One document, no anchors into loops.
// Scalars follow the core schema of YAML 1.2: "no" and "on" are strings. (codec/text/yaml.cc)
// Errors: Invalid, "FILE:LINE: what is wrong".
base::Result<Value> parse_yaml(std::string_view text, std::string_view file_name);

// Appends the value as JSON.
void append_json(std::string& out, const Value& value);

}  // namespace berth::codec
