// SPDX-License-Identifier: Apache-2.0
#include "ledger/advice.h"

#include <algorithm>
#include <optional>

#include "ledger/gpu_time_text.h"

namespace berth::ledger {
namespace {

__extension__ using WideAmount = __int128;

using model::GpuTimes;
using model::GpuUse;

std::int64_t measured(const GpuTimes& times) { return times.busy + times.allocated_idle; }

// A tenth more than was used, in steps of 0.05.
std::int64_t enough_of(std::int64_t milli, const GpuTimes& times) {
    constexpr std::int64_t kStep = 50;
    constexpr std::int64_t kCoarse = 1000;
    const std::int64_t whole = std::max<std::int64_t>(measured(times) / kCoarse, 1);
    const std::int64_t used = milli * (times.busy / kCoarse) / whole;
    return std::max((used * 11 / 10 + kStep - 1) / kStep * kStep, kStep);
}

std::optional<Advice> smaller_part(const model::JobRecord& job, const GpuTimes& times) {
    const model::TaskRequest& request = job.spec.request;
    const bool is_small =
        request.gpus == 1 && job.spec.tasks_max == 1 && request.gpu_memory == base::Bytes{0};
    const std::int64_t had = request.share.value;
    if (!is_small || had <= 0) return {};
    const std::int64_t enough = enough_of(had, times);
    // A part has a price of its own: who shares a GPU waits for the other now and then.
    constexpr std::int64_t kWorth = 5;  // a fifth of what it had
    if ((had - enough) * kWorth < had) return {};
    const auto gets = static_cast<std::int64_t>(WideAmount{measured(times)} * (had - enough) / had);
    return Advice{GpuUse::AllocatedIdle, std::min(gets, times.allocated_idle),
                  "-g " + base::format_thousandths(enough) +
                      " is time enough, a tenth more than it used; its memory must fit too"};
}

std::optional<Advice> parking(const model::JobRecord& job, const GpuTimes& times) {
    if (job.spec.kind != model::JobKind::Build || job.spec.park_after) return {};
    return Advice{GpuUse::AllocatedIdle, times.allocated_idle,
                  "--park-after 30m gives its GPUs back while it does nothing"};
}

std::optional<Advice> faster_feeding(const model::JobRecord& job, const GpuTimes& times) {
    if (job.spec.request.gpus * job.spec.tasks_max < 2) return {};
    return Advice{GpuUse::AllocatedIdle, times.allocated_idle,
                  "its GPUs waited for " + part_text(times.allocated_idle, measured(times)) +
                      " of the time: look at what feeds them (data, CPUs), or ask for fewer"};
}

}  // namespace

bool is_measured(const GpuTimes& times) { return measured(times) > times.not_measured; }

std::vector<Advice> advice(const model::JobRecord& job, const GpuTimes& times) {
    std::vector<Advice> found;
    if (is_measured(times) && times.allocated_idle > 0) {
        if (auto smaller = smaller_part(job, times)) found.push_back(*std::move(smaller));
        if (auto parked = parking(job, times)) found.push_back(*std::move(parked));
        if (auto fed = faster_feeding(job, times)) found.push_back(*std::move(fed));
    }
    const std::int64_t all = times.sum();
    constexpr std::int64_t kMuch = 10;  // a tenth
    if (times.starting * kMuch > all && model::is_final(job.state)) {
        found.push_back({GpuUse::Starting, 0,
                         "start faster: " + part_text(times.starting, all) +
                             " of its time went by before it ran"});
    }
    if (times.lost_to_pause > 0) {
        found.push_back(
            {GpuUse::LostToPause, times.lost_to_pause, "save on SIGTERM, or more often"});
    }
    if (times.lost_to_failure > 0) {
        found.push_back({GpuUse::LostToFailure, times.lost_to_failure, "save more often"});
    }
    return found;
}

}  // namespace berth::ledger
