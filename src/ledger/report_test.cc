// SPDX-License-Identifier: Apache-2.0
#include "ledger/report.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace berth;

namespace {

constexpr std::int64_t kGpuHour = INT64_C(3600) * 1000 * 1000;

model::LedgerRow row(std::int64_t day, std::string gpu, std::string project, std::int64_t hours) {
    model::LedgerRow row{day, {"default", std::move(gpu), std::move(project), "ann"}, {}};
    row.times.not_measured = hours * kGpuHour;
    return row;
}

model::LedgerBook book() {
    model::LedgerBook book;
    book.rows = {row(1, "H100", "vision", 10), row(2, "A100", "nlp", 4),
                 row(2, "H100", "vision", 1), row(3, "A100", "vision", 2)};
    book.rows.push_back({2, {"default", "H100", "", ""}, {}});
    book.rows.back().times.free = 3 * kGpuHour;
    book.rows.back().times.capacity = 4 * kGpuHour;
    return book;
}

std::vector<std::string> said(const ledger::Report& report) {
    std::vector<std::string> lines;
    for (const ledger::Entry& entry : report.entries) {
        lines.push_back(entry.name + " " + std::to_string(entry.times.sum() / kGpuHour));
    }
    return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("a report adds up by what it is asked, both days included") {
    CHECK(said(ledger::report(book(), {1, 3}, ledger::By::Project, {})) ==
          Lines{" 3", "nlp 4", "vision 13"});
    CHECK(said(ledger::report(book(), {2, 3}, ledger::By::Gpu, {})) == Lines{"A100 6", "H100 4"});
    CHECK(said(ledger::report(book(), {2, 3}, ledger::By::Day, {})) ==
          Lines{"1970-01-03 8", "1970-01-04 2"});
    CHECK(ledger::report(book(), {2, 2}, ledger::By::User, {}).total.times.capacity ==
          4 * kGpuHour);
}

TEST_CASE("a GPU hour costs what its model does; a model without a price is named") {
    const auto priced = ledger::report(book(), {1, 3}, ledger::By::Project, {{"H100", 2500}});
    CHECK(priced.entries.back().cost == 11 * 2500);
    CHECK(priced.total.cost == 14 * 2500);
    CHECK(priced.unpriced == std::set<std::string>{"A100"});
    CHECK(ledger::report(book(), {1, 3}, ledger::By::Project, {}).unpriced.empty());
}
