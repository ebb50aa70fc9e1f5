// SPDX-License-Identifier: Apache-2.0
//
// A remedy in words. The only place where remedies become text.
#include "scheduling/explain/remedy.h"

namespace berth::scheduling {
namespace {

using model::Remedy;
using model::RemedyKind;

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

std::string remedy_text(const Remedy& remedy,
                        const std::function<std::string(model::JobId)>& name_of) {
    switch (remedy.kind) {
        case RemedyKind::Resume: return "somebody resumes it";
        case RemedyKind::NodeBack: return "node " + remedy.name + " takes work again";
        case RemedyKind::RaiseLimit:
            return "the limit of " + remedy.name + " is raised to " +
                   base::format_gpus(remedy.gpus);
        case RemedyKind::RaiseQuota:
            return "the quota of " + remedy.name + " is raised to " +
                   base::format_gpus(remedy.gpus);
        case RemedyKind::JobsEnd:
            return listed(remedy.jobs, name_of) + (remedy.jobs.size() == 1 ? " ends" : " end");
        case RemedyKind::Apart: return "its tasks may stand apart";
        case RemedyKind::AskLess:
            if (remedy.tasks == 1) return "it asks for " + base::format_gpus(remedy.gpus);
            return "it asks for " + std::to_string(remedy.tasks) + " tasks of " +
                   base::format_gpus(remedy.gpus);
        case RemedyKind::AnyKind: return "it takes GPUs of any model, on any node";
        case RemedyKind::MoreGpus:
            return base::format_gpus(remedy.gpus) + " more idle" +
                   (remedy.gpus == base::kWholeGpu ? "s" : "") + " on one node of the pool " +
                   remedy.name;
    }
    return {};
}

}  // namespace berth::scheduling
