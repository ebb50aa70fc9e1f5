// SPDX-License-Identifier: Apache-2.0
#include "api/live/waiting.h"

#include <set>

#include "codec/log/event_log.h"

namespace berth::api {

void Waiting::park(model::JobId job, model::TimePoint until, Client client, Question question) {
    for_jobs_.emplace(job, Parked{until, std::move(client), std::move(question)});
}

void Waiting::park_for_events(model::TimePoint until, Client client, Question question) {
    for_events_.push_back({until, std::move(client), std::move(question)});
}

void Waiting::park_for_ticks(model::TimePoint until, Client client, Question question) {
    for_ticks_.push_back({until, std::move(client), std::move(question)});
}

void Waiting::on_events(std::span<const model::Event> events) {
    for_events_.remove_if([](const Parked& parked) { return parked.question(false); });
    if (for_jobs_.empty()) return;
    std::set<model::JobId> jobs;
    for (const model::Event& event : events) jobs.insert(codec::job_of(event.body));
    for (const model::JobId job : jobs) {
        auto [at, end] = for_jobs_.equal_range(job);
        while (at != end) at = at->second.question(false) ? for_jobs_.erase(at) : std::next(at);
    }
}

void Waiting::on_tick(model::TimePoint now) {
    const auto is_over = [now](const Parked& parked) {
        return parked.client.expired() || (parked.until <= now && parked.question(true));
    };
    std::erase_if(for_jobs_, [&](const auto& entry) { return is_over(entry.second); });
    for_events_.remove_if(is_over);
    for_ticks_.remove_if(
        [&](const Parked& parked) { return is_over(parked) || parked.question(false); });
}

void Waiting::answer_all() { on_tick(model::TimePoint::max()); }

}  // namespace berth::api
