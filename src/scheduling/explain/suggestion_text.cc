// SPDX-License-Identifier: Apache-2.0
//
// A suggestion in words. The only place where suggestions become text.
#include "scheduling/explain/suggestion.h"

namespace berth::scheduling {
namespace {

using model::Suggestion;
using model::SuggestionKind;

// "a, b and c"
std::string listed(const std::vector<model::JobId>& jobs,
                   const std::function<std::string(model::JobId)>& name_of) {
    std::string text;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (i > 0) text += i + 1 == jobs.size() ? " and " : ", ";
        text += name_of(jobs[i]);
    }
    return text;
}

}  // namespace

std::string suggestion_text(const Suggestion& suggestion,
                            const std::function<std::string(model::JobId)>& name_of) {
    switch (suggestion.kind) {
        case SuggestionKind::Resume: return "a user resumes it";
        case SuggestionKind::NodeBack: return "node " + suggestion.name + " takes work again";
        case SuggestionKind::RaiseLimit:
            return "the limit of " + suggestion.name + " is raised to " +
                   base::format_gpus(suggestion.gpus);
        case SuggestionKind::RaiseQuota:
            return "the quota of " + suggestion.name + " is raised to " +
                   base::format_gpus(suggestion.gpus);
        case SuggestionKind::JobsEnd:
            return listed(suggestion.jobs, name_of) +
                   (suggestion.jobs.size() == 1 ? " ends" : " end");
        case SuggestionKind::Apart: return "its tasks may stand apart";
        case SuggestionKind::AskLess:
            if (suggestion.tasks == 1) return "it asks for " + base::format_gpus(suggestion.gpus);
            return "it asks for " + std::to_string(suggestion.tasks) + " tasks of " +
                   base::format_gpus(suggestion.gpus);
        case SuggestionKind::AnyKind: return "it takes GPUs of any model, on any node";
        case SuggestionKind::MoreGpus:
            return base::format_gpus(suggestion.gpus) + " more idle" +
                   (suggestion.gpus == base::kWholeGpu ? "s" : "") + " on one node of the pool " +
                   suggestion.name;
    }
    return {};
}

}  // namespace berth::scheduling
