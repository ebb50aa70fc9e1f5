// SPDX-License-Identifier: Apache-2.0
#include "simulation/speed/mix.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "model/job/packing.h"
#include "simulation/speed/interleave.h"

namespace berth::simulation {
namespace {

constexpr std::int32_t kAll = 100;  // percent
// The rule of decisions.
constexpr auto kSmTogetherMax = static_cast<std::int32_t>(model::kPackedTogetherMax.value / 10);
constexpr double kLeftOfHalfIdle = 0.75;

Speed millionths(double part) { return std::llround(part * static_cast<double>(kFullSpeed)); }

std::int32_t sum(std::span<const Profile> group, std::int32_t Profile::* share) {
    std::int32_t percent = 0;
    for (const Profile& one : group) percent += std::max(one.*share, 0);
    return percent;
}

std::int32_t sm_percent(const Profile& profile) {
    if (profile.sm_percent != Profile::kUnknown || !profile.has_stages()) return profile.sm_percent;
    return static_cast<std::int32_t>(std::lround(kAll * profile.gpu_ms / profile.iteration_ms));
}

}  // namespace

Mixes::Mixes(const Trace& trace, Packing packing, const SpeedTable* table)
    : packing_(packing), table_(table) {
    const bool are_alike = packing == Packing::None && !table;
    std::map<std::tuple<Profile, std::string, std::int32_t>, Kind> known;
    for (const TraceJob& job : trace) {
        auto key = std::tuple(job.profile, job.name, job.gpus);
        if (are_alike) key = {};
        const auto [place, is_new] = known.try_emplace(key, static_cast<Kind>(kinds_.size()));
        kinds_of_.push_back(place->second);
        if (!is_new) continue;
        About about{.profile = job.profile, .job = {job.name, job.gpus}};
        about.profile.sm_percent = sm_percent(job.profile);
        for (std::size_t model = 0; table && model < table->on_models.size(); ++model) {
            const SpeedTable::Alone alone = table->alone(about.job, model);
            about.alone.push_back({millionths(alone.together), millionths(alone.spread)});
        }
        kinds_.push_back(std::move(about));
    }
}

Speed Mixes::spread(Kind kind) const {
    Speed part = kFullSpeed;
    for (const Alone& one : about(kind).alone) {
        if (one.together > 0) part = std::min(part, kFullSpeed * one.spread / one.together);
    }
    return part;
}

std::size_t Mixes::size_max() const {
    if (packing_ == Packing::None) return 1;
    return packing_ == Packing::Pairs ? model::kPackedMax : kInterleavedMax;
}

Mixes::Mix Mixes::with(Mix mix, Kind kind) {
    if (mix != kEmpty && known(mix).kinds.size() == size_max()) return kRefused;
    const auto [place, is_new] = next_.try_emplace({mix, kind}, kRefused);
    if (is_new) {
        std::vector<Kind> kinds = known(mix).kinds;
        kinds.push_back(kind);
        const Mix made = of(std::move(kinds));
        if (known(made).may_share) place->second = made;
    }
    return place->second;
}

Mixes::Mix Mixes::of(std::vector<Kind> kinds) {
    std::ranges::sort(kinds);
    const auto [place, is_new] = numbers_.try_emplace(kinds, static_cast<Mix>(mixes_.size()));
    if (!is_new) return place->second;
    Known made;
    made.speeds = speeds(kinds);
    made.total = std::accumulate(made.speeds.begin(), made.speeds.end(), Speed{0});
    made.may_share = kinds.size() <= 1 || (may_meet(kinds) && made.total > kFullSpeed);
    made.kinds = std::move(kinds);
    mixes_.push_back(std::move(made));
    return place->second;
}

bool Mixes::may_meet(const std::vector<Kind>& kinds) const {
    std::vector<Profile> group;
    for (const Kind kind : kinds) group.push_back(about(kind).profile);
    if (sum(group, &Profile::memory_percent) > kAll) return false;
    return packing_ == Packing::Muri || sum(group, &Profile::sm_percent) <= kSmTogetherMax;
}

Speed Mixes::speed(Mix mix, Kind kind) const {
    const Known& one = known(mix);
    const auto place = std::ranges::lower_bound(one.kinds, kind) - one.kinds.begin();
    return one.speeds[static_cast<std::size_t>(place)];
}

// 0 for all where nothing is known of them together.
std::vector<Speed> Mixes::speeds(const std::vector<Kind>& kinds) const {
    if (packing_ == Packing::None) return {kFullSpeed};
    std::vector<Profile> group;
    for (const Kind kind : kinds) group.push_back(about(kind).profile);
    std::vector<Speed> speeds(kinds.size(), 0);
    if (table_ && kinds.size() == 2) {
        const auto& one = about(kinds[0]).job;
        const auto& other = about(kinds[1]).job;
        const auto first = table_->beside.find({one, other});
        const auto second = table_->beside.find({other, one});
        if (first != table_->beside.end() && second != table_->beside.end()) {
            return {millionths(first->second), millionths(second->second)};
        }
    }
    if (std::ranges::all_of(group, &Profile::has_stages)) {
        const double period = interleaved_iteration_ms(group);
        for (std::size_t job = 0; job < group.size(); ++job) {
            speeds[job] = std::min(kFullSpeed, millionths(group[job].iteration_ms / period));
        }
        return speeds;
    }
    if (kinds.size() == 1) return {kFullSpeed};
    const auto is_known = [](const Profile& one) { return one.sm_percent != Profile::kUnknown; };
    if (kinds.size() > 2 || !std::ranges::all_of(group, is_known)) return speeds;
    const double asked = sum(group, &Profile::sm_percent);
    const Speed each = millionths(kLeftOfHalfIdle * std::min(1.0, kAll / std::max(asked, 1.0)));
    return {each, each};
}

}  // namespace berth::simulation
