// SPDX-License-Identifier: Apache-2.0
//
// What would let a waiting job start? One change of a closed list, with the smallest numbers that
// do. Found and tried out by scheduling/explain/suggestion.h; the words are in explain_text().
#pragma once

#include <string>
#include <vector>

#include "model/job/job.h"

namespace berth::model {

// From the cheapest to the dearest; of several that would do, the first.
enum class SuggestionKind {
    Resume,      // the user who paused it resumes it
    NodeBack,    // the node `name` takes work again
    RaiseLimit,  // the limit of the project or department `name` becomes `gpus`
    RaiseQuota,  // its quota does
    JobsEnd,     // `jobs` end, or leave the line when they wait themselves
    Apart,       // its tasks may stand in several domains of the level it, or a group, requires
    AskLess,     // it asks for `tasks` tasks of `gpus` each
    AnyKind,     // it asks for no GPU model and no node label
    MoreGpus,    // `gpus` more GPUs of the kind it asks for idle in the pool `name`, on one node
};

struct Suggestion {
    SuggestionKind kind = SuggestionKind::Resume;
    std::string name = {};
    MilliGpu gpus{0};
    int tasks = 0;
    std::vector<JobId> jobs = {};

    bool operator==(const Suggestion&) const = default;
};

}  // namespace berth::model
