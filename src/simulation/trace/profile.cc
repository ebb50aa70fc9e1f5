// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/profile.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

namespace berth::simulation {
namespace {

constexpr double kIterationMsMax = 1e9;
constexpr double kPercentMax = 100;

struct Column {
    std::string_view name;
    double max;
    void (*set)(Profile&, double);
};

std::int32_t rounded(double percent) { return static_cast<std::int32_t>(std::lround(percent)); }

constexpr Column kKnown[] = {
    {"iteration_time", kIterationMsMax, [](Profile& to, double ms) { to.iteration_ms = ms; }},
    {"resource_time_0", kIterationMsMax, [](Profile& to, double ms) { to.input_ms = ms; }},
    {"resource_time_1", kIterationMsMax, [](Profile& to, double ms) { to.gpu_ms = ms; }},
    {"resource_time_2", kIterationMsMax, [](Profile& to, double ms) { to.network_ms = ms; }},
    {"sm_percent", kPercentMax, [](Profile& to, double part) { to.sm_percent = rounded(part); }},
    {"memory_percent", kPercentMax,
     [](Profile& to, double part) { to.memory_percent = rounded(part); }},
};

}  // namespace

ProfileColumns::ProfileColumns(std::span<const std::string_view> header) {
    static_assert(std::size(kKnown) == kColumns);
    for (std::size_t at = 0; at < kColumns; ++at) {
        const auto found = std::ranges::find(header, kKnown[at].name);
        if (found != header.end()) {
            places_[at] = static_cast<std::size_t>(found - header.begin());
        }
    }
}

base::Result<Profile> ProfileColumns::read(std::span<const std::string_view> row) const {
    Profile profile;
    for (std::size_t at = 0; at < kColumns; ++at) {
        if (!places_[at] || *places_[at] >= row.size() || row[*places_[at]].empty()) continue;
        const std::string_view text = row[*places_[at]];
        double value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool is_number = error == std::errc() && end == text.data() + text.size();
        if (!is_number || !(value >= 0 && value <= kKnown[at].max)) {
            return base::invalid(std::string(kKnown[at].name) + ": wanted a number from 0 to " +
                                 std::to_string(std::llround(kKnown[at].max)) + ", found \"" +
                                 std::string(text) + "\"");
        }
        kKnown[at].set(profile, value);
    }
    return profile;
}

}  // namespace berth::simulation
