// SPDX-License-Identifier: Apache-2.0
#include "scenario/facts.h"

#include <algorithm>
#include <sstream>

#include "scenario/render.h"

namespace berth::scenario {
namespace {

using model::Verdict;

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream text(line);
    std::vector<std::string> words;
    for (std::string word; text >> word;) words.push_back(word);
    return words;
}

// wait JOB REASON KEY=VALUE...; the sentence of a whole line follows its reason and a colon.
bool is_facts(const std::vector<std::string>& words) {
    if (words.size() < 3 || words[0] != "wait" || words[2].ends_with(':')) return false;
    return std::all_of(words.begin() + 3, words.end(),
                       [](const std::string& word) { return word.find('=') != std::string::npos; });
}

std::string blockers(const lifecycle::State& state, const Verdict& verdict) {
    std::string names;
    for (const model::JobId job : verdict.blockers) {
        names += (names.empty() ? "" : ",") + name_of(state, job);
    }
    return names;
}

std::string value(const std::string& key, const lifecycle::State& state, const Verdict& verdict) {
    if (key == "asks") return base::format(verdict.asks);
    if (key == "idle") return base::format(verdict.idle);
    if (key == "capacity") return base::format(verdict.capacity);
    if (key == "used") return base::format(verdict.used);
    if (key == "bound") return base::format(verdict.bound);
    if (key == "host_asks") return std::to_string(verdict.host_asks);
    if (key == "host_used") return std::to_string(verdict.host_used);
    if (key == "host_bound") return std::to_string(verdict.host_bound);
    if (key == "tasks_asked") return std::to_string(verdict.tasks_asked);
    if (key == "tasks_fit") return std::to_string(verdict.tasks_fit);
    if (key == "largest_free") return base::format(verdict.largest_free);
    if (key == "compute_asked") return base::format(verdict.compute_asked);
    if (key == "memory_asked") return base::format(verdict.memory_asked);
    if (key == "compute_left") return base::format(verdict.compute_left);
    if (key == "memory_left") return base::format(verdict.memory_left);
    if (key == "scope") return verdict.scope;
    if (key == "group") return verdict.group;
    if (key == "position") return std::to_string(verdict.position);
    if (key == "blockers") return blockers(state, verdict);
    return "no-such-fact";
}

// The verdict with the keys of these words.
std::string facts(const std::vector<std::string>& words, const lifecycle::State& state,
                  const Verdict& verdict) {
    std::string line = "wait " + words[1] + " " + std::string(model::name(verdict.reason));
    for (std::size_t i = 3; i < words.size(); ++i) {
        const std::string key = words[i].substr(0, words[i].find('='));
        std::string word = value(key, state, verdict);
        std::ranges::replace(word, ' ', '_');  // one word, as it is read again
        line += " " + key + "=" + word;
    }
    return line;
}

}  // namespace

std::vector<std::string> in_form_of(std::span<const std::string> expected,
                                    std::vector<std::string> printed,
                                    std::span<const Verdict> verdicts,
                                    const lifecycle::State& state) {
    for (const std::string& line : expected) {
        const std::vector<std::string> words = words_of(line);
        if (!is_facts(words)) continue;
        const auto verdict = std::ranges::find(
            verdicts, words[1], [&](const Verdict& each) { return name_of(state, each.job); });
        if (verdict == verdicts.end()) continue;
        std::ranges::replace(printed, render(state, *verdict), facts(words, state, *verdict));
    }
    return printed;
}

}  // namespace berth::scenario
