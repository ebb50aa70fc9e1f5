// SPDX-License-Identifier: Apache-2.0
//
// Events and errors in the API, whose members depend on what they are.
#include "codec/api/api_style.h"
#include "codec/fields/event_fields.h"
#include "codec/log/event_log.h"
#include "codec/text/json.h"

namespace berth::codec {
namespace {

constexpr std::array<std::string_view, 9> kCodes{"invalid",     "not_found", "exists",
                                                 "conflict",    "forbidden", "exhausted",
                                                 "unavailable", "timeout",   "internal"};

// What a server has to give that can be used up is its disk; 429 is said of what a client may do.
constexpr std::string_view kStorageFull = "storage-full";

std::string_view code_for(base::ErrorCode code, int status) {
    if (code == base::ErrorCode::Exhausted && status == 503) return kStorageFull;
    return kCodes[static_cast<std::size_t>(code)];
}

void write_event_members(const ApiStyle& style, JsonWriter& json, const model::Event& event) {
    json.key("sequence").number(event.sequence);
    json.key("time");
    style.write(json, event.time);
    json.key("actor").string(event.actor);
    json.key("type").string(event_type(event.body));
    std::visit([&](const auto& body) { write_members(style, json, body); }, event.body);
}

// In an object that is open. `type` stands before the members that depend on it.
void read_event_members(const ApiStyle& style, JsonReader& json, model::Event& event) {
    std::string_view key;
    bool has_body = false;
    while (!has_body && json.next_key(key)) {
        if (key == "sequence") {
            event.sequence = json.read_int();
        } else if (key == "time") {
            style.read(json, event.time);
        } else if (key == "actor") {
            event.actor = json.read_string();
        } else if (key == "type") {
            const std::string type = json.read_string();
            has_body = read_event_body(style, json, type, event.body);
            if (!has_body) json.fail("unknown type of event \"" + type + "\"");
        } else if (!style.read_envelope(json, key)) {
            json.skip();
        }
    }
    if (!has_body) json.fail("wanted the type of the event");
}

}  // namespace

std::string event_json(const model::Event& event, const NameSource& names) {
    std::string text;
    JsonWriter json(text);
    const ApiStyle style(&names);
    style.begin_document(json, "Event");
    write_event_members(style, json, event);
    style.end_document(json);
    return text;
}

base::Result<model::Event> parse_event_json(std::string_view text, NameTable& names) {
    const ApiStyle style("Event", Reading::Lenient, &names);
    JsonReader json(text);
    model::Event event;
    json.begin_object();
    read_event_members(style, json, event);
    return finished_document(json, event);
}

std::string event_list_json(const Page<model::Event>& events, const NameSource& names) {
    std::string text;
    JsonWriter json(text);
    const ApiStyle style(&names);
    style.begin_document(json, "EventList");
    json.key("items").begin_array();
    for (const model::Event& event : events.items) {
        json.begin_object();
        write_event_members(style, json, event);
        json.end_object();
    }
    json.end_array();
    json.key("next").string(events.next);
    style.end_document(json);
    return text;
}

base::Result<Page<model::Event>> parse_event_list(std::string_view text, NameTable& names) {
    const ApiStyle style("EventList", Reading::Lenient, &names);
    JsonReader json(text);
    Page<model::Event> page;
    std::string_view key;
    for (json.begin_object(); json.next_key(key);) {
        if (key == "items") {
            for (json.begin_array(); json.next_element();) {
                json.begin_object();
                read_event_members(style, json, page.items.emplace_back());
            }
        } else if (key == "next") {
            page.next = json.read_string();
        } else if (!style.read_envelope(json, key)) {
            json.skip();
        }
    }
    return finished_document(json, page);
}

std::string problem_json(const base::Error& error, int status, std::string_view hint) {
    std::string text;
    JsonWriter json(text);
    const std::string_view code = code_for(error.code, status);
    json.begin_object();
    json.key("type").string("about:blank");
    json.key("title").string(code);
    json.key("status").number(status);
    json.key("code").string(code);
    json.key("detail").string(error.message);
    if (!hint.empty()) json.key("hint").string(hint);
    json.end_object();
    return text;
}

base::Error parse_problem(std::string_view text) {
    const auto problem = parse_json(text, "answer");
    const Value* code = problem ? problem->find("code") : nullptr;
    const Value* detail = problem ? problem->find("detail") : nullptr;
    if (code != nullptr && detail != nullptr) {
        if (code->text == kStorageFull) return {base::ErrorCode::Exhausted, detail->text};
        for (std::size_t i = 0; i < kCodes.size(); ++i) {
            if (kCodes[i] == code->text) return {static_cast<base::ErrorCode>(i), detail->text};
        }
    }
    static constexpr std::size_t kShown = 200;
    return {base::ErrorCode::Internal,
            "the server answered something that is no error of Berth: \"" +
                std::string(text.substr(0, kShown)) + "\""};
}

}  // namespace berth::codec
