// SPDX-License-Identifier: Apache-2.0
//
// What did GPUs do in these days, by project, user, GPU model, pool or day? Adds up rows of the
// ledger. With prices a GPU hour costs what its model does, whatever it was used for; a model
// without a price costs nothing and is named.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/ledger.h"
#include "model/policy/policy.h"

namespace berth::ledger {

enum class By { Project, User, Gpu, Pool, Day };
inline constexpr std::array<std::string_view, 5> kByNames{"project", "user", "gpu", "pool", "day"};

struct Days {
    std::int64_t first = 0;  // since the epoch, UTC
    std::int64_t last = 0;
};

struct Entry {
    std::string name;  // empty: of GPUs that no job has, or whose node names no model
    model::GpuTimes times;
    std::int64_t cost = 0;  // thousandths of the unit of prices
};

struct Report {
    std::vector<Entry> entries;  // by name
    Entry total;
    std::set<std::string> unpriced;  // models, where others have a price
};

// "2026-11-27", of a day since the epoch.
std::string date_of(std::int64_t day);

Report report(const model::LedgerBook& book, const Days& days, By by,
              const model::GpuPrices& prices);

// Of all rows of these days.
model::GpuTimes times_of(const model::LedgerBook& book, const Days& days);

}  // namespace berth::ledger
