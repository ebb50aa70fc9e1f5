// SPDX-License-Identifier: Apache-2.0
//
// How is a change asked for? The fields that are given change, the others stay; in a
// map of texts the entries that are given change, and null takes one away (RFC 7396).
#pragma once

#include <string_view>

#include "codec/text/field_reader.h"

namespace berth::api {

// Changes the labels as the field says.
void change_labels(codec::FieldReader& fields, std::string_view name, model::Labels& labels);

}  // namespace berth::api
