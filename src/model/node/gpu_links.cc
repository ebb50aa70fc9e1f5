// SPDX-License-Identifier: Apache-2.0
#include "model/node/gpu_links.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <sstream>
#include <string_view>

namespace berth::model {
namespace {

constexpr int kNvLink = 100;        // and one more for each link of the bond
constexpr int kSameIsland = 40;     // as PIX: at most one PCIe switch between
constexpr int kSameNuma = 10;
constexpr int kNvLinksMax = 99;

base::Result<int> nearness_of(std::string_view word) {
    using Word = std::pair<std::string_view, int>;
    constexpr std::array<Word, 6> kWords{{{"X", 0},
                                          {"SYS", 0},
                                          {"NODE", kSameNuma},
                                          {"PHB", 20},
                                          {"PXB", 30},
                                          {"PIX", kSameIsland}}};
    const auto known = std::ranges::find(kWords, word, &Word::first);
    if (known != kWords.end()) return known->second;
    int links = 1;
    const char* end = word.data() + word.size();
    const bool is_nvlink =
        word == "NV" || (word.starts_with("NV") &&
                         std::from_chars(word.data() + 2, end, links).ptr == end && links > 0);
    if (is_nvlink) return kNvLink + std::min(links, kNvLinksMax);
    return base::invalid("matrix: wanted X, NV18, PIX, PXB, PHB, NODE or SYS, found \"" +
                         std::string(word) + "\"");
}

base::Status check_size(std::string_view list, std::size_t size, int gpus) {
    if (size == 0 || size == static_cast<std::size_t>(gpus)) return {};
    return base::invalid(std::string(list) + ": wanted one entry for each of " +
                         std::to_string(gpus) + " GPUs, found " + std::to_string(size));
}

base::Status read_row(const std::string& text, std::size_t row, int gpus, std::vector<int>& near) {
    std::istringstream stream(text);
    const std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
    const auto count = static_cast<std::size_t>(gpus);
    if (words.size() != count) {
        return base::invalid("matrix: wanted " + std::to_string(gpus) + " words a row, found \"" +
                             text + "\"");
    }
    for (std::size_t column = 0; column < count; ++column) {
        BERTH_TRY(value, nearness_of(words[column]));
        near[row * count + column] = value;
    }
    return {};
}

}  // namespace

base::Result<std::vector<int>> nearness(const GpuLinks& links, int gpus) {
    BERTH_TRY_VOID(check_size("numa", links.numa.size(), gpus));
    BERTH_TRY_VOID(check_size("islands", links.islands.size(), gpus));
    BERTH_TRY_VOID(check_size("nics", links.nics.size(), gpus));
    BERTH_TRY_VOID(check_size("matrix", links.matrix.size(), gpus));
    const auto count = static_cast<std::size_t>(gpus);
    std::vector<int> near(count * count);
    for (std::size_t row = 0; row < links.matrix.size(); ++row) {
        BERTH_TRY_VOID(read_row(links.matrix[row], row, gpus, near));
    }
    if (!links.matrix.empty()) return near;
    const auto share = [](const std::vector<int>& places, std::size_t a, std::size_t b) {
        return !places.empty() && places[a] >= 0 && places[a] == places[b];
    };
    for (std::size_t a = 0; a < count; ++a) {
        for (std::size_t b = 0; b < count; ++b) {
            if (a == b) continue;
            near[a * count + b] = share(links.islands, a, b) ? kSameIsland
                                  : share(links.numa, a, b)  ? kSameNuma
                                                             : 0;
        }
    }
    return near;
}

}  // namespace berth::model
