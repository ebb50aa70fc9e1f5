// SPDX-License-Identifier: Apache-2.0
//
// How is an object of the API walked? Go writes null for what is empty, so null is as good as
// absent; fields that are not needed are skipped.
#pragma once

#include <string_view>
#include <utility>

#include "codec/text/json_reader.h"

namespace berth::kube::objects {

inline bool take_null(codec::JsonReader& reader) {
    if (reader.peek() != codec::JsonReader::Type::Null) return false;
    reader.read_null();
    return true;
}

// For a field's reader: the value is read, and taken.
template <typename To, typename Value>
bool read_into(To& to, Value&& value) {
    to = std::forward<Value>(value);
    return true;
}

// take(key) reads the value and answers true, or leaves it and answers false. `key` is valid until
// something is read.
template <typename Take>
void each_field(codec::JsonReader& reader, Take take) {
    if (take_null(reader)) return;
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (take_null(reader)) continue;
        if (!take(key)) reader.pass_over();
    }
}

template <typename Take>
void each_item(codec::JsonReader& reader, Take take) {
    if (take_null(reader)) return;
    for (reader.begin_array(); reader.next_element();) {
        if (!take_null(reader)) take();
    }
}

}  // namespace berth::kube::objects
