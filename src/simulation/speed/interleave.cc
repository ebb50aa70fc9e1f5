// SPDX-License-Identifier: Apache-2.0
#include "simulation/speed/interleave.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kTurns = 4;  // of a period
constexpr double kAlone = 1.015;
constexpr double kCosts[] = {kAlone, 1.33 / kAlone, 1.5 / kAlone, 1.37 / kAlone};

using Places = std::array<std::size_t, kInterleavedMax>;  // of the jobs in the period

bool is_settled(double turn, double turn_of_last_period) {
    constexpr double kTolerance = 1e-3;
    return std::abs(turn - turn_of_last_period) <=
           kTolerance * std::max(std::abs(turn), std::abs(turn_of_last_period));
}

// In each turn one job communicates, one computes and one ends its reading, begun a turn earlier;
// the turn is over when all three are.
double period_ms(std::span<const Profile> group, const Places& places) {
    constexpr std::size_t kPeriods = 2;
    std::array<double, kTurns * kPeriods + 1> over{};  // turns are over
    for (std::size_t turn = 0; turn < kTurns * kPeriods; ++turn) {
        const auto job_at = [&](std::size_t shift) -> const Profile* {
            const std::size_t place = (turn + shift) % kTurns;
            return place < group.size() ? &group[places[place]] : nullptr;
        };
        double& end = over[turn + 1];
        if (const Profile* job = job_at(1)) end = std::max(end, over[turn] + job->network_ms);
        if (const Profile* job = job_at(2)) end = std::max(end, over[turn] + job->gpu_ms);
        const Profile* reader = turn > 0 ? job_at(3) : nullptr;
        if (reader) end = std::max(end, over[turn - 1] + reader->input_ms);
        if (turn >= kTurns &&
            is_settled(end - over[turn + 1 - kTurns], over[turn] - over[turn - kTurns])) {
            return end - over[turn + 1 - kTurns];
        }
    }
    return over[kTurns * kPeriods] - over[kTurns * (kPeriods - 1)];
}

// One reads while the other computes and communicates.
double half_and_half_ms(const Profile& one, const Profile& other) {
    return std::max(one.input_ms, other.gpu_ms + other.network_ms) +
           std::max(other.input_ms, one.gpu_ms + one.network_ms);
}

}  // namespace

double interleaved_iteration_ms(std::span<const Profile> group) {
    BERTH_CHECK(!group.empty() && group.size() <= kInterleavedMax, "a group of one to four");
    const double cost = kCosts[group.size() - 1];
    if (group.size() == 1) return group[0].iteration_ms * cost;
    Places places{};
    std::iota(places.begin(), places.end(), 0);
    double best = std::numeric_limits<double>::infinity();
    do {
        best = std::min(best, period_ms(group, places));
    } while (std::next_permutation(places.begin(), places.begin() + std::ssize(group)));
    if (group.size() == 2) best = std::min(best, half_and_half_ms(group[0], group[1]));
    return best * cost;
}

}  // namespace berth::simulation
