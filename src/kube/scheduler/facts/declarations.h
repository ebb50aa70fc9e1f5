// SPDX-License-Identifier: Apache-2.0
//
// What did people declare, as the core is to have it? Projects with their parents, Pools and the
// Policy. What refers to something that is not there is left out, with the reason, until it is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kube/objects/declared.h"
#include "model/description.h"

namespace berth::kube::scheduler {

class Declarations {
  public:
    // Null now: it is gone.
    void take(const objects::DeclaredProject* before, const objects::DeclaredProject* now);
    void take(const objects::DeclaredPool* before, const objects::DeclaredPool* now);
    void take(const objects::DeclaredPolicy* before, const objects::DeclaredPolicy* now);

    struct Projects {
        std::vector<model::Project> sound;  // parents before children, older before younger
        std::map<std::string, std::string> problems;  // what is wrong with a Project, in words
    };
    Projects projects() const;
    // In the order of declaration.
    std::vector<model::Pool> pools() const;
    const objects::DeclaredPolicy& policy() const { return policy_; }

    // visit(name, uid)
    template <typename Visit>
    void each_project(Visit visit) const {
        for (const auto& [name, project] : projects_) visit(name, project.meta.uid);
    }
    template <typename Visit>
    void each_pool(Visit visit) const {
        for (const auto& [name, pool] : pools_) visit(name, pool.meta.uid);
    }

    // Something changed since this was last asked.
    bool take_changed() { return std::exchange(has_changed_, false); }

  private:
    std::map<std::string, objects::DeclaredProject> projects_;
    std::map<std::string, objects::DeclaredPool> pools_;
    objects::DeclaredPolicy policy_;
    bool has_changed_ = false;
};

}  // namespace berth::kube::scheduler
