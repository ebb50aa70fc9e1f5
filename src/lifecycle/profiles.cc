// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/profiles.h"

#include <algorithm>

namespace berth::lifecycle {

Profiles::Key Profiles::key_of(const model::JobRecord& job) {
    return {job.spec.project, job.spec.name, job.user, job.spec.request.gpus};
}

void Profiles::learn(const model::JobRecord& job, const model::GpuProfile& profile,
                     model::TimePoint measured) {
    if (job.spec.name.empty()) return;
    Known& known = known_[key_of(job)];
    const model::GpuProfile before = known.profile;
    if (profile.iterations > 0 || before.iterations == 0) known.profile = profile;
    if (!known.profile.compute) known.profile.compute = before.compute;
    known.profile.persistent = std::max(profile.persistent, before.persistent);
    known.profile.peak = std::max(profile.peak, before.peak);
    known.profile.highest = std::max(profile.highest, before.highest);
    known.measured = measured;
    if (known_.size() <= kMost) return;
    known_.erase(std::ranges::min_element(known_, {},
                                          [](const auto& entry) { return entry.second.measured; }));
}

const model::GpuProfile* Profiles::of(const model::JobRecord& job) const {
    const auto found = known_.find(key_of(job));
    return found == known_.end() ? nullptr : &found->second.profile;
}

void Profiles::part(const model::JobRecord& job) {
    const auto found = known_.find(key_of(job));
    if (found != known_.end()) found->second.is_parted = true;
}

bool Profiles::is_parted(const model::JobRecord& job) const {
    const auto found = known_.find(key_of(job));
    return found != known_.end() && found->second.is_parted;
}

bool Profiles::are_alike(const model::JobRecord& job, const model::JobRecord& other) {
    return !job.spec.name.empty() && key_of(job) == key_of(other);
}

std::vector<model::ProfileLedger> Profiles::ledgers() const {
    std::vector<model::ProfileLedger> ledgers;
    for (const auto& [key, known] : known_) {
        const auto& [project, name, user, gpus] = key;
        ledgers.push_back(
            {project, name, user, gpus, known.measured, known.profile, known.is_parted});
    }
    return ledgers;
}

void Profiles::restore(const std::vector<model::ProfileLedger>& ledgers) {
    for (const model::ProfileLedger& each : ledgers) {
        known_[{each.project, each.name, each.user, each.gpus}] = {each.profile, each.measured,
                                                                   each.is_parted};
    }
}

}  // namespace berth::lifecycle
