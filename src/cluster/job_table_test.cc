// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_table.h"

#include <doctest/doctest.h>

#include <map>

#include "base/rng.h"

using namespace berth;
using berth::cluster::Job;
using berth::cluster::JobTable;

TEST_CASE("a job table finds, forgets and walks by id like an ordered map") {
    base::Rng dice(5);
    JobTable table;
    std::map<base::JobId, const Job*> expected;
    std::int64_t last = 0;
    for (int step = 0; step < 5000; ++step) {
        if (dice.chance(3, 5)) {
            Job job;
            job.id = {last += dice.between(1, 300)};
            const Job& placed = table.insert(job);
            expected[placed.id] = &placed;
        } else if (!expected.empty()) {
            const auto gone = std::next(expected.begin(), std::ssize(expected) / 2);
            table.erase(gone->first);
            CHECK(table.find(gone->first) == nullptr);
            expected.erase(gone);
        }
    }
    CHECK(table.size() == expected.size());
    CHECK(table.find({}) == nullptr);
    CHECK(table.find({last + 1}) == nullptr);
    auto next = expected.begin();
    for (const auto& [id, job] : table) {
        REQUIRE(next != expected.end());
        CHECK(id == next->first);
        CHECK(&job == next->second);
        CHECK(table.find(id) == next->second);
        ++next;
    }
    CHECK(next == expected.end());
}
