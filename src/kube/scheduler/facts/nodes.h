// SPDX-License-Identifier: Apache-2.0
//
// What does the core get of the cluster's nodes? Each as it is, with what strangers take of it.
// What the core refuses, such as another number of GPUs while some are in use, is reported again
// later.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "control/controller.h"
#include "kube/cluster/node_of.h"
#include "kube/cluster/strangers.h"

namespace berth::kube::scheduler {

class Nodes {
  public:
    // The first argument says what is meant: "node n1".
    using Refused = std::function<void(const std::string&, const base::Status&)>;

    Nodes(cluster::Strangers& strangers, Refused refused)
        : strangers_(strangers), refused_(std::move(refused)) {}

    // Null before: it is new. Null now: it is gone.
    void take(const objects::Node* before, const objects::Node* now);
    // A pod of ours asks for that: the core counts resources that pods ask for and nodes have.
    void take_ask(const objects::PodAsk& ask);
    // What is in a level that is not one of these is not said.
    void set_levels(const model::Levels& levels);

    // All, as they are now: those of a first state, which the core then has.
    const std::map<std::string, model::Node>& tell_all();
    // Those that changed. True: something may fit now that did not.
    bool tell(control::Controller& controller);
    // What was refused is reported with the next ones.
    void try_again() { changed_.merge(waiting_); }
    bool is_any_refused() const { return !waiting_.empty(); }

    // As the core has them.
    const std::map<std::string, model::Node>& reported() const { return reported_; }
    std::size_t size() const { return nodes_.size(); }

  private:
    model::Node node_now(const objects::Node& node) const;
    bool count(const std::string& resource);
    bool is_offered(const std::string& resource) const;

    cluster::Strangers& strangers_;
    Refused refused_;
    std::map<std::string, objects::Node> nodes_;
    std::map<std::string, model::Node> reported_;
    std::set<std::string> changed_;
    std::set<std::string> waiting_;  // that were refused
    model::Levels levels_;
    std::set<std::string> asked_;  // resources
    cluster::Counted counted_{model::kPodsResource};
};

}  // namespace berth::kube::scheduler
