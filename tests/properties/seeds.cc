// SPDX-License-Identifier: Apache-2.0
#include "seeds.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <string_view>

namespace berth::proof {
namespace {

constexpr std::uint64_t kFailuresShown = 10;
constexpr std::size_t kFindingsShown = 5;

struct Range {
    std::uint64_t first = 1;
    std::uint64_t seeds = 1000;
};

bool read(int argc, char** argv, Range& range) {
    for (int i = 1; i < argc; i += 2) {
        const std::string_view word = argv[i];
        if (i + 1 == argc || (word != "--seeds" && word != "--first")) return false;
        const std::string_view text = argv[i + 1];
        const char* end = text.data() + text.size();
        std::uint64_t& number = word == "--seeds" ? range.seeds : range.first;
        if (std::from_chars(text.data(), end, number).ptr != end) return false;
    }
    return true;
}

}  // namespace

bool holds_for_seeds(int argc, char** argv, const Findings& findings) {
    const std::string program = argv[0];
    Range range;
    if (!read(argc, argv, range)) {
        std::cerr << "usage: " << program << " [--first SEED] [--seeds N]\n";
        return false;
    }
    std::uint64_t failed = 0;
    for (std::uint64_t seed = range.first; seed < range.first + range.seeds; ++seed) {
        const std::vector<std::string> found = findings(seed);
        if (found.empty() || ++failed > kFailuresShown) continue;
        std::cout << "seed " << seed << " fails; alone: " << program << " --first " << seed
                  << " --seeds 1\n";
        for (std::size_t at = 0; at < std::min(found.size(), kFindingsShown); ++at) {
            std::cout << "  " << found[at] << '\n';
        }
        std::cout << std::flush;
    }
    std::cout << range.seeds << " seeds, " << failed << " failed\n";
    return failed == 0;
}

}  // namespace berth::proof
