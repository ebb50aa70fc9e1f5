// SPDX-License-Identifier: Apache-2.0
//
// What does somebody who hands in a job, or asks for a change, get back?
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "model/submission.h"
#include "model/verdict.h"

namespace berth::control {

// Why a submission was refused. With a verdict: the job could never run here.
struct Refusal {
    base::Error error;
    std::optional<model::Verdict> verdict;
};

// Called exactly once, from step(), when the answer is durable.
using SubmitDone = std::function<void(const tl::expected<model::JobId, Refusal>&)>;
using Done = std::function<void(const base::Status&)>;

}  // namespace berth::control
