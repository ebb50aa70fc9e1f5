// SPDX-License-Identifier: Apache-2.0
//
// Plans and verdicts as lines of text, the same for tests, `berth scenario` and bug reports.
#pragma once

#include <string>
#include <vector>

#include "lifecycle/apply.h"
#include "model/answer/order_account.h"
#include "model/answer/share_account.h"
#include "model/answer/verdict.h"
#include "model/plan.h"

namespace berth::scenario {

// "project/name".
std::string name_of(const lifecycle::State& state, model::JobId job);

// "n0:0-3 n1:0,2", by node; shares as "n0:1/0.5".
std::string places(const cluster::Cluster& cluster, const std::vector<model::TaskPlacement>& tasks);

std::vector<std::string> render(const lifecycle::State& state, const model::Plan& plan);
std::vector<std::string> render_backfill(const lifecycle::State& state, const model::Plan& plan,
                                         model::TimePoint now);
std::string render(const lifecycle::State& state, const model::Verdict& verdict);
// The divisions from the pool down: a line for each level, project and offer.
std::vector<std::string> render(const model::ShareAccount& account);

// What the order says of the job; then what it would take of which running one, if it waits.
std::vector<std::string> render(const lifecycle::State& state, model::JobId job,
                                const model::OrderAccount& account, model::TimePoint now);

}  // namespace berth::scenario
