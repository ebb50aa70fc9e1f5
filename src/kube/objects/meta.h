// SPDX-License-Identifier: Apache-2.0
//
// What does every object say of itself? Its metadata, as much of it as Berth uses: managedFields
// are skipped unread, and of annotations those are kept that name something of ours or of a
// scheduler that people come from.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "codec/text/json_reader.h"
#include "kube/objects/interned.h"

namespace berth::kube::objects {

// The uid that the API server gives: a UUID, in 16 bytes.
struct Uid {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    auto operator<=>(const Uid&) const = default;
    explicit operator bool() const { return (high | low) != 0; }
    static std::optional<Uid> parse(std::string_view text);
};
std::string format(Uid uid);

struct Label {
    Word key;
    Word value;

    bool operator==(const Label&) const = default;
};
using Labels = std::vector<Label>;  // in the order of the object
std::size_t hash_of(const Labels& labels);
// Null when there is none.
const std::string* find(const Labels& labels, std::string_view key);

// Who makes the object again when it is gone: its controlling ownerReference.
struct Owner {
    Word api_version;  // batch/v1
    Word kind;
    std::string name;
    Uid uid;

    bool operator==(const Owner&) const = default;
};
inline std::size_t hash_of(const Owner& owner) { return owner.uid.high * 31 + owner.uid.low; }

struct Meta {
    Word name_space;  // empty: the object is in none
    std::string name;
    Uid uid;
    std::string version;  // resourceVersion: opaque, for preconditions and equality
    // Which of its owner's pods: of an indexed Job, of a StatefulSet. Not among the labels, so that
    // all pods of a set have the same ones.
    std::int32_t index = -1;
    std::optional<base::TimePoint> created;
    std::optional<base::TimePoint> deletion;  // when it is to be gone
    Interned<Labels> labels;
    Interned<Labels> annotations;
    Interned<Owner> owner;
};

// Where the words of one cache are kept; it outlives the objects.
struct MetaPools {
    Pool<std::string> words;
    Pool<Labels> labels;
    Pool<Owner> owners;
};

// Reads the value of "metadata". Without a uid or a name it fails the reader.
Meta read_meta(codec::JsonReader& reader, MetaPools& pools);

// The labels of a template, whose pods will have them.
Interned<Labels> read_labels(codec::JsonReader& reader, MetaPools& pools);
// False of a label that tells one pod of a set from the others: no Labels have it.
bool is_kept_label(std::string_view key);

// An object of which its metadata is all we ask: an owner of a kind we do not know, a Namespace.
Meta read_object_meta(codec::JsonReader& reader, MetaPools& pools);

// Parts that other objects have too.
Word read_word(codec::JsonReader& reader, MetaPools& pools);
std::optional<base::TimePoint> read_time(codec::JsonReader& reader);

}  // namespace berth::kube::objects

template <>
struct std::hash<berth::kube::objects::Uid> {
    std::size_t operator()(const berth::kube::objects::Uid& uid) const noexcept {
        return uid.high * 31 + uid.low;
    }
};
