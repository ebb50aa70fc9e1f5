// SPDX-License-Identifier: Apache-2.0
//
// Which of several schedulers leads? Who holds a Lease of the API server. It is renewed every
// kRenewEvery; who could not for kRenewWithin has lost it, and whatever it wrote is over within
// client::kWritePatience, so that nothing of it is under way when the Lease is free.
//
// Whether a Lease is renewed is seen, not read: an expiry counts from when a change of it was first
// noticed, by a clock that is never set.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"
#include "kube/client/writes.h"

namespace berth::kube::scheduler {

inline constexpr base::Duration kRenewEvery = std::chrono::seconds(2);
inline constexpr base::Duration kRenewWithin = std::chrono::seconds(9);
inline constexpr base::Duration kLeaseFor = kRenewWithin + client::kWritePatience;
// How often who does not lead looks whether it could.
inline constexpr base::Duration kLookEvery = std::chrono::milliseconds(500);

struct Candidate {
    std::string name_space = "berth-system";
    std::string lease = "berth-scheduler";
    std::string identity;  // unlike all others: host and process
};

class Election {
  public:
    // `gained` is called once; `lost` once after it, and then this does nothing more.
    struct Handlers {
        std::function<void()> gained;
        std::function<void()> lost;
        // The new leader, when another one leads.
        std::function<void(const std::string& holder)> other = [](const std::string&) {};
    };

    // `date` is the calendar's time, for people who read the Lease.
    Election(client::Requests& requests, client::Timers& timers, const ports::Clock& date,
             Candidate candidate, Handlers handlers);

    void start() { look(); }
    bool leads() const { return leads_; }
    // Gives it back once nothing else is under way, so that the next one need not wait; calls
    // `then` when that is done, or has not succeeded.
    void release(std::function<void()> then);
    const std::string& trouble() const { return trouble_; }

  private:
    void look();
    void take_look(const client::Outcome& outcome);
    bool is_free(const client::Lease& lease);
    void write(client::Lease lease);
    void take_write(const client::Outcome& outcome, base::TimePoint sent);
    void follow(const client::Lease& lease, base::TimePoint since);
    void look_after(base::Duration wait);
    void lose();
    std::string date() const;

    client::Requests& requests_;
    client::Timers& timers_;
    const ports::Clock& date_;
    Candidate candidate_;
    Handlers handlers_;
    client::Lease lease_;  // as it was seen last
    base::TimePoint seen_;  // since when it is so
    // When the first write was sent of which it is not known whether it is there.
    std::optional<base::TimePoint> unsure_since_;
    bool leads_ = false;
    bool is_over_ = false;
    std::string trouble_;
    client::Timer next_;
    client::Timer expiry_;  // of ours
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
