// SPDX-License-Identifier: Apache-2.0
//
// Who may use what? The Projects, Pools and the Policy that people declared, as the core is to have
// them; and in which project a gang is.
//
// Some changes the core does not make while it runs, such as another parent of a project with jobs.
// They are tried again and again, as it may have none one day; or one begins with a new state.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "control/controller.h"
#include "kube/cluster/described.h"
#include "kube/cluster/projects.h"
#include "kube/scheduler/facts/declarations.h"
#include "model/description.h"

namespace berth::kube::scheduler {

class Rights {
  public:
    // The first argument says what is meant: "project vision".
    using Refused = std::function<void(const std::string&, const base::Status&)>;

    explicit Rights(Refused refused) : say_(std::move(refused)) {}

    // Null now: it is gone. The first is true when gangs of the namespace may be in another
    // project.
    bool take_namespace(const std::string& name, const objects::Labels* labels) {
        return namespaces_.set_namespace(name, labels);
    }
    void take(const objects::DeclaredProject* before, const objects::DeclaredProject* now);
    void take(const objects::DeclaredPool* before, const objects::DeclaredPool* now) {
        declarations_.take(before, now);
    }
    void take(const objects::DeclaredPolicy* before, const objects::DeclaredPolicy* now) {
        declarations_.take(before, now);
    }

    // What is declared is what counts from now on, if it is another thing. Until it is reported the
    // core has what it had.
    bool renew();
    void describe(model::Description& description) const;
    void tell(control::Controller& controller);
    bool is_any_refused() const { return is_any_refused_; }
    // The core has answered since this was last asked.
    bool take_answered() { return std::exchange(is_answered_, false); }

    // Without a name: the gang is in no project that is there; `why` says so to people.
    cluster::ProjectPools project_of(const cluster::Gang& gang, std::string& why) const;
    // Why a Project is not in force as it is declared; empty: it is.
    std::string problem_of(const std::string& project) const;
    model::Levels levels() const;
    const std::string& profile() const { return declarations_.policy().profile; }
    const Declarations& declarations() const { return declarations_; }

  private:
    void tell_pools(control::Controller& controller);
    void tell_projects(control::Controller& controller);
    std::vector<std::string> pools_of(const model::Project& project) const;
    std::function<void(const base::Status&)> answer(std::string what);
    std::function<void(const base::Status&)> answer_to(const std::string& project);

    Refused say_;
    cluster::Projects namespaces_;
    Declarations declarations_;
    // What counts.
    std::vector<model::Project> order_;  // parents before children
    std::map<std::string, model::Project> projects_;
    std::set<std::string> departments_;
    std::vector<model::Pool> pools_;
    std::map<std::string, std::string> problems_;  // of Projects, as they are declared
    std::map<std::string, std::string> refusals_;  // of others, by the core
    bool is_any_refused_ = false;
    bool is_answered_ = false;
};

}  // namespace berth::kube::scheduler
