// SPDX-License-Identifier: Apache-2.0
//
// What does somebody hand in, and what do they get back?
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/job.h"
#include "model/launch.h"
#include "model/verdict.h"

namespace berth::control {

struct Submission {
    model::JobSpec spec;
    model::LaunchSpec launch;
    std::string command;             // for people, shortened
    std::string idempotency_key;     // empty = none
};

// Why a submission was refused. With a verdict: the job could never run here.
struct Refusal {
    base::Error error;
    std::optional<model::Verdict> verdict;
};

// Called exactly once, from step(), when the answer is durable.
using SubmitDone = std::function<void(const tl::expected<model::JobId, Refusal>&)>;
using Done = std::function<void(const base::Status&)>;

}  // namespace berth::control
