// SPDX-License-Identifier: Apache-2.0
#include "api/contract/asked.h"

#include <algorithm>

#include "codec/words/timestamp.h"
#include "codec/words/words.h"

namespace berth::api {
namespace {

base::Status check_words(const Parameter& parameter, std::string_view text) {
    const bool is_list = parameter.takes == Takes::Words;
    do {
        const std::size_t end = is_list ? std::min(text.find(','), text.size()) : text.size();
        const std::string_view word = text.substr(0, end);
        if (std::ranges::find(parameter.words, word) == parameter.words.end()) {
            return base::invalid(std::string(parameter.name) + ": wanted " +
                                 (is_list ? "some of " : "") + codec::listed(parameter.words) +
                                 ", found \"" + std::string(word) + "\"" +
                                 codec::did_you_mean(word, parameter.words));
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    } while (!text.empty());
    return {};
}

base::Status check_value(const Parameter& parameter, std::string_view text) {
    switch (parameter.takes) {
        case Takes::Text: return {};
        case Takes::Date:
            if (codec::parse_time(std::string(text) + "T00:00:00Z")) return {};
            return base::invalid(std::string(parameter.name) +
                                 ": wanted a date such as 2026-11-27, found \"" +
                                 std::string(text) + "\"");
        case Takes::Time: {
            if (codec::parse_time(text)) return {};
            return base::invalid(std::string(parameter.name) +
                                 ": wanted a time such as 2026-11-27T09:00:00Z, found \"" +
                                 std::string(text) + "\"");
        }
        case Takes::Whole: {
            BERTH_TRY_VOID(parse_number(parameter.name, text));
            return {};
        }
        case Takes::Flag: {
            if (text == "true" || text == "false") return {};
            return base::invalid(std::string(parameter.name) + ": wanted true or false, found \"" +
                                 std::string(text) + "\"");
        }
        case Takes::Word:
        case Takes::Words: return check_words(parameter, text);
    }
    return {};
}

// What is asked is what the table says may be: a misspelt wish is not passed over.
base::Status check_query(const Route& route, const Request& request) {
    std::vector<std::string_view> known;
    for (const Parameter& parameter : route.query) known.push_back(parameter.name);
    std::vector<std::string_view> found;
    for (const auto& [name, value] : request.query) {
        const auto parameter = std::ranges::find(route.query, name, &Parameter::name);
        if (parameter == route.query.end()) {
            return base::invalid(
                "query: unknown parameter \"" + name + "\"" +
                (known.empty() ? "; this address takes none" : codec::did_you_mean(name, known)));
        }
        if (std::ranges::find(found, name) != found.end())
            return base::invalid(name + ": given more than once");
        found.push_back(name);
        BERTH_TRY_VOID(check_value(*parameter, value));
    }
    return {};
}

}  // namespace

base::Status check_asked(const Route& route, const Request& request,
                         const std::vector<std::string>& words) {
    std::size_t at = 0;
    for (const std::string_view name : open_words(route.path)) {
        BERTH_TRY_VOID(check_value(open_word(name), words[at++]));
    }
    // Who names what it has read must not change something else unawares.
    const bool is_change = route.method != "GET";
    if (is_change && !route.takes_condition && !request.expected_etags.empty())
        return base::invalid("If-Match: " + std::string(route.method) + " here does not take it");
    return check_query(route, request);
}

}  // namespace berth::api
