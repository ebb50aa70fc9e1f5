// SPDX-License-Identifier: Apache-2.0
#include "codec/text/json.h"

#include <algorithm>
#include <set>

#include "codec/text/json_reader.h"
#include "codec/text/json_writer.h"

namespace berth::codec {
namespace {

Value read_value(JsonReader& reader);

void read_members(JsonReader& reader, Value& map) {
    std::set<std::string> seen;
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        std::string name(key);
        if (!seen.insert(name).second) reader.fail("\"" + name + "\" is given twice");
        map.members.push_back({std::move(name), read_value(reader)});
    }
}

Value read_value(JsonReader& reader) {
    Value value;
    value.line = reader.line();
    switch (reader.peek()) {
        case JsonReader::Type::Object:
            value.kind = Value::Kind::Map;
            read_members(reader, value);
            break;
        case JsonReader::Type::Array:
            value.kind = Value::Kind::List;
            for (reader.begin_array(); reader.next_element();) {
                value.items.push_back(read_value(reader));
            }
            break;
        case JsonReader::Type::String:
            value.kind = Value::Kind::String;
            value.text = reader.read_string();
            break;
        case JsonReader::Type::Number:
            value.kind = Value::Kind::Number;
            value.text = reader.read_number_text();
            break;
        case JsonReader::Type::Bool:
            value.kind = Value::Kind::Bool;
            value.text = reader.read_bool() ? "true" : "false";
            break;
        case JsonReader::Type::Null: reader.read_null(); break;
        case JsonReader::Type::Nothing: reader.fail("wanted a value"); break;
    }
    return value;
}

// "line 3: text" of the reader as "FILE:3: text".
std::string located(std::string_view file_name, std::string_view error) {
    return std::string(file_name) + ":" + std::string(error.substr(std::string("line ").size()));
}

}  // namespace

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

const Value* Value::find(std::string_view name) const {
    const auto found =
        std::ranges::find_if(members, [&](const auto& member) { return member.name == name; });
    return found == members.end() ? nullptr : &found->value;
}

std::string Value::described() const {
    static constexpr std::size_t kShown = 60;
    switch (kind) {
        case Kind::Null: return "nothing";
        case Kind::List: return "a list";
        case Kind::Map: return "a map";
        default: break;
    }
    if (text.size() <= kShown) return "\"" + text + "\"";
    std::size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return "\"" + text.substr(0, end) + "...\"";
}

base::Result<Value> parse_json(std::string_view text, std::string_view file_name) {
    JsonReader reader(text);
    Value value = read_value(reader);
    reader.finish();
    if (reader.is_failed()) return base::invalid(located(file_name, reader.error()));
    return value;
}

void append_json(std::string& out, const Value& value) {
    switch (value.kind) {
        case Value::Kind::Null: out += "null"; break;
        case Value::Kind::Bool:
        case Value::Kind::Number: out += value.text; break;
        case Value::Kind::String: append_json_string(out, value.text); break;
        case Value::Kind::List:
            out += '[';
            for (const Value& item : value.items) {
                if (&item != value.items.data()) out += ',';
                append_json(out, item);
            }
            out += ']';
            break;
        case Value::Kind::Map:
            out += '{';
            for (const auto& member : value.members) {
                if (&member != value.members.data()) out += ',';
                append_json_string(out, member.name);
                out += ':';
                append_json(out, member.value);
            }
            out += '}';
            break;
    }
}

}  // namespace berth::codec
