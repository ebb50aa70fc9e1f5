// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/owners.h"

#include "supervision/processes.h"

namespace berth::gpu_shares {

using ports::AttemptId;

void Owners::look(std::map<pid_t, AttemptId> supervisors) {
    supervisors_ = std::move(supervisors);
    before_ = std::exchange(known_, {});
}

std::optional<AttemptId> Owners::of(pid_t pid) {
    const std::pair name{pid, supervision::start_of(pid)};
    const auto found = before_.find(name);
    const auto owner = found != before_.end() ? std::optional(found->second) : search(pid);
    if (owner) known_.emplace(name, *owner);
    return owner;
}

std::optional<AttemptId> Owners::search(pid_t pid) const {
    constexpr int kTries = 3;
    for (int tries = 0; tries < kTries; ++tries) {
        pid_t at = supervision::parent_of(pid);
        while (at > 1 && !supervisors_.contains(at)) at = supervision::parent_of(at);
        if (at > 1) return supervisors_.at(at);
        if (at == 1) return {};
        // One of them has ended meanwhile, and those below it are elsewhere now.
    }
    return {};
}

}  // namespace berth::gpu_shares
