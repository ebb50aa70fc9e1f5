// SPDX-License-Identifier: Apache-2.0
//
// How are the results of the order of jobs described: for one job, for a pause, and how right it
// was?
#pragma once

#include <span>
#include <string>

#include "cli/pages/job_text.h"
#include "codec/api/json_api.h"

namespace berth::cli {

// "3rd of 12 waiting jobs of nlp; 11 running jobs before it use 14 of 16 GPUs"
std::string place_text(const model::OrderAccount& order, const std::string& project);
// "stage 8: 3.1 GPU-h until it ends, as 24 jobs of ada named train-# submitted within 1h took"
std::string cost_text(const model::OrderAccount& order);
// Who would be preempted for it next, and what protects that job: "none: the next candidate, 7
// nlp/llama, would lose 0.4 GPU-h; it is 1 stage behind, and jobs are preempted from 3 stages ..."
// Empty where jobs are not ranked by cost.
std::string price_text(const model::OrderAccount& order, const codec::NameTable& names);
// "by its wait at 17:40:00, in 3h12m", or that it has no bound behind jobs of higher priority;
// empty where nothing is due by a wait.
std::string due_text(const model::OrderAccount& order, base::TimePoint now);
// "5 since 13:20:01, 8 since 14:02:11"; empty when it has always been on the first one.
std::string stages_text(const model::OrderAccount& order);

// "18 GPU-min against its 38 GPU-h until it ends; the pause may cost 8 GPU-min"
std::string order_receipt_text(const model::OrderReceipt& order, const model::PauseCost& cost);

// A line a project of whose jobs some have ended.
std::string accuracy_lines(std::span<const codec::ProjectView> projects);

}  // namespace berth::cli
