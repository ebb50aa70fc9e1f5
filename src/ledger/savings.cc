// SPDX-License-Identifier: Apache-2.0
#include "ledger/savings.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "ledger/advice.h"

namespace berth::ledger {
namespace {

__extension__ using WideTime = __int128;

using model::GpuTimes;
using model::GpuUse;

constexpr std::array<GpuUse, 3> kWastesOfJobs{GpuUse::AllocatedIdle, GpuUse::LostToPause,
                                              GpuUse::LostToFailure};

struct Owner {
    std::string project;
    std::string user;

    auto operator<=>(const Owner&) const = default;
};

struct Sums {
    std::map<Owner, GpuTimes> owners;
    std::map<std::string, GpuTimes> pools;  // their free GPUs
};

bool is_in(std::int64_t day, const Days& days) { return day >= days.first && day <= days.last; }

Sums sums_of(const model::LedgerBook& book, const Days& days) {
    Sums sums;
    for (const model::LedgerRow& row : book.rows) {
        if (!is_in(row.day, days)) continue;
        sums.owners[{row.line.project, row.line.user}] += row.times;
        sums.pools[row.line.pool] += row.times;
    }
    return sums;
}

// The most that one act gets of that use.
std::optional<Advice> best_advice(const JobAccount& account, GpuUse use) {
    std::optional<Advice> best;
    for (Advice& each : advice(*account.job, account.times)) {
        if (each.use != use || each.gets == 0) continue;
        if (!best || each.gets > best->gets) best = std::move(each);
    }
    return best;
}

Saving saving_of(const JobAccount& account, GpuUse use, std::int64_t gpu_time, std::string act) {
    const model::JobRecord& job = *account.job;
    Saving saving;
    saving.use = use;
    saving.gpu_time = gpu_time;
    saving.act = std::move(act);
    saving.command = "berth eff " + std::to_string(job.id.value);
    saving.job = job.id;
    saving.name = job.spec.name;
    saving.project = job.spec.project;
    saving.user = job.user;
    return saving;
}

// `wasted`: of one owner, whose jobs these are.
void add_savings(std::vector<Saving>& found, const std::vector<const JobAccount*>& jobs, GpuUse use,
                 std::int64_t wasted) {
    std::int64_t left = wasted;
    for (const JobAccount* const job : jobs) {
        const std::int64_t part = std::min(job->times[use], left);
        if (!job->is_whole || part == 0) continue;
        left -= part;
        if (auto best = best_advice(*job, use)) {
            found.push_back(saving_of(*job, use, std::min(best->gets, part), std::move(best->act)));
        }
    }
    // Of those that live longer only all together is known.
    const JobAccount* largest = nullptr;
    std::optional<Advice> of_largest;
    std::int64_t gets = 0;
    int others = -1;
    for (const JobAccount* const job : jobs) {
        if (job->is_whole) continue;
        auto best = best_advice(*job, use);
        if (!best) continue;
        others += 1;
        gets += best->gets;
        if (of_largest && of_largest->gets >= best->gets) continue;
        largest = job;
        of_largest = std::move(best);
    }
    if (largest == nullptr || left == 0) return;
    found.push_back(saving_of(*largest, use, std::min(gets, left), std::move(of_largest->act)));
    found.back().others = others;
}

void add_pool(std::vector<Saving>& found, const std::string& pool, const GpuTimes& times) {
    const auto add = [&](GpuUse use, std::string act, std::string command) {
        if (times[use] == 0) return;
        Saving saving;
        saving.use = use;
        saving.gpu_time = times[use];
        saving.act = std::move(act);
        saving.command = std::move(command);
        saving.pool = pool;
        found.push_back(std::move(saving));
    };
    add(GpuUse::BlockedByRoom,
        "jobs that ask for fewer GPUs at once, or are elastic, fit into what is free",
        "berth gpus");
    add(GpuUse::BlockedByRules,
        "a higher quota or limit, or fewer nodes ruled out, lets jobs that fit start",
        "berth project ls");
}

}  // namespace

Savings savings(const model::LedgerBook& book, const Days& days,
                const std::vector<JobAccount>& jobs) {
    const Sums sums = sums_of(book, days);
    std::map<Owner, std::vector<const JobAccount*>> jobs_of;
    for (const JobAccount& account : jobs) {
        jobs_of[{account.job->spec.project, account.job->user}].push_back(&account);
    }
    Savings savings;
    std::vector<Saving> found;
    for (const auto& [owner, times] : sums.owners) {
        for (const GpuUse use : kWastes) savings.wasted += times[use];
        for (const GpuUse use : kWastesOfJobs) {
            if (times[use] > 0) add_savings(found, jobs_of[owner], use, times[use]);
        }
    }
    for (const auto& [pool, times] : sums.pools) add_pool(found, pool, times);
    std::ranges::sort(found, [](const Saving& one, const Saving& other) {
        return std::tie(other.gpu_time, one.use, one.job, one.pool) <
               std::tie(one.gpu_time, other.use, other.job, other.pool);
    });
    for (std::size_t i = kSavingsShown; i < found.size(); ++i) savings.others += found[i].gpu_time;
    found.resize(std::min(found.size(), kSavingsShown));
    savings.most = std::move(found);
    return savings;
}

std::int64_t in_a_week(std::int64_t gpu_time, const model::LedgerBook& book, const Days& days) {
    constexpr std::int64_t kWeek = 7;
    std::set<std::int64_t> known;
    for (const model::LedgerRow& row : book.rows) {
        if (is_in(row.day, days)) known.insert(row.day);
    }
    const auto many = std::max<std::int64_t>(static_cast<std::int64_t>(known.size()), kWeek);
    return static_cast<std::int64_t>(WideTime{gpu_time} * kWeek / many);
}

}  // namespace berth::ledger
