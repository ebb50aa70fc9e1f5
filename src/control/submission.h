// SPDX-License-Identifier: Apache-2.0
//
// What does a user who submits a job, asks what would become of it or asks for a change, get
// back?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/answer/verdict.h"
#include "model/job/request_change.h"
#include "model/job/submission.h"
#include "model/plan.h"

namespace berth::control {

// Why a submission was refused. With a verdict: the job could never run here.
struct Refusal {
    base::Error error;
    std::optional<model::Verdict> verdict;
};

// What would become of a submission.
struct Outlook {
    model::Verdict verdict;
    bool starts_now = false;
    bool can_run = true;  // false: never, and the verdict says why
    std::vector<model::Pause> pauses;  // for its sake
    std::vector<model::Move> moves;
};

// How the request of a job is changed.
struct ChangeOfRequest {
    model::RequestChange change;
    // It leaves its GPUs, having saved, and waits for what it asks, where it cannot have that at
    // once where it runs.
    bool may_requeue = false;
    std::string key = {};  // asked for again under it, it is done; empty = none
};

// Called exactly once, from step(), when the answer is durable.
using SubmitDone = std::function<void(const tl::expected<model::JobId, Refusal>&)>;
using Done = std::function<void(const base::Status&)>;

}  // namespace berth::control
