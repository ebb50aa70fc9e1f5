// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::ledger {
namespace {

std::int64_t day_of(TimePoint time) {
    return std::chrono::floor<std::chrono::days>(time).time_since_epoch().count();
}

TimePoint start_of(std::int64_t day) {
    return TimePoint{std::chrono::duration_cast<Duration>(std::chrono::days{day})};
}

}  // namespace

void Ledger::advance(TimePoint time) {
    if (time <= time_) return;
    const std::int64_t day = day_of(time);
    if (day - rows_.day() > kDaysKept) {
        rows_.skip_to(day - kDaysKept);
        time_ = start_of(rows_.day());
        places_.forget_until(time_);
        for (const auto& [id, account] : accounts_) account.forget_until(time_);
    }
    while (rows_.day() < day) {
        time_ = start_of(rows_.day() + 1);
        settle_all();
        rows_.begin_day();
        for (const auto& [id, account] : accounts_) {
            account.forget_before(rows_.day() - kDaysKept + 1);
        }
    }
    time_ = time;
}

void Ledger::set_node(NodeId id, const NodeGpus& gpus) {
    // Until now it was another place's, and so was what jobs had of it.
    if (places_.moves(id, gpus)) settle_all();
    places_.set(id, gpus, now());
}

void Ledger::set_job(JobId id, const Holder& holder, Charges used, Charges promised) {
    Account* account = settled(id);
    if (account == nullptr) {
        if (used.empty() && promised.empty()) return;
        account = &accounts_.emplace(id, Account(time_));
    }
    account->hold(holder);
    if (account->used != used) {
        places_.charge(account->used, -1, now());
        places_.charge(used, +1, now());
        account->used = std::move(used);
    }
    if (account->promised != promised) {
        places_.promise(account->promised, -1, now());
        places_.promise(promised, +1, now());
        account->promised = std::move(promised);
    }
}

void Ledger::save(JobId id) {
    if (Account* account = settled(id)) account->save();
}

void Ledger::lose(JobId id, GpuUse to, std::int64_t milli_gpu_ms) {
    Account* account = settled(id);
    if (account == nullptr) return;
    account->lose(to, milli_gpu_ms, rows_);
}

void Ledger::measure(JobId id, Part busy, std::int64_t milli_gpu_ms) {
    Account* account = settled(id);
    if (account != nullptr && busy.of > 0) account->measure(busy, milli_gpu_ms, rows_);
}

GpuTimes Ledger::end(JobId id) {
    Account* account = settled(id);
    if (account == nullptr) return {};
    places_.charge(account->used, -1, now());
    places_.promise(account->promised, -1, now());
    const GpuTimes times = account->times(time_);
    accounts_.erase(id);
    return times;
}

std::int64_t Ledger::gpus_of(JobId id) const {
    const Account* account = accounts_.get(id);
    return account == nullptr ? 0 : account->gpus();
}

GpuTimes Ledger::times(JobId id, TimePoint until) const {
    const Account* account = accounts_.get(id);
    return account == nullptr ? GpuTimes{} : account->times(std::max(until, time_));
}

model::LedgerBook Ledger::book(TimePoint until) const {
    Ledger settled = *this;
    settled.advance(until);
    settled.settle_all();
    model::LedgerBook book;
    book.rows = settled.rows_.list();
    for (const auto& [id, account] : settled.accounts_) {
        book.jobs.push_back(account.written(id, settled.rows_));
    }
    return book;
}

void Ledger::restore(const model::LedgerBook& book, TimePoint time) {
    advance(time);
    rows_.restore(book.rows);
    for (const model::JobTime& job : book.jobs) {
        accounts_.emplace(job.job, Account(time_)).restore(job, rows_);
    }
}

void Ledger::settle_all() {
    places_.settle(now());
    for (const auto& [id, account] : accounts_) account.settle(now(), places_);
}

Account* Ledger::settled(JobId id) {
    Account* account = accounts_.get(id);
    if (account != nullptr) account->settle(now(), places_);
    return account;
}

}  // namespace berth::ledger
