// SPDX-License-Identifier: Apache-2.0
#include "api/http/condition.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/hash.h"

namespace berth::api {
namespace {

// Whether the tag is one of those in the list, or any is.
bool has_tag(std::string_view list, std::string_view tag) {
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        std::string_view item = list.substr(0, comma);
        list.remove_prefix(std::min(comma + 1, list.size()));
        item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
        item = item.substr(0, std::min(item.find_last_not_of(" \t") + 1, item.size()));
        // A proxy that packs answers makes tags weak; ours are of what is said, not of its bytes.
        if (item.starts_with("W/")) item.remove_prefix(2);
        if (item == tag || item == "*") return true;
    }
    return false;
}

}  // namespace

std::string tag_of(std::string_view document) {
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.begin(), digits.end(), base::hash(document), 16).ptr;
    return '"' + std::string(digits.begin(), end) + '"';
}

Response tagged(const Request& request, std::string document) {
    std::string tag = tag_of(document);
    if (has_tag(request.known_etags, tag)) return {304, "", "", {{"ETag", std::move(tag)}}};
    return {200, std::move(document), "application/json", {{"ETag", std::move(tag)}}};
}

bool is_as_expected(std::string_view expected, std::string_view tag) {
    return expected.empty() || (!tag.empty() && has_tag(expected, tag));
}

}  // namespace berth::api
