// SPDX-License-Identifier: Apache-2.0
//
// What should be reported of a job's expected cost? Worked out anew from what the order remembers
// (model/answer/order_ledger.h), in floating point, from the rules in src/ordering and by none of
// its code.
#pragma once

#include <optional>
#include <vector>

#include "model/answer/order_account.h"
#include "model/answer/order_ledger.h"

namespace berth::proof {

struct RecomputedOrder {
    bool has_belief = false;
    double cost = 0;  // ms of one GPU
    // How much is believed by all, by the width, and by user, name and command.
    std::vector<double> believed;
    // Of those three: how long before or after it each job was submitted that tells something.
    std::vector<std::vector<model::Duration>> apart;
    std::vector<std::vector<bool>> has_ended;  // of each of these
    std::int64_t learned_of_all = 0;
    std::int64_t learned_of_width = 0;
};

const model::RankLedger* find_rank(const model::OrderLedger& ledger, model::JobId job);
RecomputedOrder recompute(const model::OrderLedger& ledger, const model::RankLedger& job);

// Stages begin at 10 GPU-minutes, each with a root of two more; levels with eight times as much.
int recomputed_stage(std::int64_t cost_gpu_ms);
int recomputed_level(std::int64_t used_gpu_ms);

}  // namespace berth::proof
