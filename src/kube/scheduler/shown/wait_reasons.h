// SPDX-License-Identifier: Apache-2.0
//
// Where is it written why a gang waits, and when? Its first pod, as the condition PodScheduled,
// within a second or so; again when the reason is another one, and when only its numbers are, after
// a minute.
//
// What the server did not take is written again.
//
// A reason costs the API server twice what a bind does. So it waits behind binds, at most
// kReasonsPerSecond are written, and a gang that starts at once gets none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "control/controller.h"
#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"
#include "kube/cluster/budgets.h"
#include "kube/scheduler/facts/gang_jobs.h"

namespace berth::kube::scheduler {

inline constexpr int kReasonsPerSecond = 50;
// How many gangs are looked at in a second for another reason.
inline constexpr int kLooksPerSecond = 200;

class WaitReasons {
  public:
    WaitReasons(client::Requests& requests, client::Timers& timers, const ports::Clock& clock,
                control::Controller& controller, const cluster::Gangs& gangs,
                const cluster::Budgets& budgets, const GangJobs& jobs);

    // It changed: it may wait from now on, or no more.
    void look_at(Uid gang);

  private:
    struct Reason {
        std::string reason;  // what autoscalers act on
        std::string key;  // the same while only numbers change
        std::string message;
    };
    struct Waiting {
        base::TimePoint since;
        std::string pod = {};  // uid of the one that has it
        Reason what = {};
        base::TimePoint written_at = {};
        bool is_taken = true;  // by the server, as far as is known
    };

    void tick();
    std::optional<Reason> reason_of(const cluster::Gang& gang, base::TimePoint since) const;
    std::optional<Reason> decided(const cluster::Gang& gang, base::TimePoint since) const;
    std::optional<Reason> growth(const cluster::Gang& gang, const model::JobRecord& job,
                                 const std::optional<model::Verdict>& verdict) const;
    static Reason reason_by(const model::Verdict& verdict, const std::string& before);
    static std::optional<Reason> missing(const cluster::Gang& gang, base::Duration waited);
    // Whether it wrote something.
    bool tell_if_new(Uid gang, Waiting& waiting);
    void note_not_taken(Uid gang, base::TimePoint written_at);

    client::Requests& requests_;
    client::Timers& timers_;
    const ports::Clock& clock_;
    control::Controller& controller_;
    const cluster::Gangs& gangs_;
    const cluster::Budgets& budgets_;
    const GangJobs& jobs_;
    std::map<Uid, Waiting> waiting_;
    Uid last_{};  // looked at
    client::Timer timer_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
