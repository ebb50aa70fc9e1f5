// SPDX-License-Identifier: Apache-2.0
//
// What is decided in a life of a cluster, word for word? The life as a scenario: each line that
// happens, below it what was printed, and in comments what the printed lines leave out: which rank
// goes where, by which rule, what a pause costs, when to decide again. Two cores that decide the
// same tell the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace berth::proof {

// One line of the life, and what it led to.
struct Step {
    std::string line;
    std::vector<std::string> plan;      // "> start p0/j1 n0:0", "# wakes in 5000ms"
    std::vector<std::string> verdicts;  // "> wait p0/j2 ...", and answers of why, when, suggestion

    bool operator==(const Step&) const = default;
};

// A random cluster and what happens to it; in lives of even seeds some gangs have companions.
std::vector<Step> life_of_seed(std::uint64_t seed);

// A scenario file; what it expects is left to scenario_suite.
std::vector<Step> life_of_scenario(const std::filesystem::path& file);

}  // namespace berth::proof
