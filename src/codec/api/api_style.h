// SPDX-License-Identifier: Apache-2.0
//
// How do the leaves of the API's JSON look, and its envelope? The rules are in json_api.h; the
// members come from Fields<T>, shared with the event log.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codec/api/api_shapes.h"
#include "codec/api/json_api.h"
#include "codec/fields/described_json.h"
#include "codec/fields/model_fields.h"
#include "codec/text/field_reader.h"
#include "codec/words/timestamp.h"

namespace berth::codec {

inline constexpr std::string_view kApiVersion = "berth/v1";

enum class Reading { Strict, Lenient };

class ApiStyle {
  public:
    static constexpr bool kOmitsDefaults = false;

    // For writing; null = nothing of it has a name.
    explicit ApiStyle(const NameSource* names) : source_(names) {}
    // For reading a document of that kind.
    ApiStyle(std::string_view kind, Reading reading, NameTable* names)
        : kind_(kind), reading_(reading), table_(names) {}

    void write(JsonWriter& json, model::MilliGpu amount) const;
    void read(JsonReader& json, model::MilliGpu& amount) const;
    void write(JsonWriter& json, model::MilliCpu amount) const;
    void read(JsonReader& json, model::MilliCpu& amount) const;
    void write(JsonWriter& json, model::Bytes amount) const { json.number(amount.value); }
    void read(JsonReader& json, model::Bytes& amount) const { amount.value = json.read_int(); }
    void write(JsonWriter& json, model::Duration duration) const;
    void read(JsonReader& json, model::Duration& duration) const;
    void write(JsonWriter& json, model::TimePoint time) const;
    void read(JsonReader& json, model::TimePoint& time) const;
    void write(JsonWriter& json, model::JobId job) const;
    void read(JsonReader& json, model::JobId& job) const;
    void write(JsonWriter& json, model::NodeId node) const;
    void read(JsonReader& json, model::NodeId& node) const;
    void write(JsonWriter& json, model::Reason reason) const { json.string(name(reason)); }
    void read(JsonReader& json, model::Reason& reason) const;
    void write(JsonWriter& json, Thousandths number) const;
    void read(JsonReader& json, Thousandths& number) const;
    void write(JsonWriter& json, Millionths number) const;
    void read(JsonReader& json, Millionths& number) const;
    void write(JsonWriter& json, const model::TaskPlacement& task) const;
    void read(JsonReader& json, model::TaskPlacement& task) const;
    void write(JsonWriter& json, const model::Entitlement& rights) const;
    void read(JsonReader& json, model::Entitlement& rights) const;

    template <typename T>
    void read_unknown(JsonReader& json, std::string_view key) const {
        if (read_envelope(json, key)) return;
        if (reading_ == Reading::Lenient) return json.skip();
        std::vector<std::string_view> known;
        Fields<T>::visit([&](std::string_view name, auto) { known.push_back(name); });
        refuse_unknown(json, key, known);
    }

    void begin_document(JsonWriter& json, std::string_view kind) const;
    // Names the jobs that were mentioned, and closes.
    void end_document(JsonWriter& json) const;
    // Takes apiVersion, kind and job_names; false when the key is none of them.
    bool read_envelope(JsonReader& json, std::string_view key) const;

  private:
    void read_decimal(JsonReader& json, int places, std::int64_t& amount) const;
    void read_job_names(JsonReader& json) const;
    void refuse_unknown(JsonReader& json, std::string_view key,
                        std::span<const std::string_view> known) const;

    const NameSource* source_ = nullptr;
    std::string_view kind_;
    Reading reading_ = Reading::Lenient;
    NameTable* table_ = nullptr;
    mutable std::set<model::JobId> mentioned_;
};

template <typename T>
base::Result<T> finished_document(JsonReader& json, T& value) {
    json.finish();
    if (json.is_failed()) return base::invalid(json.error());
    return std::move(value);
}

// A described value as a document of its own.
template <typename T>
std::string document(std::string_view kind, const T& value, const NameSource* names) {
    std::string text;
    JsonWriter json(text);
    const ApiStyle style(names);
    style.begin_document(json, kind);
    write_members(style, json, value);
    style.end_document(json);
    return text;
}

// One without an envelope, which may stand inside another document.
template <typename T>
std::string plain_json(const T& value, const NameSource* names) {
    std::string text;
    JsonWriter json(text);
    write_value(ApiStyle(names), json, value);
    return text;
}

template <typename T>
base::Result<T> parse_document(std::string_view text, const ApiStyle& style) {
    JsonReader json(text);
    T value;
    json.begin_object();
    read_members(style, json, value);
    return finished_document(json, value);
}

template <typename T>
struct Fields<Page<T>> {
    static void visit(auto&& field) {
        field("items", &Page<T>::items);
        field("next", &Page<T>::next);
    }
};

}  // namespace berth::codec
