// SPDX-License-Identifier: Apache-2.0
#include "codec/words/words.h"

#include <algorithm>
#include <vector>

namespace berth::codec {
namespace {

constexpr std::size_t kComparedMax = 64;

// Insertions, deletions, replacements and swaps of neighbours that turn one into the other.
std::size_t mistakes(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before[j - 2] + 1);
            }
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

}  // namespace

std::optional<model::Reason> reason_named(std::string_view text) {
    for (int i = 0; i < model::kReasonCount; ++i) {
        if (name(static_cast<model::Reason>(i)) == text) return static_cast<model::Reason>(i);
    }
    return std::nullopt;
}

std::string listed(std::span<const std::string_view> words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

std::optional<std::string_view> nearest(std::string_view text,
                                        std::span<const std::string_view> candidates) {
    if (text.empty() || text.size() > kComparedMax) return std::nullopt;
    std::optional<std::string_view> best;
    std::size_t fewest = text.size() <= 2 ? 2 : std::max<std::size_t>(1, text.size() / 3) + 1;
    for (const std::string_view candidate : candidates) {
        if (candidate.size() > kComparedMax) continue;
        const std::size_t count = mistakes(text, candidate);
        if (count < fewest) {
            fewest = count;
            best = candidate;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates) {
    const auto meant = nearest(text, candidates);
    return meant ? ", did you mean \"" + std::string(*meant) + "\"?" : "";
}

}  // namespace berth::codec
