// SPDX-License-Identifier: Apache-2.0
#include "api/live/explanations.h"

namespace berth::api {

Explanations::Number Explanations::settle(Number before, const std::string& text, bool is_in_round,
                                          Revision now) {
    if (before != 0) {
        Said& said = said_.at(before);
        const bool is_first = is_in_round && said.round != round_;
        if (said.text == text || (is_first && !text.empty())) {
            if (is_in_round) said.round = round_;
            if (said.text == text) return before;
            forget_text(before, said.text);
            by_text_.try_emplace(text, before);
            said.text = text;
            said.changed = changed_ = now;
            return before;
        }
        leave(before);
    }
    if (text.empty()) return 0;
    const Number number = join(text, now);
    if (is_in_round) said_.at(number).round = round_;
    return number;
}

Explanations::Number Explanations::join(const std::string& text, Revision now) {
    const auto [found, is_new] = by_text_.try_emplace(text, last_ + 1);
    if (is_new) {
        said_[++last_] = {text, now, 0, 0};
        changed_ = now;
    }
    ++said_.at(found->second).jobs;
    return found->second;
}

void Explanations::leave(Number number) {
    Said& said = said_.at(number);
    if (--said.jobs > 0) return;
    forget_text(number, said.text);
    said_.erase(number);
}

void Explanations::forget_text(Number number, const std::string& text) {
    const auto found = by_text_.find(text);
    if (found != by_text_.end() && found->second == number) by_text_.erase(found);
}

std::string Explanations::since(Revision revision) const {
    std::string text = "{";
    for (const auto& [number, said] : said_) {
        if (said.changed <= revision) continue;
        if (text.size() > 1) text += ',';
        text += "\"" + std::to_string(number) + "\":" + said.text;
    }
    return text + "}";
}

}  // namespace berth::api
