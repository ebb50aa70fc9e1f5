// SPDX-License-Identifier: Apache-2.0
#include "codec/api/api_schema.h"

#include <vector>

#include "codec/api/api_style.h"
#include "codec/text/json_writer.h"

namespace berth::codec {
namespace {

std::string quoted(std::string_view text) {
    std::string out;
    append_json_string(out, text);
    return out;
}

}  // namespace

std::string SchemaBook::refer(const std::string& name, const std::function<std::string()>& make) {
    // Known before it is made, so that a type may contain itself.
    if (schemas_.try_emplace(name).second) schemas_[name] = make();
    return R"({"$ref":"#/components/schemas/)" + name + R"("})";
}

void ObjectSchema::add(std::string_view name, std::string_view schema, bool is_always_there) {
    properties_ += (properties_.empty() ? "" : ",") + quoted(name) + ":" + std::string(schema);
    if (is_always_there) required_ += (required_.empty() ? "" : ",") + quoted(name);
}

std::string ObjectSchema::text() const {
    std::string text = R"({"type":"object","properties":{)" + properties_ + "}";
    if (side_ == Side::Request) return text + R"(,"additionalProperties":false})";
    return text + R"(,"required":[)" + required_ + "]}";
}

std::string words_schema(std::span<const std::string_view> words) {
    std::string list;
    for (const std::string_view word : words) list += (list.empty() ? "" : ",") + quoted(word);
    return R"({"type":"string","enum":[)" + list + "]}";
}

std::string reasons_schema() {
    std::vector<std::string_view> words;
    for (int i = 0; i < model::kReasonCount; ++i)
        words.push_back(name(static_cast<model::Reason>(i)));
    return words_schema(words);
}

std::string integer_schema(std::int64_t least, std::uint64_t most) {
    return R"({"type":"integer","minimum":)" + std::to_string(least) + R"(,"maximum":)" +
           std::to_string(most) + "}";
}

std::string document_schema(SchemaBook& book, Side side, std::string_view kind,
                            const MoreMembers& members) {
    const std::string name = std::string(kind) + (side == Side::Request ? "Input" : "");
    return book.refer(name + "Document", [&] {
        ObjectSchema object(side);
        object.add("apiVersion", R"({"const":")" + std::string(kApiVersion) + R"("})");
        object.add("kind", R"({"const":")" + std::string(kind) + R"("})");
        members(book, object);
        if (side == Side::Answer) {
            object.add("job_names", R"({"type":"object","additionalProperties":{"type":"string"}})",
                       false);
        }
        return object.text();
    });
}

}  // namespace berth::codec
