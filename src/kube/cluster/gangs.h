// SPDX-License-Identifier: Apache-2.0
//
// Which pods belong together, how many are needed at once, and are they there? A gang is what one
// workload makes, the topmost one where one makes another: all pods of a Job, or of all Jobs of a
// JobSet. Pods without an owner that name the same group are one too. Every other pod is one by
// itself.
//
// Only pods that name our scheduler are in it. Pods and workloads are those of caches, which
// outlive this; each change of a cache is taken once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/cluster/owners.h"

namespace berth::kube::cluster {

using objects::Uid;

using objects::Workload;

// Of a Job or pod: which part of its JobSet it is.
inline constexpr std::string_view kPartOfJobSet = "jobset.sigs.k8s.io/replicatedjob-name";

struct Gang {
    Uid uid;  // of the workload, or of the pod
    // Its pods are made again when they are gone, by a workload.
    bool is_owned = false;
    const Workload* workload = nullptr;  // null: it has none, or it is not there
    std::vector<const Workload*> made = {};  // by that: the Jobs of a JobSet
    std::map<Uid, const objects::Pod*> pods;  // of our scheduler, also those that are over

    bool is_over() const;
    // Why nothing of it is placed, in words; empty: nothing is wrong with it.
    std::string trouble() const;
    // Pods that are to be bound, first those of least index, then by name.
    std::vector<const objects::Pod*> waiting() const;
    // Not over, bound or not.
    int living() const;
    // That have a node, or are to be bound.
    int placeable() const;
    // Whether any pod of it has a node.
    bool has_started() const;
    int pods_wanted() const;
    // Of its workload, as far as it is: what its Jobs have done is wanted no more.
    std::vector<Workload::Part> parts_wanted() const;
    // Whether its pods are there, so that it can start as a whole.
    bool is_complete() const;
    // Whether it is suspended by us: it waits, and its pods are made again when it goes on.
    bool is_paused() const;
    // What its pods ask, of a paused one what they will ask.
    const objects::PodAsk& ask() const;
    // Of the workload or the pod.
    const objects::Meta& meta() const;
    // For people: ml/job/train, ml/pod/p.
    std::string name() const;
    // One more pod of it; the first says whether a workload makes them.
    void add(const objects::Pod& pod);

  private:
    bool is_group() const;
    std::string disagreement() const;
};

// Which gang of these a pod belongs to, or which new one. What it names may be another namespace's:
// then it is one by itself.
Uid home_of(const objects::Pod& pod, const Owners& owners, const std::map<Uid, Gang>& gangs);

bool is_waiting(const objects::Pod& pod);
// By index, then by name.
bool in_order(const objects::Pod* one, const objects::Pod* other);

class Gangs {
  public:
    explicit Gangs(std::string scheduler) : scheduler_(std::move(scheduler)) {}

    // Null before: it is new. Null now: it is gone.
    void take(const objects::Pod* before, const objects::Pod* now);
    void take(const Workload* before, const Workload* now);

    bool are_ours(const objects::Pod& pod) const { return *pod.ask->scheduler == scheduler_; }
    // Null when it has neither pods nor a workload any more.
    const Gang* find(Uid gang) const;
    const std::map<Uid, Gang>& all() const { return gangs_; }
    // Those that changed since this was last asked.
    std::set<Uid> take_changed() { return std::exchange(changed_, {}); }
    // All of one namespace, or of every one, are to be looked at again.
    void touch(std::string_view name_space);
    void touch_all();

  private:
    static bool may_leave(const Gang& gang);
    void bring_home(Uid workload);
    void enter(Uid uid, const objects::Pod& pod);
    void leave(Uid pod);
    void forget_empty(Uid gang);

    std::string scheduler_;
    std::map<Uid, Gang> gangs_;
    std::map<Uid, Uid> homes_;  // pod -> gang
    Owners owners_;
    std::set<Uid> changed_;
};

}  // namespace berth::kube::cluster
