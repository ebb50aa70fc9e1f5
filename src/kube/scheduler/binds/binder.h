// SPDX-License-Identifier: Apache-2.0
//
// How does a job of the core come to run on a cluster? Each task of a started attempt is a place on
// a node, which one pod of the gang is bound to. All binds are sent at once; the attempt runs when
// the last one is answered. A pod that is gone leaves its place to the next one that its Job makes.
//
// What a lost answer means is asked, never guessed: until then the place is taken. A gang that
// cannot be bound whole is given back: the core decides anew, and what was bound of it is deleted.
// A start of which a part is bound, and no other pod within kPartlyBoundMost, is such a one.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"
#include "kube/client/writes.h"
#include "kube/cluster/gangs.h"
#include "kube/cluster/parts.h"
#include "ports/launcher.h"

namespace berth::kube::scheduler {

using objects::Uid;

inline constexpr base::Duration kPartlyBoundMost = std::chrono::seconds(5);
// A start whose pods do not come, as something else keeps them from being made, holds its GPUs no
// longer after the last one that came.
inline constexpr base::Duration kPodsWithin = std::chrono::minutes(1);
// Between two tries of a bind that was not carried out.
inline constexpr base::Duration kBindAgain = std::chrono::milliseconds(500);

class Binder final : public ports::Launcher {
  public:
    // Null when the job stands for no gang that is there.
    using GangOf = std::function<const cluster::Gang*(model::JobId)>;
    // What a later scheduler must know of a job that is suspended, or goes on.
    using NotesOf = std::function<client::Annotations(model::JobId, bool is_suspended)>;
    // Whether a pod that asks for that may be the job's task of this rank.
    using IsFor =
        std::function<bool(model::JobId, int rank, const model::JobSpec&, cluster::Sizes)>;
    // Why such a pod is not to be bound to the node after all; empty: it is.
    using WhyNot = std::function<std::string(const model::JobSpec&, const std::string& node)>;

    struct Counts {
        std::uint64_t bound = 0;
        std::uint64_t refused = 0;
        std::uint64_t unknown = 0;  // binds whose answer was lost
        std::uint64_t given_back = 0;  // attempts
    };

    Binder(client::Requests& requests, client::Timers& timers, GangOf gang_of, NotesOf notes_of,
           IsFor is_for, WhyNot why_not);

    // Something of its gang is not as it was.
    void gang_changed(model::JobId job);
    // Its Job is not paused by us any more: it goes on, with or without GPUs. `then` is called when
    // it may be looked at again; not at all where that is so already.
    void give_up_pause(const cluster::Gang& gang, std::function<void()> then);
    // The task that stands for the pod: the core counts what that asks.
    std::optional<int> task_of(model::JobId job, Uid pod) const;
    // The tasks of a gang that goes on of which no pod is there; none of one that has not run
    // whole.
    std::vector<int> tasks_without_pods(model::JobId job) const;
    // Whether all its pods have run at once, and none is asked to leave.
    bool goes_on(model::JobId job) const;
    const Counts& counts() const { return counts_; }

    void set_listener(ports::LauncherListener* listener) override { listener_ = listener; }
    void start(const ports::LaunchOrder& order) override;
    void resume(const ports::LaunchOrder& order) override { start(order); }
    void resize(const ports::BegunAttempt& attempt) override;
    model::PauseWay pause_way(ports::AttemptId) const override { return {}; }
    void stop(ports::AttemptId attempt, ports::StopReason reason, base::Duration grace) override;
    void recover(std::span<const ports::BegunAttempt> attempts) override;

  private:
    enum class Fill { Free, Sent, Bound };
    struct Place {
        int task = 0;  // of the job
        std::string node;
        Fill fill = Fill::Free;
        Uid pod;
    };
    struct Attempt {
        ports::AttemptId id;
        std::vector<Place> places;  // by rank
        bool is_reported_running = false;
        bool has_run = false;  // as a whole; it may have more places now
        bool is_stopping = false;
        bool has_failed = false;  // one of its pods has
        std::string lost_because = {};  // it is given back; empty: it is not
        int pods_there = 0;
        base::TimePoint came = {};  // the last of them, or the start
        std::optional<base::TimePoint> partly_since = {};  // without another bind
        int bound = 0;  // when it was last looked at
        bool is_patching = false;  // whether its Job is suspended

        bool is_empty() const {
            return std::ranges::all_of(places,
                                       [](const Place& place) { return place.fill == Fill::Free; });
        }
    };

    // The attempt with places for these tasks.
    Attempt& with_places(ports::AttemptId id, const std::vector<ports::TaskLaunch>& tasks);
    void keep_pods(Attempt& attempt, const std::vector<Place>& before) const;
    Attempt* find(ports::AttemptId id);
    void review_begun(Attempt& attempt);
    void review(Attempt& attempt);
    void look_at_places(Attempt& attempt, const cluster::Gang& gang);
    bool are_pods_there(Attempt& attempt, const cluster::Gang& gang);
    std::string fill_places(Attempt& attempt, const cluster::Gang& gang);
    void send_bind(const Attempt& attempt, const Place& place);
    void take_bind(ports::AttemptId id, Uid pod, const client::Outcome& outcome);
    void ask_bind(ports::AttemptId id, Uid pod);
    void take_fate(ports::AttemptId id, Uid pod, client::BindFate fate);
    void bind_later(ports::AttemptId id, Uid pod, base::Duration wait);
    Place* place_of(ports::AttemptId id, Uid pod);
    client::PodName name_of(ports::AttemptId id, Uid pod) const;
    void note_bound(Attempt& attempt);
    void give_back(Attempt& attempt, std::string why);
    void suspend(Attempt& attempt, const cluster::Gang& gang, bool is_suspended);
    void end_pods(const Attempt& attempt);
    void end_pod(ports::AttemptId id, Uid pod);
    void remove_pods(const Attempt& attempt, std::optional<std::int64_t> grace_s);
    void remove_pod(ports::AttemptId id, Uid pod, std::optional<std::int64_t> grace_s);
    void end(const Attempt& attempt, const ports::AttemptExit& exit);
    void later(base::Duration wait, std::function<void()> then);
    void look_at_starts();

    client::Requests& requests_;
    client::Timers& timers_;
    GangOf gang_of_;
    NotesOf notes_of_;
    IsFor is_for_;
    WhyNot why_not_;
    ports::LauncherListener* listener_ = nullptr;
    std::map<model::JobId, Attempt> attempts_;
    std::set<Uid> giving_up_;  // pauses of Jobs
    client::Timer starts_;  // runs while one has begun and does not run yet
    Counts counts_;
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::scheduler
