// SPDX-License-Identifier: Apache-2.0
#include "codec/log/event_log.h"

#include "codec/fields/event_fields.h"

namespace berth::codec {

template <>
struct Fields<FinishedJob> {
    static void visit(auto&& field) {
        field("record", &FinishedJob::record);
        field("launch", &FinishedJob::launch);
    }
};

namespace {

// Bare integers, defaults left out, unknown names passed over.
struct LogStyle {
    static constexpr bool kOmitsDefaults = true;

    template <typename Tag>
    void write(JsonWriter& json, base::Quantity<Tag> amount) const {
        json.number(amount.value);
    }
    template <typename Tag>
    void read(JsonReader& json, base::Quantity<Tag>& amount) const {
        amount.value = json.read_int();
    }
    template <typename Tag, typename Int>
    void write(JsonWriter& json, base::Id<Tag, Int> id) const {
        write_value(*this, json, id.value);
    }
    template <typename Tag, typename Int>
    void read(JsonReader& json, base::Id<Tag, Int>& id) const {
        read_number(json, id.value);
    }
    void write(JsonWriter& json, base::Duration duration) const { json.number(duration.count()); }
    void read(JsonReader& json, base::Duration& duration) const {
        duration = base::Duration{json.read_int()};
    }
    void write(JsonWriter& json, base::TimePoint time) const { json.number(base::to_ms(time)); }
    void read(JsonReader& json, base::TimePoint& time) const {
        time = base::at_ms(json.read_int());
    }
    template <typename T>
    void read_unknown(JsonReader& json, std::string_view) const {
        json.skip();
    }
};

constexpr LogStyle kStyle;

void check_version(JsonReader& json) {
    const std::int64_t version = json.read_int();
    if (version > kLogVersion && !json.is_failed()) {
        json.fail("written by a newer version of Berth (format " + std::to_string(version) +
                  ", this program knows up to " + std::to_string(kLogVersion) + ")");
    }
}

// Every text begins with its version, so that a newer one is refused for what it is.
void begin_versioned(JsonReader& json) {
    std::string_view key;
    json.begin_object();
    if (json.next_key(key) && key == "v") return check_version(json);
    json.fail("wanted the format version \"v\" in front");
}

template <typename T>
void append_versioned(std::string& out, const T& value) {
    JsonWriter json(out);
    json.begin_object();
    json.key("v").number(kLogVersion);
    write_members(kStyle, json, value);
    json.end_object();
}

template <typename T>
base::Result<T> finished_reading(JsonReader& json, T& value, std::string_view what) {
    json.finish();
    if (!json.is_failed()) return std::move(value);
    return base::invalid("cannot read a stored " + std::string(what) + ": " + json.error());
}

template <typename T>
base::Result<T> parse_versioned(std::string_view text, std::string_view what) {
    JsonReader json(text);
    T value;
    begin_versioned(json);
    read_members(kStyle, json, value);
    return finished_reading(json, value, what);
}

}  // namespace

std::string_view event_type(const model::EventBody& body) { return kEventTypes[body.index()]; }

model::JobId job_of(const model::EventBody& body) {
    return std::visit(
        [](const auto& event) {
            if constexpr (requires { event.job; }) {
                return event.job;
            } else {
                return model::JobId{};
            }
        },
        body);
}

void append_event(std::string& out, const model::Event& event) {
    JsonWriter json(out);
    json.begin_object();
    json.key("v").number(kLogVersion);
    json.key("seq").number(event.sequence);
    json.key("time").number(base::to_ms(event.time));
    json.key("actor").string(event.actor);
    json.key("type").string(event_type(event.body));
    std::visit([&](const auto& body) { write_members(kStyle, json, body); }, event.body);
    json.end_object();
}

base::Result<model::Event> parse_event(std::string_view text) {
    JsonReader json(text);
    model::Event event;
    begin_versioned(json);
    std::string_view key;
    bool has_body = false;
    while (!has_body && json.next_key(key)) {
        if (key == "seq") {
            event.sequence = json.read_int();
        } else if (key == "time") {
            event.time = base::at_ms(json.read_int());
        } else if (key == "actor") {
            event.actor = json.read_string();
        } else if (key == "type") {
            const std::string type = json.read_string();
            has_body = read_event_body(kStyle, json, type, event.body);
            if (!has_body) json.fail("unknown type of event \"" + type + "\"");
        } else {
            json.skip();
        }
    }
    if (!has_body) json.fail("wanted the type of the event");
    return finished_reading(json, event, "event");
}

void append_launch(std::string& out, const model::LaunchSpec& launch) {
    append_versioned(out, launch);
}

base::Result<model::LaunchSpec> parse_launch(std::string_view text) {
    return parse_versioned<model::LaunchSpec>(text, "command");
}

void append_snapshot(std::string& out, const model::Snapshot& snapshot) {
    append_versioned(out, snapshot);
}

base::Result<model::Snapshot> parse_snapshot(std::string_view text) {
    return parse_versioned<model::Snapshot>(text, "snapshot");
}

void append_finished(std::string& out, const model::JobRecord& record) {
    JsonWriter json(out);
    json.begin_object();
    json.key("v").number(kLogVersion);
    json.key("record");
    write_value(kStyle, json, record);
    json.end_object();
}

base::Result<FinishedJob> parse_finished(std::string_view text) {
    return parse_versioned<FinishedJob>(text, "finished job");
}

std::string order_text(const model::OrderLedger& ledger) {
    std::string text;
    append_versioned(text, ledger);
    return text;
}

base::Result<model::OrderLedger> parse_order(std::string_view text) {
    return parse_versioned<model::OrderLedger>(text, "memory of the order");
}

}  // namespace berth::codec
