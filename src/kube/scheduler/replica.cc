// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/replica.h"

#include <utility>

namespace berth::kube::scheduler {
namespace {

constexpr base::Duration kBeginAgain = client::kWritePatience + std::chrono::seconds(1);

}  // namespace

Replica::Replica(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                 Candidate candidate, Options options)
    : requests_(requests),
      timers_(timers),
      clock_(clock),
      options_(std::move(options)),
      again_(timers),
      election_(requests, timers, clock, std::move(candidate),
                {.gained =
                     [this] {
                         options_.log("leads");
                         lead();
                     },
                 .lost =
                     [this] {
                         has_lost_ = true;
                         again_.stop();
                         end_scheduler();
                     },
                 .other =
                     [this](const std::string& holder) {
                         other_leader_ = holder;
                         options_.log("waits: " + holder + " leads");
                     }}) {
    // It asks from within, so not at once; and nothing that it has sent is under way any more when
    // the next one lists what is there.
    options_.begin_again = [this] {
        again_.start(base::Duration{0}, [this] {
            end_scheduler();
            again_.start(kBeginAgain, [this] { lead(); });
        });
    };
}

void Replica::lead() {
    scheduler_ = std::make_unique<Scheduler>(requests_, timers_, clock_, options_);
    scheduler_->start();
}

void Replica::end_scheduler() {
    before_ = activity();
    scheduler_.reset();
}

Activity Replica::activity() const {
    Activity all = before_;
    if (scheduler_) all.add(scheduler_->activity());
    return all;
}

void Replica::stop(std::function<void()> then) {
    again_.stop();
    end_scheduler();
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
