// SPDX-License-Identifier: Apache-2.0
//
// Which addresses are there, what may be asked at each, and what is answered? One row each: what
// comes in is compared with it (asked.h), and it is what `GET openapi.json` says (openapi.h).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/answers/site.h"
#include "codec/api/api_schema.h"

namespace berth::api {

inline constexpr std::string_view kPrefix = "/api/v1/";

enum class Takes { Text, Whole, Flag, Word, Words, Date, Time };

struct Parameter {
    std::string_view name;
    Takes takes;
    std::string_view meaning;
    std::span<const std::string_view> words = {};
};

// Of each answer that is of the cluster at one moment: dispatch.cc finds what it was then.
inline constexpr Parameter kAt{
    "at", Takes::Time,
    "as it was at that moment, by the log; without what was measured or foreseen then"};

using SchemaOf = std::string (*)(codec::SchemaBook&);

// Whether the same question has the same answer until the next event; what depends on the time
// beside that (ranks, the end of a minimum run) may be kSameFor old then.
enum class Changes { Always, WithEvents };
inline constexpr base::Duration kSameFor{10'000};

inline constexpr std::string_view kJson = "application/json";

struct Route {
    std::string_view method;
    // Below kPrefix, or from the root; "{job}" stands for one word that is left open.
    std::string_view path;
    Right right;  // that who asks has to have
    void (*answer)(Site&, Call);
    std::string_view summary;
    SchemaOf answers;
    std::array<int, 2> successes{200};
    std::array<int, 4> refusals{};  // beside those that any request may meet
    std::span<const Parameter> query{};
    SchemaOf body = nullptr;  // null: none is read
    bool has_to_have_body = true;  // where one is read
    bool takes_condition = false;  // If-Match
    std::string_view media = kJson;  // of the answer
    std::string_view also = {};  // of another form of it, which is a text
    Changes changes = Changes::Always;
};

std::span<const Route> routes();

// "jobs/{job}/why" -> "job".
std::vector<std::string_view> open_words(std::string_view path);
// What the word of that name has to be.
Parameter open_word(std::string_view name);

}  // namespace berth::api
