// SPDX-License-Identifier: Apache-2.0
#include "ledger/report.h"

#include <algorithm>

namespace berth::ledger {
namespace {

__extension__ using Wide = __int128;

std::string padded(int number, std::size_t width) {
    const std::string digits = std::to_string(number);
    return std::string(width - std::min(width, digits.size()), '0') + digits;
}

std::string name_of(const model::LedgerRow& row, By by) {
    switch (by) {
        case By::Project: return row.line.project;
        case By::User: return row.line.user;
        case By::Gpu: return row.line.gpu;
        case By::Pool: return row.line.pool;
        case By::Day: return date_of(row.day);
    }
    return {};
}

}  // namespace

std::string date_of(std::int64_t day) {
    const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
    return padded(static_cast<int>(date.year()), 4) + "-" +
           padded(static_cast<int>(static_cast<unsigned>(date.month())), 2) + "-" +
           padded(static_cast<int>(static_cast<unsigned>(date.day())), 2);
}

Report report(const model::LedgerBook& book, const Days& days, By by,
              const model::GpuPrices& prices) {
    // What was had of each model, so that rounding comes last.
    std::map<std::string, std::map<std::string, model::GpuTimes>> sums;
    for (const model::LedgerRow& row : book.rows) {
        if (row.day < days.first || row.day > days.last) continue;
        sums[name_of(row, by)][row.line.gpu] += row.times;
    }
    Report report;
    for (const auto& [name, models] : sums) {
        Entry entry{.name = name, .times = {}};
        for (const auto& [gpu, times] : models) {
            entry.times += times;
            const auto price = prices.find(gpu);
            if (price == prices.end()) {
                if (!prices.empty()) report.unpriced.insert(gpu);
                continue;
            }
            constexpr std::int64_t kMilliGpuHour = INT64_C(3600) * 1000 * 1000;
            entry.cost +=
                static_cast<std::int64_t>(Wide{times.sum()} * price->second / kMilliGpuHour);
        }
        report.total.times += entry.times;
        report.total.cost += entry.cost;
        report.entries.push_back(std::move(entry));
    }
    return report;
}

model::GpuTimes times_of(const model::LedgerBook& book, const Days& days) {
    model::GpuTimes times;
    for (const model::LedgerRow& row : book.rows) {
        if (row.day >= days.first && row.day <= days.last) times += row.times;
    }
    return times;
}

}  // namespace berth::ledger
