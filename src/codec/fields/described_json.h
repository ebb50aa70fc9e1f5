// SPDX-License-Identifier: Apache-2.0
//
// How does a value of a described type become JSON text, and text a value? Made from the one
// description in Fields<T> (described.h), so the two directions cannot disagree.
//
// Reading expects the members in the order in which they were written and is fastest then; any
// other order is read as well. What to do with a name that is not described is for the style.
#pragma once

#include <concepts>
#include <limits>
#include <string>

#include "codec/fields/described.h"
#include "codec/text/json_reader.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"

namespace berth::codec {

template <typename Style, typename T>
void write_value(const Style& style, JsonWriter& json, const T& value);

template <typename T>
bool is_default(const T& value, const T& initial) {
    if constexpr (kIsOptional<T>) {
        return !value.has_value();
    } else if constexpr (kIsVector<T> || kIsMap<T>) {
        return value.empty() && initial.empty();
    } else if constexpr (std::equality_comparable<T>) {
        return value == initial;
    } else {
        return false;
    }
}

// The members of a described value, inside an object that is open. `initial`: what it is where
// nothing is read, which its whole may say for it: companions ask for no GPU, tasks for one.
template <typename Style, typename T>
void write_members(const Style& style, JsonWriter& json, const T& value, const T& initial) {
    Fields<T>::visit([&](std::string_view name, auto member) {
        constexpr bool kOmits = Style::kOmitsDefaults || kIsSparse<T>;
        if (kOmits && is_default(value.*member, initial.*member)) return;
        json.key(name);
        using Part = std::remove_cvref_t<decltype(value.*member)>;
        if constexpr (Described<Part> && !WritesItself<Style, Part>) {
            json.begin_object();
            write_members(style, json, value.*member, initial.*member);
            json.end_object();
        } else {
            write_value(style, json, value.*member);
        }
    });
}

template <typename Style, typename T>
void write_members(const Style& style, JsonWriter& json, const T& value) {
    static const T kInitial{};
    write_members(style, json, value, kInitial);
}

template <typename Style, typename T>
void write_value(const Style& style, JsonWriter& json, const T& value) {
    if constexpr (WritesItself<Style, T>) {
        style.write(json, value);
    } else if constexpr (std::same_as<T, std::string>) {
        json.string(value);
    } else if constexpr (std::same_as<T, bool>) {
        json.boolean(value);
    } else if constexpr (Worded<T>) {
        json.string(word(value));
    } else if constexpr (std::unsigned_integral<T>) {
        json.unsigned_number(value);
    } else if constexpr (std::integral<T>) {
        json.number(value);
    } else if constexpr (kIsOptional<T>) {
        if (value) {
            write_value(style, json, *value);
        } else {
            json.null();
        }
    } else if constexpr (kIsVector<T>) {
        json.begin_array();
        for (const auto& item : value) write_value(style, json, item);
        json.end_array();
    } else if constexpr (kIsMap<T>) {
        json.begin_object();
        for (const auto& [name, item] : value) {
            json.text_key(name);
            write_value(style, json, item);
        }
        json.end_object();
    } else {
        static_assert(Described<T>, "describe this type with Fields<T>");
        json.begin_object();
        write_members(style, json, value);
        json.end_object();
    }
}

template <typename Style, typename T>
void read_value(const Style& style, JsonReader& json, T& value);

// The members that are left of an object that is open.
template <typename Style, typename T>
void read_members(const Style& style, JsonReader& json, T& value) {
    std::string_view key;
    bool has_key = json.next_key(key);
    while (has_key) {
        bool is_known = false;
        Fields<T>::visit([&](std::string_view name, auto member) {
            if (!has_key || key != name) return;
            read_value(style, json, value.*member);
            is_known = true;
            has_key = json.next_key(key);
        });
        if (is_known) continue;
        style.template read_unknown<T>(json, key);
        has_key = json.next_key(key);
    }
}

// A whole number that fits the type.
template <std::integral Int>
void read_number(JsonReader& json, Int& value) {
    if constexpr (std::unsigned_integral<Int>) {
        const std::uint64_t number = json.read_uint();
        if (number > std::numeric_limits<Int>::max()) json.fail("this number is too large");
        value = static_cast<Int>(number);
    } else {
        const std::int64_t number = json.read_int();
        if (number > std::numeric_limits<Int>::max() || number < std::numeric_limits<Int>::min()) {
            json.fail("this number is too large");
        }
        value = static_cast<Int>(number);
    }
}

template <Worded E>
void read_word(JsonReader& json, E& value) {
    const std::string text = json.read_string();
    if (json.is_failed()) return;
    const auto found = from_word<E>(text);
    if (!found) json.fail("wanted " + listed(kWords<E>) + ", found \"" + text + "\"");
    value = found.value_or(value);
}

template <typename Style, typename T>
void read_value(const Style& style, JsonReader& json, T& value) {
    if constexpr (ReadsItself<Style, T>) {
        style.read(json, value);
    } else if constexpr (std::same_as<T, std::string>) {
        value = json.read_string();
    } else if constexpr (std::same_as<T, bool>) {
        value = json.read_bool();
    } else if constexpr (Worded<T>) {
        read_word(json, value);
    } else if constexpr (std::integral<T>) {
        read_number(json, value);
    } else if constexpr (kIsOptional<T>) {
        if (json.peek() == JsonReader::Type::Null) {
            json.read_null();
            value.reset();
        } else {
            read_value(style, json, value.emplace());
        }
    } else if constexpr (kIsVector<T>) {
        value.clear();
        for (json.begin_array(); json.next_element();) {
            read_value(style, json, value.emplace_back());
        }
    } else if constexpr (kIsMap<T>) {
        value.clear();
        std::string_view key;
        for (json.begin_object(); json.next_key(key);) {
            read_value(style, json, value[std::string(key)]);
        }
    } else {
        static_assert(Described<T>, "describe this type with Fields<T>");
        json.begin_object();
        read_members(style, json, value);
    }
}

}  // namespace berth::codec
