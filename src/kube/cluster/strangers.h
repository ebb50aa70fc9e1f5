// SPDX-License-Identifier: Apache-2.0
//
// What is taken of each node that the core counts for no job? By pods that none stands for: those
// of other schedulers, DaemonSets, static pods; those of ours that the core has given up. And by
// pods of its jobs that were resized, what they hold beside what they asked, which may be below 0.
#pragma once

#include <map>
#include <set>
#include <string>

#include "kube/objects/pod.h"

namespace berth::kube::cluster {

class Strangers {
  public:
    // The pod takes what it holds of its node, until it is said to take nothing: once it is over or
    // gone, or stands for a task.
    void set(const objects::Pod& pod);
    // The pod stands for a task, and takes so much beside it.
    void set_beside(const objects::Pod& pod, const objects::Amounts& amounts);
    void clear(objects::Uid pod);

    // Sums of a node; nothing where there are no strangers.
    const objects::Amounts& on(const std::string& node) const;
    int pods_on(const std::string& node) const;
    // Nodes whose sums changed since this was last asked.
    std::set<std::string> take_changed() { return std::exchange(changed_, {}); }

  private:
    struct Held {
        std::string node;
        objects::Amounts amounts;
        int pods = 1;  // 0: the core counts it

        bool operator==(const Held&) const = default;
    };
    struct Sum {
        objects::Amounts amounts;
        int pods = 0;
        int entries = 0;
    };
    void put(objects::Uid pod, Held held);
    void count(const Held& held, int sign);

    std::map<objects::Uid, Held> held_;
    std::map<std::string, Sum> sums_;
    std::set<std::string> changed_;
};

}  // namespace berth::kube::cluster
