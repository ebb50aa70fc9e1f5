// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/receipts.h"

#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"
#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

// Calls read(reader, key) for each field of the annotation. False when it is not there or not JSON.
template <typename Read>
bool read_annotation(const Labels& annotations, std::string_view name, Read read) {
    const std::string* text = find(annotations, name);
    if (text == nullptr) return false;
    codec::JsonReader reader(*text);
    each_field(reader, [&](std::string_view key) { return read(reader, key); });
    reader.finish();
    return !reader.is_failed();
}

base::TimePoint moment(codec::JsonReader& reader) {
    return read_time(reader).value_or(base::TimePoint{});
}

Promise::Place read_place(codec::JsonReader& reader) {
    Promise::Place place;
    each_field(reader, [&](std::string_view key) {
        if (key == "node") return read_into(place.node, reader.read_text());
        if (key == "pods") return read_into(place.pods, static_cast<int>(reader.read_int()));
        return false;
    });
    return place;
}

}  // namespace

std::string format(const History& history) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("attained_gpu_ms").number(history.attained.count());
    json.key("lost_gpu_ms").number(history.lost.count());
    json.key("pauses").number(history.pauses);
    json.key("losses").number(history.losses);
    json.end_object();
    return text;
}

std::string format(const Receipt& receipt) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("paused").boolean(receipt.is_in_force);
    json.key("rule").string(receipt.rule);
    json.key("for").string(receipt.beneficiary);
    json.key("time").string(codec::format_time(receipt.time));
    json.key("deadline").string(codec::format_time(receipt.deadline));
    json.key("priority").number(receipt.priority);
    json.end_object();
    return text;
}

std::string format(const Promise& promise) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("time").string(codec::format_time(promise.time));
    json.key("until").string(codec::format_time(promise.until));
    json.key("places");
    json.begin_array();
    for (const Promise::Place& place : promise.places) {
        json.begin_object();
        json.key("node").string(place.node);
        json.key("pods").number(place.pods);
        json.end_object();
    }
    json.end_array();
    json.end_object();
    return text;
}

std::optional<History> history_of(const Labels& annotations) {
    History history;
    const bool is_there = read_annotation(
        annotations, kHistory, [&](codec::JsonReader& reader, std::string_view key) {
            if (key == "attained_gpu_ms")
                return read_into(history.attained, base::Duration{reader.read_int()});
            if (key == "lost_gpu_ms")
                return read_into(history.lost, base::Duration{reader.read_int()});
            if (key == "pauses")
                return read_into(history.pauses, static_cast<int>(reader.read_int()));
            if (key == "losses")
                return read_into(history.losses, static_cast<int>(reader.read_int()));
            return false;
        });
    return is_there ? std::optional(history) : std::nullopt;
}

std::optional<Receipt> receipt_of(const Labels& annotations) {
    Receipt receipt;
    const bool is_there = read_annotation(
        annotations, kLastPause, [&](codec::JsonReader& reader, std::string_view key) {
            if (key == "paused") return read_into(receipt.is_in_force, reader.read_bool());
            if (key == "rule") return read_into(receipt.rule, reader.read_text());
            if (key == "for") return read_into(receipt.beneficiary, reader.read_text());
            if (key == "time") return read_into(receipt.time, moment(reader));
            if (key == "deadline") return read_into(receipt.deadline, moment(reader));
            if (key == "priority")
                return read_into(receipt.priority, static_cast<int>(reader.read_int()));
            return false;
        });
    return is_there ? std::optional(std::move(receipt)) : std::nullopt;
}

std::optional<Promise> promise_of(const Labels& annotations) {
    Promise promise;
    const bool is_there = read_annotation(
        annotations, kPromise, [&](codec::JsonReader& reader, std::string_view key) {
            if (key == "time") return read_into(promise.time, moment(reader));
            if (key == "until") return read_into(promise.until, moment(reader));
            if (key != "places") return false;
            each_item(reader, [&] { promise.places.push_back(read_place(reader)); });
            return true;
        });
    return is_there ? std::optional(std::move(promise)) : std::nullopt;
}

bool is_paused(const Workload& workload) {
    if (!workload.is_suspended || workload.end != Workload::End::None) return false;
    const auto receipt = receipt_of(*workload.meta.annotations);
    return receipt && receipt->is_in_force;
}

}  // namespace berth::kube::objects
