// SPDX-License-Identifier: Apache-2.0
#include "cluster/jobs/past_use.h"

#include <algorithm>
#include <array>

namespace berth::cluster {
namespace {

__extension__ using Wide = unsigned __int128;

using base::Duration;
using base::MilliGpu;
using base::TimePoint;

constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  // parts of 1 in which weights are counted

std::int64_t period_of(TimePoint time) {
    const std::int64_t ms = base::to_ms(time);
    const std::int64_t length = kUsagePeriod.count();
    return ms >= 0 ? ms / length : (ms - length + 1) / length;
}

TimePoint start_of(std::int64_t period) { return base::at_ms(period * kUsagePeriod.count()); }

constexpr std::uint64_t square_root(std::uint64_t value) {
    std::uint64_t root = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const std::uint64_t next = root | std::uint64_t{1} << bit;
        if (next * next <= value) root = next;
    }
    return root;
}

// 2^-(1/2), 2^-(1/4), 2^-(1/8) ...
constexpr std::array<std::uint64_t, 32> kRoots = [] {
    std::array<std::uint64_t, 32> roots{};
    std::uint64_t last = kOne / 2;
    for (std::uint64_t& root : roots) root = last = square_root(last << 32);
    return roots;
}();

// 2^-(time / half_life).
std::uint64_t weight_after(Duration time, Duration half_life) {
    const std::int64_t halvings = time / half_life;
    if (halvings >= 32) return 0;
    std::int64_t rest = (time % half_life).count();
    std::uint64_t weight = kOne;
    for (const std::uint64_t root : kRoots) {
        rest *= 2;
        if (rest < half_life.count()) continue;
        rest -= half_life.count();
        weight = weight * root >> 32;
    }
    return weight >> halvings;
}

// Calls visit(period, weight) from the period of `now` back to `first`.
template <typename Visit>
void for_each_weight(std::int64_t first, TimePoint now, Duration half_life, Visit&& visit) {
    const std::uint64_t step = weight_after(kUsagePeriod, std::max(half_life, Duration{1}));
    const std::int64_t last = period_of(now);
    first = std::max(first, last - static_cast<std::int64_t>(kUsagePeriodsMax) + 1);
    std::uint64_t weight = kOne;
    for (std::int64_t period = last; period >= first && weight > 0; --period) {
        visit(period, weight);
        weight = weight * step >> 32;
    }
}

}  // namespace

void PastUse::add(TimePoint from, TimePoint to, MilliGpu amount) {
    while (from < to && amount != MilliGpu{0}) {
        const std::int64_t period = period_of(from);
        const TimePoint end = std::min(to, start_of(period + 1));
        if (milli_gpu_ms.empty()) first_period = period;
        if (period < first_period) {
            milli_gpu_ms.insert(milli_gpu_ms.begin(),
                                static_cast<std::size_t>(first_period - period), 0);
            first_period = period;
        }
        const auto at = static_cast<std::size_t>(period - first_period);
        if (at >= milli_gpu_ms.size()) milli_gpu_ms.resize(at + 1);
        milli_gpu_ms[at] += amount.value * (end - from).count();
        from = end;
    }
    if (milli_gpu_ms.size() <= kUsagePeriodsMax) return;
    const std::size_t old = milli_gpu_ms.size() - kUsagePeriodsMax;
    milli_gpu_ms.erase(milli_gpu_ms.begin(),
                       milli_gpu_ms.begin() + static_cast<std::ptrdiff_t>(old));
    first_period += static_cast<std::int64_t>(old);
}

void PastUse::change(TimePoint time, MilliGpu amount) {
    const bool is_first = milli_gpu_ms.empty() && in_use == MilliGpu{0} && settled == TimePoint{};
    if (is_first) settled = began = time;
    began = std::min(began, time);
    if (time >= settled) {
        add(settled, time, in_use);
        settled = time;
    } else {
        add(time, settled, amount);
    }
    in_use += amount;
}

void PastUse::absorb(const PastUse& other) {
    if (other == PastUse{}) return;
    change(other.settled, MilliGpu{0});
    began = std::min(began, other.began);
    for (std::size_t i = 0; i < other.milli_gpu_ms.size(); ++i) {
        const TimePoint period = start_of(other.first_period + static_cast<std::int64_t>(i));
        // One millisecond in which all of it is had: only the period counts.
        add(period, period + Duration{1}, MilliGpu{other.milli_gpu_ms[i]});
    }
}

std::int64_t PastUse::decayed(TimePoint now, Duration half_life) const {
    PastUse counted = *this;
    counted.add(settled, std::max(now, settled), in_use);
    Wide sum = 0;
    for_each_weight(counted.first_period, now, half_life, [&](auto period, auto weight) {
        const auto at = static_cast<std::size_t>(period - counted.first_period);
        if (at >= counted.milli_gpu_ms.size()) return;
        sum += Wide(std::max<std::int64_t>(counted.milli_gpu_ms[at], 0)) * weight;
    });
    return static_cast<std::int64_t>(sum / kOne / 1000);
}

std::int64_t decayed_time(TimePoint began, TimePoint now, Duration half_life) {
    Wide sum = 0;
    for_each_weight(period_of(began), now, half_life, [&](auto period, auto weight) {
        const TimePoint from = std::max(began, start_of(period));
        const TimePoint to = std::min(now, start_of(period + 1));
        if (from < to) sum += Wide((to - from).count()) * weight;
    });
    return static_cast<std::int64_t>(sum / kOne);
}

}  // namespace berth::cluster
