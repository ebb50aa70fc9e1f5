// SPDX-License-Identifier: Apache-2.0
#include "api/contract/openapi.h"

#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/contract/route_table.h"
#include "api/contract/schemas.h"
#include "codec/text/json_writer.h"

namespace berth::api {
namespace {

using codec::JsonWriter;

// At most 200 bytes, which fifty characters have never more than; no control characters.
constexpr std::string_view kName = R"(^[^/\x00-\x1f\x7f-\x9f\u2028\u2029]{1,50}$)";
constexpr std::string_view kProblem = "application/problem+json";
// That any request may meet, with who says so.
constexpr std::pair<int, std::string_view> kAlways[] = {
    {400, "what is asked cannot be read"}, {401, "no token, or a wrong one"},
    {403, "who asks may not do this"},     {408, "the request did not come to its end in time"},
    {413, "the request is too large"},     {429, "too many wrong tokens"},
    {431, "the header is too large"},      {503, "the server has no room for it now; ask again"}};

std::string_view meaning_of(int status) {
    switch (status) {
        case 200: return "done";
        case 201: return "made";
        case 202: return "begun";
        case 404: return "there is no such thing";
        case 409: return "as things are, this cannot be done";
        case 412: return "it is not any more what If-Match says";
        case 422: return "well formed, but it cannot be";
        default: break;
    }
    const auto known = std::ranges::find(kAlways, status, &std::pair<int, std::string_view>::first);
    return known == std::end(kAlways) ? "" : known->second;
}

void write_schema(JsonWriter& json, const Parameter& parameter, std::string_view place) {
    json.begin_object();
    json.key("type").string(parameter.takes == Takes::Whole   ? "integer"
                            : parameter.takes == Takes::Flag  ? "boolean"
                            : parameter.takes == Takes::Words ? "array"
                                                              : "string");
    if (parameter.takes == Takes::Date) json.key("format").string("date");
    if (parameter.takes == Takes::Time) json.key("format").string("date-time");
    if (place == "path" && parameter.takes == Takes::Text) json.key("pattern").string(kName);
    if (parameter.takes == Takes::Whole) {
        json.key("minimum").number(0);
        json.key("maximum").number(INT64_MAX);
    }
    if (parameter.takes == Takes::Words) {
        json.key("minItems").number(1);
        json.key("items").begin_object();
        json.key("type").string("string");
    }
    if (!parameter.words.empty()) {
        json.key("enum").begin_array();
        for (const std::string_view word : parameter.words) json.string(word);
        json.end_array();
    }
    if (parameter.takes == Takes::Words) json.end_object();
    json.end_object();
}

void write_parameter(JsonWriter& json, const Parameter& parameter, std::string_view place) {
    json.begin_object();
    json.key("name").string(parameter.name);
    json.key("in").string(place);
    json.key("description").string(parameter.meaning);
    if (place == "path") json.key("required").boolean(true);
    if (parameter.takes == Takes::Words) json.key("explode").boolean(false);
    json.key("schema");
    write_schema(json, parameter, place);
    json.end_object();
}

void write_parameters(JsonWriter& json, const Route& route) {
    json.key("parameters").begin_array();
    for (const std::string_view word : open_words(route.path))
        write_parameter(json, open_word(word), "path");
    for (const Parameter& parameter : route.query) write_parameter(json, parameter, "query");
    if ((route.answer == post_job || route.answer == patch_job)) {
        write_parameter(json,
                        {"Idempotency-Key", Takes::Text,
                         "makes it safe to ask again: the same key is the same job"},
                        "header");
    }
    if (route.takes_condition) {
        write_parameter(
            json,
            {"If-Match", Takes::Text, "the ETag of what was read: 412 where it is another one now"},
            "header");
    }
    json.end_array();
}

// A media type, and how what is sent as it looks.
struct Content {
    std::string_view media;
    std::string schema;
};

void write_content(JsonWriter& json, std::span<const Content> contents) {
    json.key("content").begin_object();
    for (const Content& content : contents) {
        json.text_key(content.media).begin_object();
        json.key("schema").raw(content.schema);
        json.end_object();
    }
    json.end_object();
}

// Probes say no in plain words.
bool is_probe(const Route& route) { return route.path.starts_with('/'); }

void write_answers(JsonWriter& json, codec::SchemaBook& book, const Route& route) {
    const auto write = [&](int status, std::span<const Content> contents) {
        json.key(std::to_string(status)).begin_object();
        json.key("description").string(meaning_of(status));
        write_content(json, contents);
        json.end_object();
    };
    std::vector<Content> done{{route.media, route.answers(book)}};
    if (!route.also.empty()) done.push_back({route.also, schemas::text(book)});
    const std::vector<Content> refused{{kProblem, schemas::problem(book)}};
    json.key("responses").begin_object();
    for (const int status : route.successes)
        if (status != 0) write(status, done);
    for (const int status : route.refusals)
        if (status != 0) write(status, refused);
    for (const auto& [status, meaning] : kAlways)
        write(status, status == 503 && is_probe(route) ? done : refused);
    json.end_object();
}

std::string lower(std::string_view method) {
    std::string text(method);
    std::ranges::transform(text, text.begin(), [](char letter) { return letter | 0x20; });
    return text;
}

std::string operation_id(const Route& route) {
    std::string id = lower(route.method);
    for (const char letter : route.path) {
        if (letter == '/' || letter == '-' || letter == '.') id += '_';
        if (letter >= 'a' && letter <= 'z') id += letter;
    }
    return id;
}

void write_operation(JsonWriter& json, codec::SchemaBook& book, const Route& route) {
    json.key(lower(route.method)).begin_object();
    json.key("operationId").string(operation_id(route));
    json.key("summary").string(route.summary);
    write_parameters(json, route);
    if (route.body != nullptr) {
        json.key("requestBody").begin_object();
        json.key("required").boolean(route.has_to_have_body);
        write_content(json, std::vector<Content>{{kJson, route.body(book)}});
        json.end_object();
    }
    write_answers(json, book, route);
    if (route.right == Right::Anyone) {
        json.key("security").begin_array();
        json.end_array();
    }
    json.end_object();
}

void write_paths(JsonWriter& json, codec::SchemaBook& book) {
    json.key("paths").begin_object();
    std::vector<std::string_view> written;
    for (const Route& first : routes()) {
        if (std::ranges::find(written, first.path) != written.end()) continue;
        written.push_back(first.path);
        const bool is_root = first.path.starts_with('/');
        json.text_key((is_root ? "" : std::string(kPrefix)) + std::string(first.path));
        json.begin_object();
        for (const Route& route : routes())
            if (route.path == first.path) write_operation(json, book, route);
        json.end_object();
    }
    json.end_object();
}

}  // namespace

std::string openapi_json(std::string_view version) {
    std::string body;
    JsonWriter json(body);
    codec::SchemaBook book;
    json.begin_object();
    json.key("openapi").string("3.1.0");
    json.key("info").begin_object();
    json.key("title").string("Berth");
    json.key("version").string(version);
    json.key("license").begin_object();
    json.key("name").string("Apache-2.0");
    json.key("identifier").string("Apache-2.0");
    json.end_object();
    json.end_object();
    write_paths(json, book);
    json.key("components").begin_object();
    json.key("securitySchemes").begin_object();
    json.key("token").begin_object();
    json.key("type").string("http");
    json.key("scheme").string("bearer");
    json.end_object();
    json.end_object();
    json.key("schemas").begin_object();
    for (const auto& [name, schema] : book.all()) json.text_key(name).raw(schema);
    json.end_object();
    json.end_object();
    json.key("security").begin_array();
    json.begin_object();
    json.key("token").begin_array();
    json.end_array();
    json.end_object();
    json.end_array();
    json.end_object();
    return body;
}

void get_openapi(Site& site, Call call) {
    static const std::string kDocument = openapi_json(site.facts.version);
    call.respond(json_response(kDocument));
}

}  // namespace berth::api
