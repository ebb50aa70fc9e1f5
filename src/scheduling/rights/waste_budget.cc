// SPDX-License-Identifier: Apache-2.0
#include "scheduling/rights/waste_budget.h"

#include <chrono>

namespace berth::scheduling {
namespace {

using std::chrono::days;

constexpr std::int64_t kMillisecondsOfDay = 24 * 3600 * 1000;

}  // namespace

bool is_wasteful(const PoolView& view, const Beneficiary& beneficiary) {
    return beneficiary.rule != model::Rule::Reclaim || !is_owner(view, beneficiary);
}

bool is_waste_spent(const PoolView& view, std::int64_t planned_gpu_ms) {
    if (!view.policy.waste_budget) return false;
    const cluster::PoolState& pool = view.cluster.pool(view.pool);
    const std::int64_t today = std::chrono::floor<days>(view.now).time_since_epoch().count();
    const cluster::Waste& waste = view.cluster.history().pools[view.pool.index()].waste;
    const std::int64_t spent = waste.day == today ? waste.gpu_ms : 0;
    const std::int64_t budget =
        pool.capacity.value * *view.policy.waste_budget / 1000 * (kMillisecondsOfDay / 1000);
    return spent + planned_gpu_ms >= budget;
}

TimePoint waste_renewal(TimePoint now) { return std::chrono::floor<days>(now) + days{1}; }

}  // namespace berth::scheduling
