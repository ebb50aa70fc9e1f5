// SPDX-License-Identifier: Apache-2.0
#include "ledger/rows.h"

#include <algorithm>
#include <utility>

namespace berth::ledger {

LineId Rows::line_of(const model::LedgerLine& line) {
    const auto [found, is_new] = ids_.emplace(line, static_cast<LineId>(lines_.size()));
    if (is_new) lines_.push_back(line);
    return found->second;
}

GpuTimes& Rows::today(LineId line) {
    if (today_.size() <= line) today_.resize(lines_.size());
    return today_[line];
}

GpuTimes* Rows::find(std::int64_t day, LineId line) {
    if (day == day_) return &today(line);
    const auto found = std::ranges::lower_bound(days_, day, {}, &Day::day);
    if (found == days_.end() || found->day != day) return nullptr;
    const auto times = found->lines.find(line);
    return times == found->lines.end() ? nullptr : &times->second;
}

void Rows::begin_day() {
    Day ended{day_, {}};
    for (LineId line = 0; line < today_.size(); ++line) {
        if (today_[line] != GpuTimes{}) ended.lines.emplace(line, today_[line]);
    }
    today_.clear();
    if (!ended.lines.empty()) days_.push_back(std::move(ended));
    ++day_;
    while (!days_.empty() && days_.front().day <= day_ - kDaysKept) days_.pop_front();
}

void Rows::skip_to(std::int64_t day) {
    day_ = day;
    today_.clear();
    days_.clear();
}

std::vector<model::LedgerRow> Rows::list() const {
    std::vector<model::LedgerRow> rows;
    for (const Day& day : days_) {
        for (const auto& [line, times] : day.lines) rows.push_back({day.day, lines_[line], times});
    }
    for (LineId line = 0; line < today_.size(); ++line) {
        if (today_[line] != GpuTimes{}) rows.push_back({day_, lines_[line], today_[line]});
    }
    std::ranges::sort(rows, [](const model::LedgerRow& one, const model::LedgerRow& other) {
        return one.day != other.day ? one.day < other.day : one.line < other.line;
    });
    return rows;
}

void Rows::restore(const std::vector<model::LedgerRow>& rows) {
    for (const model::LedgerRow& row : rows) {
        const LineId line = line_of(row.line);
        if (row.day == day_) {
            today(line) += row.times;
            continue;
        }
        if (days_.empty() || days_.back().day != row.day) days_.push_back({row.day, {}});
        days_.back().lines[line] += row.times;
    }
}

}  // namespace berth::ledger
