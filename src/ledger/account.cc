// SPDX-License-Identifier: Apache-2.0
#include "ledger/account.h"

#include <algorithm>

namespace berth::ledger {
namespace {

__extension__ using Wide = __int128;

}  // namespace

void Account::settle(const Moment& now, const Places& places) {
    const std::int64_t time = (now.time - settled_).count();
    settled_ = now.time;
    if (time == 0) return;
    for (const Charge& charge : used) {
        const LineId line = line_at(charge.node, places, now.rows);
        const std::int64_t amount = charge.milli * time;
        now.rows.today(line)[charge.use] += amount;
        times_[charge.use] += amount;
        recent(now.rows.day(), line).times[charge.use] += amount;
    }
}

void Account::hold(const Holder& holder) {
    if (holder_.attempt != holder.attempt) recent_.clear();
    holder_ = holder;
}

void Account::forget_until(TimePoint time) {
    settled_ = time;
    recent_.clear();
}

void Account::forget_before(std::int64_t day) {
    std::erase_if(recent_, [&](const Recent& recent) { return recent.day < day; });
}

void Account::save() {
    std::vector<Recent> saved;
    for (const Recent& recent : recent_) {
        const auto same = std::ranges::find_if(saved, [&](const Recent& other) {
            return other.day == recent.day && other.line == recent.line;
        });
        if (same != saved.end()) {
            same->times += recent.times;
        } else {
            saved.push_back(recent);
            saved.back().is_saved = true;
        }
    }
    recent_ = std::move(saved);
}

void Account::lose(GpuUse to, std::int64_t milli_gpu_ms, Rows& rows) {
    for (std::size_t i = recent_.size(); i-- > 0 && milli_gpu_ms > 0;) {
        if (recent_[i].is_saved) continue;
        for (const GpuUse from : {GpuUse::NotMeasured, GpuUse::Busy}) {
            milli_gpu_ms -= move(recent_[i], {from, to}, milli_gpu_ms, rows);
        }
    }
}

void Account::measure(Part busy, std::int64_t milli_gpu_ms, Rows& rows) {
    const std::int64_t many = std::clamp<std::int64_t>(busy.many, 0, busy.of);
    for (std::size_t i = recent_.size(); i-- > 0 && milli_gpu_ms > 0;) {
        Recent& recent = recent_[i];
        const std::int64_t known = std::min(milli_gpu_ms, recent.times[GpuUse::NotMeasured]);
        const auto worked = static_cast<std::int64_t>(Wide{known} * many / busy.of);
        move(recent, {GpuUse::NotMeasured, GpuUse::Busy}, worked, rows);
        move(recent, {GpuUse::NotMeasured, GpuUse::AllocatedIdle}, known - worked, rows);
        milli_gpu_ms -= known;
    }
}

GpuTimes Account::times(TimePoint until) const {
    GpuTimes times = times_;
    const std::int64_t time = (until - settled_).count();
    for (const Charge& charge : used) times[charge.use] += charge.milli * time;
    return times;
}

std::int64_t Account::gpus() const {
    std::int64_t milli = 0;
    for (const Charge& charge : used) milli += charge.milli;
    return milli;
}

model::JobTime Account::written(JobId id, const Rows& rows) const {
    model::JobTime job{id, holder_.attempt, times_, {}};
    for (const Recent& recent : recent_) {
        job.recent.push_back({recent.day, rows.line(recent.line), recent.is_saved, recent.times});
    }
    return job;
}

void Account::restore(const model::JobTime& time, Rows& rows) {
    holder_.attempt = time.attempt;
    times_ = time.times;
    for (const model::RecentTime& recent : time.recent) {
        recent_.push_back({recent.day, rows.line_of(recent.line), recent.is_saved, recent.times});
    }
}

LineId Account::line_at(NodeId node, const Places& places, Rows& rows) {
    const std::size_t place = places.place_of(node);
    for (const auto& [known, line] : lines_) {
        if (known == place) return line;
    }
    model::LedgerLine own = rows.line(places.line_of(place));
    own.project = holder_.project;
    own.user = holder_.user;
    const LineId line = rows.line_of(own);
    lines_.emplace_back(place, line);
    return line;
}

Account::Recent& Account::recent(std::int64_t day, LineId line) {
    for (std::size_t i = recent_.size(); i-- > 0;) {
        Recent& recent = recent_[i];
        if (recent.day != day) break;
        if (recent.line == line && !recent.is_saved) return recent;
    }
    recent_.push_back({day, line, false, {}});
    return recent_.back();
}

// What it moved. The day knows it as well, unless it is forgotten.
std::int64_t Account::move(Recent& recent, Change change, std::int64_t most, Rows& rows) {
    GpuTimes* const day = rows.find(recent.day, recent.line);
    if (day == nullptr) return 0;
    const std::int64_t amount = std::min(most, recent.times[change.from]);
    for (GpuTimes* times : {day, &times_, &recent.times}) {
        (*times)[change.from] -= amount;
        (*times)[change.to] += amount;
    }
    return amount;
}

}  // namespace berth::ledger
