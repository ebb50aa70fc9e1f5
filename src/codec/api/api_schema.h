// SPDX-License-Identifier: Apache-2.0
//
// How does a type look as JSON Schema (2020-12, which OpenAPI 3.1 takes)? Made from the one
// description in Fields<T>, as its text is (api_style.h): what is promised is what is written.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <source_location>
#include <string>
#include <string_view>

#include "codec/api/api_shapes.h"
#include "codec/fields/described.h"
#include "codec/words/words.h"

namespace berth::codec {

// An answer has all members of its type; a request may leave out any, and has no other.
enum class Side { Answer, Request };

// Schemas by name, each written once.
class SchemaBook {
  public:
    // {"$ref":"#/components/schemas/NAME"}; `make` is asked for it at the first mention.
    std::string refer(const std::string& name, const std::function<std::string()>& make);
    const std::map<std::string, std::string>& all() const { return schemas_; }

  private:
    std::map<std::string, std::string> schemas_;
};

class ObjectSchema {
  public:
    explicit ObjectSchema(Side side) : side_(side) {}
    void add(std::string_view name, std::string_view schema, bool is_always_there = true);
    std::string text() const;

  private:
    Side side_;
    std::string properties_;
    std::string required_;
};

// What the style writes by itself; a type without one is described, or a container.
template <typename T>
inline constexpr std::string_view kLeaf{};
template <>
inline constexpr std::string_view kLeaf<std::string> = R"({"type":"string"})";
template <>
inline constexpr std::string_view kLeaf<bool> = R"({"type":"boolean"})";
template <>
inline constexpr std::string_view kLeaf<model::MilliGpu> =
    R"({"type":"number","minimum":-1,"description":"GPUs; -1 = without a bound"})";
template <>
inline constexpr std::string_view kLeaf<model::MilliCpu> =
    R"({"type":"number","description":"CPU cores"})";
template <>
inline constexpr std::string_view kLeaf<model::Bytes> =
    R"({"type":"integer","description":"bytes"})";
template <>
inline constexpr std::string_view kLeaf<model::Duration> =
    R"({"type":"number","description":"seconds"})";
template <>
inline constexpr std::string_view kLeaf<model::TimePoint> =
    R"({"type":"string","format":"date-time"})";
template <>
inline constexpr std::string_view kLeaf<model::JobId> =
    R"({"type":["integer","null"],"description":"the number of a job"})";
template <>
inline constexpr std::string_view kLeaf<model::NodeId> =
    R"({"type":["string","null"],"description":"the name of a node"})";
template <>
inline constexpr std::string_view kLeaf<Thousandths> = R"({"type":"number"})";
template <>
inline constexpr std::string_view kLeaf<Millionths> = R"({"type":"number"})";

std::string words_schema(std::span<const std::string_view> words);
std::string reasons_schema();
std::string integer_schema(std::int64_t least, std::uint64_t most);

// "berth::model::JobSpec" -> "JobSpec": the compiler says T in the name of this function.
template <typename T>
std::string type_name() {
    std::string_view name = std::source_location::current().function_name();
    name.remove_prefix(name.find("T = ") + 4);
    name = name.substr(0, name.find_first_of(";]"));
    return std::string(name.substr(name.rfind(':') + 1));
}

template <typename T>
void add_members(SchemaBook& book, Side side, ObjectSchema& object);

template <typename T>
std::string schema_of(SchemaBook& book, Side side) {
    using Shown = typename Shape<T>::Type;
    if constexpr (!kLeaf<T>.empty()) {
        return std::string(kLeaf<T>);
    } else if constexpr (std::same_as<T, model::Reason>) {
        return book.refer("Reason", reasons_schema);
    } else if constexpr (Worded<T>) {
        return book.refer(type_name<T>(), [] { return words_schema(kWords<T>); });
    } else if constexpr (std::integral<T>) {
        return integer_schema(std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    } else if constexpr (kIsOptional<T>) {
        return R"({"anyOf":[)" + schema_of<typename T::value_type>(book, side) +
               R"(,{"type":"null"}]})";
    } else if constexpr (kIsVector<T>) {
        return R"({"type":"array","items":)" + schema_of<typename T::value_type>(book, side) + "}";
    } else if constexpr (kIsMap<T>) {
        return R"({"type":"object","additionalProperties":)" +
               schema_of<typename T::mapped_type>(book, side) + "}";
    } else {
        static_assert(Described<Shown>, "describe this type with Fields<T>");
        const std::string name = type_name<Shown>() + (side == Side::Request ? "Input" : "");
        return book.refer(name, [&] {
            ObjectSchema object(side);
            add_members<Shown>(book, side, object);
            return object.text();
        });
    }
}

template <typename T>
void add_members(SchemaBook& book, Side side, ObjectSchema& object) {
    Fields<T>::visit([&](std::string_view name, auto member) {
        using Part = std::remove_cvref_t<decltype(std::declval<T&>().*member)>;
        object.add(name, schema_of<Part>(book, side), !kIsSparse<T>);
    });
}

// A document of its own, by its kind: an envelope beside the members of the type. What is added to
// it afterwards comes by `more`.
using MoreMembers = std::function<void(SchemaBook&, ObjectSchema&)>;
std::string document_schema(SchemaBook& book, Side side, std::string_view kind,
                            const MoreMembers& members);

template <typename T>
std::string document_of(SchemaBook& book, Side side, std::string_view kind,
                        const MoreMembers& more = {}) {
    return document_schema(book, side, kind, [&](SchemaBook& in, ObjectSchema& object) {
        add_members<T>(in, side, object);
        if (more) more(in, object);
    });
}

}  // namespace berth::codec
