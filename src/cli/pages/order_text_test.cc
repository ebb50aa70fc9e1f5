// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/order_text.h"

#include <doctest/doctest.h>

namespace berth::cli {
namespace {

using model::HeldBackBy;

const base::TimePoint kAsked = base::at_ms(1'700'000'000'000);

model::OrderAccount order_of_one_waiting() {
    model::OrderAccount order;
    order.by = model::JobOrder::Learned;
    order.position = 1;
    order.cost_gpu_ms = 60'000;
    order.evidence.from = model::EvidenceOf::User;
    order.evidence.key = "ada";
    order.price.emplace();
    order.price->is_behind = true;
    order.due = kAsked + base::Duration{60'000};
    return order;
}

}  // namespace

TEST_CASE("no job is named as preempted while something holds this one back") {
    model::OrderAccount order = order_of_one_waiting();
    const auto text = [&](HeldBackBy by, std::optional<base::TimePoint> until) {
        order.price->held_back_by = by;
        order.price->until = until;
        return price_text(order, {});
    };
    CHECK_FALSE(text(HeldBackBy::Nothing, {}).starts_with("none"));
    CHECK(text(HeldBackBy::Order, {}).starts_with("none: the next candidate, "));
    CHECK(text(HeldBackBy::Room, {}).starts_with("none: preempting all candidates would not "));
    CHECK(text(HeldBackBy::Delay, kAsked).starts_with("none before "));
    CHECK(text(HeldBackBy::Delay, kAsked).find("when its preemption delay has passed") !=
          std::string::npos);
    CHECK(text(HeldBackBy::MinimumRun, kAsked).find("when a minimum run time ends") !=
          std::string::npos);
    CHECK(text(HeldBackBy::WasteBudget, kAsked).starts_with("none before 00:00 UTC: "));
}

TEST_CASE("what a job has used so far is not described as what it took") {
    model::OrderAccount order = order_of_one_waiting();
    const auto text = [&](std::int64_t jobs, std::int64_t unfinished) {
        order.evidence.jobs = jobs;
        order.evidence.unfinished = unfinished;
        return cost_text(order);
    };
    CHECK(text(1, 0).ends_with("as 1 job of ada took"));
    CHECK(text(1, 1).ends_with("as 1 job of ada has used so far"));
    CHECK(text(2, 2).ends_with("as 2 jobs of ada have used so far"));
    CHECK(text(3, 1).ends_with("as 2 jobs of ada took, and 1 more has used so far"));
    CHECK(text(3, 2).ends_with("as 1 job of ada took, and 2 more have used so far"));
}

TEST_CASE("no due time is promised behind jobs of higher priority") {
    model::OrderAccount order = order_of_one_waiting();
    CHECK(due_text(order, kAsked).starts_with("by its wait at "));
    order.jobs_of_higher_priority = 1;
    for (const auto turn : {model::Turn::NotDue, model::Turn::Due, model::Turn::Granted}) {
        order.turn = turn;
        CHECK(due_text(order, kAsked) ==
              "no bound: 1 job of higher priority goes first, however long it waits");
    }
}

}  // namespace berth::cli
