// SPDX-License-Identifier: Apache-2.0
//
// How is a type described, so that one description serves both directions? Fields<T>::visit names
// each member once; described_json.h makes write_value() and read_value() from it.
//
// A Style says how the leaves look. The event log (LogStyle) writes bare integers and leaves out
// what equals the default; the API (json_api.h) writes every field, GPUs as decimals, times as
// RFC 3339 and nodes by name. A style's own write() or read() for a type goes before the
// description.
#pragma once

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "codec/text/json_reader.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"
#include "model/fields/request_fields.h"

namespace berth::codec {

// Specialised as: struct { static void visit(auto&& field) { field("name", &T::name); ... } }
template <typename T>
struct Fields;

struct AnyField {
    void operator()(std::string_view, auto) const {}
};
// What the model describes itself.
template <typename T>
    requires requires { model::Fields<T>::visit(AnyField{}); }
struct Fields<T> : model::Fields<T> {};

template <typename T>
concept Described = requires { Fields<T>::visit(AnyField{}); };

template <typename T>
concept Worded = std::is_enum_v<T> && requires { kWords<T>.size(); };

template <typename Style, typename T>
concept WritesItself =
    requires(const Style& style, JsonWriter& json, const T& value) { style.write(json, value); };
template <typename Style, typename T>
concept ReadsItself =
    requires(const Style& style, JsonReader& json, T& value) { style.read(json, value); };

// Of this type every style leaves out what equals the default: of many members few occur.
template <typename T>
inline constexpr bool kIsSparse = false;

template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;
template <typename T>
inline constexpr bool kIsMap = false;
template <typename T>
inline constexpr bool kIsMap<std::map<std::string, T>> = true;
template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

}  // namespace berth::codec
