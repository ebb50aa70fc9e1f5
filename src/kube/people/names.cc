// SPDX-License-Identifier: Apache-2.0
#include "kube/people/names.h"

#include <array>
#include <utility>
#include <vector>

namespace berth::kube::people {
namespace {

constexpr std::array<std::pair<std::string_view, cluster::Kind>, 7> kKinds{
    {{"job", cluster::Kind::Job},
     {"jobs", cluster::Kind::Job},
     {"job.batch", cluster::Kind::Job},
     {"jobs.batch", cluster::Kind::Job},
     {"pod", cluster::Kind::Pod},
     {"pods", cluster::Kind::Pod},
     {"po", cluster::Kind::Pod}}};

std::optional<cluster::Kind> kind_of(std::string_view word) {
    for (const auto& [name, kind] : kKinds) {
        if (name == word) return kind;
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
