// SPDX-License-Identifier: Apache-2.0
#include "timeline/takings.h"

#include <algorithm>
#include <concepts>

namespace berth::timeline {
namespace {

// Of what else happens, nothing is to be known.
model::JobId paused_job(const model::EventBody& body) {
    return std::visit(
        []<typename Event>(const Event& event) -> model::JobId {
            if constexpr (std::same_as<Event, model::PauseRequested> ||
                          std::same_as<Event, model::JobPaused> ||
                          std::same_as<Event, model::JobResized> ||
                          std::same_as<Event, model::JobStarting> ||
                          std::same_as<Event, model::JobFinished> ||
                          std::same_as<Event, model::AttemptLost>) {
                return event.job;
            } else {
                return {};
            }
        },
        body);
}

bool is_of(const model::PastPause& pause, std::string_view project) {
    if (!pause.sides) return false;
    return project.empty() || pause.sides->own.project == project ||
           pause.sides->other.project == project;
}

}  // namespace

void Takings::read(const model::Event& event) {
    const model::JobId job = paused_job(event.body);
    if (!job.is_valid()) return;
    const auto* request = std::get_if<model::PauseRequested>(&event.body);
    const auto found = jobs_.find(job);
    if (found == jobs_.end() && (request == nullptr || !request->sides)) return;
    Taken& taken = jobs_[job];
    taken.receipts.read(event);
    if (request == nullptr) return;
    by_last_.erase({taken.last, job});
    taken.last = event.sequence;
    by_last_.insert({taken.last, job});
    if (by_last_.size() <= kJobsTaken) return;
    jobs_.erase(by_last_.begin()->second);
    by_last_.erase(by_last_.begin());
}

std::vector<model::Taking> Takings::of(std::string_view project) const {
    std::vector<model::Taking> found;
    for (const auto& [job, taken] : jobs_) {
        for (const model::PastPause& pause : taken.receipts.receipts().items) {
            if (is_of(pause, project)) found.push_back({pause, job});
        }
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &model::Taking::time);
    if (found.size() > kTakingsShown) found.resize(kTakingsShown);
    return found;
}

}  // namespace berth::timeline
