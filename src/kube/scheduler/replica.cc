// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/replica.h"

#include <utility>

namespace berth::kube::scheduler {

Replica::Replica(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                 Candidate candidate, Options options)
    : requests_(requests),
      timers_(timers),
      clock_(clock),
      options_(std::move(options)),
      election_(requests, timers, clock, std::move(candidate),
                {.gained =
                     [this] {
                         options_.log("leads");
                         scheduler_ =
                             std::make_unique<Scheduler>(requests_, timers_, clock_, options_);
                         scheduler_->start();
                     },
                 .lost =
                     [this] {
                         has_lost_ = true;
                         scheduler_.reset();
                     },
                 .other =
                     [this](const std::string& holder) {
                         options_.log("waits: " + holder + " leads");
                     }}) {}

void Replica::stop(std::function<void()> then) {
    scheduler_.reset();
    election_.release(std::move(then));
}

std::optional<base::Error> Replica::failure() const {
    if (has_lost_) {
        return base::Error{base::ErrorCode::Unavailable,
                           "another scheduler leads now, or the Lease could not be renewed"};
    }
    return scheduler_ ? scheduler_->failure() : std::nullopt;
}

std::string Replica::trouble() const {
    if (!election_.trouble().empty()) return election_.trouble();
    return scheduler_ ? scheduler_->trouble() : "";
}

}  // namespace berth::kube::scheduler
