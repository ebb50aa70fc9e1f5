// SPDX-License-Identifier: Apache-2.0
#include "foresight/what_if_sentence.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace berth::foresight {
namespace {

using model::Fate;

struct Kind {
    std::string_view verb;
    std::span<const Fate> fates;
};

constexpr Fate kPausing[] = {Fate::Pauses};
constexpr Fate kShrinking[] = {Fate::Shrinks};
constexpr Fate kMoving[] = {Fate::Moves};
constexpr Fate kStarting[] = {Fate::Starts, Fate::Promised};
constexpr Fate kGrowing[] = {Fate::Grows};
constexpr Kind kKinds[] = {{"pause", kPausing},
                           {"shrink", kShrinking},
                           {"move", kMoving},
                           {"start", kStarting},
                           {"grow", kGrowing}};

std::string jobs(int many) { return std::to_string(many) + (many == 1 ? " job" : " jobs"); }

// Those to which it happens then and not as things stand, or the other way round.
int many(const model::WhatIf& what_if, const Kind& kind, model::JobFate model::FateChange::* when,
         model::JobFate model::FateChange::* else_when) {
    const auto is = [&](const model::JobFate& fate) {
        return std::ranges::find(kind.fates, fate.fate) != kind.fates.end();
    };
    return static_cast<int>(std::ranges::count_if(what_if.jobs, [&](const auto& change) {
        return is(change.*when) && !is(change.*else_when);
    }));
}

// "1 job would pause, and 2 would start".
std::string happening(const model::WhatIf& what_if) {
    std::vector<std::string> parts;
    const auto add = [&](int count, std::string_view would, std::string_view verb) {
        if (count == 0) return;
        const std::string who = parts.empty() ? jobs(count) : std::to_string(count);
        parts.push_back(who + std::string(would) + std::string(verb));
    };
    using Change = model::FateChange;
    for (const Kind& kind : kKinds) {
        add(many(what_if, kind, &Change::then, &Change::now), " would ", kind.verb);
    }
    for (const Kind& kind : kKinds) {
        add(many(what_if, kind, &Change::now, &Change::then), " would not ", kind.verb);
    }
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) text += i + 1 == parts.size() ? ", and " : ", ";
        text += parts[i];
    }
    return text.empty() ? "No job would start or pause" : text;
}

std::string waiting(const model::WhatIf& what_if) {
    if (what_if.waiting_then == what_if.waiting_now) {
        if (what_if.waiting_now == 0) return "no job waits";
        return jobs(what_if.waiting_now) + (what_if.waiting_now == 1 ? " waits" : " wait") +
               " as before";
    }
    const std::string then = what_if.waiting_then == 0 ? "no job" : jobs(what_if.waiting_then);
    return then + " would wait, now " + std::to_string(what_if.waiting_now) +
           (what_if.waiting_now == 1 ? " does" : " do");
}

}  // namespace

std::string sentence_of(const model::WhatIf& what_if) {
    return happening(what_if) + "; " + waiting(what_if) + ".";
}

}  // namespace berth::foresight
