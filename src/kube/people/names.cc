// SPDX-License-Identifier: Apache-2.0
#include "kube/people/names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::kube::people {
namespace {

constexpr std::array<std::string_view, 3> kPodWords{"pod", "pods", "po"};

// As kubectl has them: job, jobs, job.batch, jobs.batch.
bool is_word_of(std::string_view word, const objects::WorkloadTraits& kind) {
    const std::string group(kind.group.substr(0, kind.group.find('/')));
    const std::string_view name = word.substr(0, word.find('.'));
    if (name != kind.word && name != kind.plural) return false;
    return name == word || word.substr(name.size() + 1) == group;
}

std::optional<Kind> kind_of(std::string_view word) {
    if (std::ranges::find(kPodWords, word) != kPodWords.end()) return kPod;
    for (const objects::WorkloadTraits& kind : objects::kWorkloads) {
        if (is_word_of(word, kind)) return Kind{kind.kind};
    }
    return {};
}

std::vector<std::string> parts_of(std::span<const std::string> words) {
    std::vector<std::string> parts;
    for (const std::string& word : words) {
        for (std::size_t start = 0; start != std::string::npos;) {
            const std::size_t end = word.find('/', start);
            parts.push_back(word.substr(start, end == std::string::npos ? end : end - start));
            start = end == std::string::npos ? end : end + 1;
        }
    }
    return parts;
}

}  // namespace

base::Result<Asked> parse_asked(std::span<const std::string> words) {
    std::vector<std::string> parts = parts_of(words);
    std::string typed;
    for (const std::string& word : words) typed += (typed.empty() ? "" : " ") + word;
    const auto wrong = base::invalid("wanted job/NAME, pod/NAME or NAME, found \"" + typed + "\"");
    for (const std::string& part : parts) {
        if (part.empty()) return wrong;
    }
    Asked asked;
    asked.name = parts.back();
    parts.pop_back();
    if (!parts.empty()) asked.kind = kind_of(parts.back());
    if (asked.kind) parts.pop_back();
    if (words.size() > 1 && !asked.kind) return wrong;
    if (parts.size() > 1) return wrong;
    if (!parts.empty()) asked.name_space = parts.front();
    return asked;
}

}  // namespace berth::kube::people
