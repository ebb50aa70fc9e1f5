// SPDX-License-Identifier: Apache-2.0
//
// Which gang is which job of the core? A gang that is complete is handed in; one whose pods are
// gone, or that changed while it waits, is taken out. Who runs is the binder's.
//
// A gang that is refused says why; it is handed in again when something changed that may help.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "control/controller.h"
#include "kube/cluster/described.h"
#include "kube/cluster/gangs.h"
#include "kube/cluster/strangers.h"
#include "kube/scheduler/binds/binder.h"

namespace berth::kube::scheduler {

// Whether no new node would help: a quota is in the way.
constexpr bool is_about_quota(model::Reason reason) {
    return reason == model::Reason::QuotaHard || reason == model::Reason::QuotaFair;
}

class GangJobs {
  public:
    struct Parts {
        control::Controller& controller;
        const cluster::Gangs& gangs;
        cluster::Strangers& strangers;
        Binder& binder;
        // Without a name: the gang is in no project that is there; `why` says so to people.
        std::function<cluster::ProjectPools(const cluster::Gang&, std::string& why)> project_of;
    };

    GangJobs(Parts parts, client::Timers& timers) : parts_(std::move(parts)), timers_(timers) {}

    // The job that the start has made of it.
    void adopt(Uid gang, model::JobId job, model::JobSpec spec);
    // It, or its project, is not as it was.
    void review(Uid gang);
    // The core knows the job no more. One that failed to start is handed in again some time later.
    void ended(const model::JobFinished& end);
    // The project of a gang may be there now, or a node that it fits.
    void forget_refusals();

    const cluster::Gang* gang_of(model::JobId job) const;
    std::optional<Uid> uid_of(model::JobId job) const;
    std::optional<model::JobId> job_of(Uid gang) const;
    // Whether a pod asks for what the core has of this rank.
    bool asks_as_taken(model::JobId job, int rank, const model::JobSpec& pod,
                       cluster::Sizes sizes) const;
    // Why it is not handed in; empty when it is, or nothing keeps it from being.
    std::string refusal_of(Uid gang) const;
    // Whether that is a quota, so that no new node would help.
    bool is_over_quota(Uid gang) const { return over_quota_.contains(gang); }

  private:
    struct Taken {
        std::optional<model::JobId> job;  // none: it was handed in and is not answered yet
        model::JobSpec spec;
        bool is_leaving = false;
        bool is_resizing = false;
        bool was_touched = false;  // meanwhile
    };

    struct Failures {
        int starts = 0;  // that failed, one after the other
        bool is_resting = false;  // it is handed in again some time later
    };

    void hand_in(Uid uid, const cluster::Gang& gang);
    void take_answer(Uid gang, const tl::expected<model::JobId, control::Refusal>& answer);
    void review_taken(Uid uid, const cluster::Gang* gang, Taken& taken);
    bool is_resting(Uid gang) const;
    std::optional<int> size_it_waits_with(const cluster::Gang* gang, const Taken& taken) const;
    void look_at_size(Uid uid, const cluster::Gang& gang, const model::JobRecord& job);
    void set_size(Uid uid, int tasks, std::vector<int> ended);
    void look_at_pause(Uid uid, const cluster::Gang& gang);
    void count_strangers(Uid uid, const cluster::Gang* gang);

    Parts parts_;
    client::Timers& timers_;
    std::map<Uid, Taken> taken_;
    std::map<model::JobId, Uid> gangs_;
    std::map<Uid, std::string> refusals_;
    std::set<Uid> over_quota_;  // of those
    std::map<Uid, Failures> failures_;
    // Pods of a gang that strangers know of, to be cleared when they are gone.
    std::map<Uid, std::set<Uid>> strange_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
