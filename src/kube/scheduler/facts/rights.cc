// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/facts/rights.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "model/limits.h"

namespace berth::kube::scheduler {
namespace {

const std::string kMachine{control::kMachine};

model::PolicyChanges settings_of(const objects::DeclaredPolicy& policy) {
    return policy.problem.empty() ? policy.settings : model::PolicyChanges{};
}

}  // namespace

void Rights::take(const objects::DeclaredProject* before, const objects::DeclaredProject* now) {
    const std::string& name = (now != nullptr ? now : before)->meta.name;
    namespaces_.set_listed(name, now != nullptr ? now->namespaces : std::vector<std::string>{});
    declarations_.take(before, now);
}

bool Rights::renew() {
    if (!declarations_.take_changed()) return false;
    Declarations::Projects declared = declarations_.projects();
    for (const auto& [name, problem] : declared.problems)
        say_("project " + name, base::invalid(problem));
    problems_ = std::move(declared.problems);
    order_ = std::move(declared.sound);
    projects_.clear();
    departments_.clear();
    for (const model::Project& project : order_) {
        projects_[project.name] = project;
        departments_.insert(project.parent);
    }
    pools_ = declarations_.pools();
    const objects::DeclaredPolicy& policy = declarations_.policy();
    const std::string& heard = policy.problem.empty() ? policy.note : policy.problem;
    if (!heard.empty()) say_("policy", base::invalid(heard));
    return true;
}

model::Levels Rights::levels() const {
    const model::Levels& said = declarations_.policy().levels;
    return said.empty() ? model::default_levels() : said;
}

void Rights::describe(model::Description& description) const {
    description.policy = settings_of(declarations_.policy());
    description.levels = levels();
    description.pools = pools_;
    description.projects = order_;
}

// --- telling

std::function<void(const base::Status&)> Rights::answer(std::string what) {
    return [this, what = std::move(what)](const base::Status& done) {
        say_(what, done);
        is_answered_ = true;
        if (!done) is_any_refused_ = true;
    };
}

std::function<void(const base::Status&)> Rights::answer_to(const std::string& project) {
    return [this, project, note = answer("project " + project)](const base::Status& done) {
        note(done);
        if (!done) refusals_[project] = done.error().message;
    };
}

std::string Rights::problem_of(const std::string& project) const {
    for (const auto* all : {&problems_, &refusals_}) {
        if (const auto found = all->find(project); found != all->end()) return found->second;
    }
    return {};
}

// The core leaves things as they are that it has so already.
void Rights::tell(control::Controller& controller) {
    is_any_refused_ = false;
    refusals_.clear();
    tell_pools(controller);
    tell_projects(controller);
    const auto& core = controller.state().cluster;
    for (const berth::cluster::PoolState& pool : core.pools()) {
        const bool is_declared =
            std::ranges::find(pools_, pool.name, &model::Pool::name) != pools_.end();
        if (!is_declared && !pool.name.empty() && pool.name != model::kDefaultPool)
            controller.record(model::PoolRemoved{pool.name}, kMachine, answer("pool " + pool.name));
    }
    model::PolicyChanges changes = settings_of(declarations_.policy());
    for (const auto& [setting, text] : controller.state().policy) {
        changes.try_emplace(setting, std::nullopt);  // as the profile says again
    }
    controller.set_policy(changes, kMachine, answer("policy"));
    controller.set_levels(levels(), answer("levels"));
}

// First without new spares, which may be in a pool that comes later.
void Rights::tell_pools(control::Controller& controller) {
    const auto& core = controller.state().cluster;
    for (model::Pool pool : pools_) {
        const base::PoolId known = core.find_pool(pool.name);
        const bool has_them = known.is_valid() && core.pool(known).spares == pool.spares;
        if (!has_them) pool.spares.clear();
        controller.set_pool(std::move(pool), kMachine, answer("pool " + pool.name));
    }
    for (const model::Pool& pool : pools_)
        controller.set_pool(pool, kMachine, answer("pool " + pool.name));
}

// One that is gone, or elsewhere, goes first, those below it before it.
void Rights::tell_projects(control::Controller& controller) {
    const auto& known = controller.state().cluster.projects();
    for (const auto& each : known | std::views::drop(1) | std::views::reverse) {
        const model::Project& project = each.project;
        if (project.name.empty()) continue;
        const auto declared = projects_.find(project.name);
        const bool stays = declared != projects_.end() && declared->second.parent == project.parent;
        if (!stays)
            controller.record(model::ProjectRemoved{project.name}, kMachine,
                              answer_to(project.name));
    }
    for (const model::Project& project : order_)
        controller.set_project(project, kMachine, answer_to(project.name));
}

// --- whose a gang is

cluster::ProjectPools Rights::project_of(const cluster::Gang& gang, std::string& why) const {
    const std::string project = namespaces_.project_of(gang.meta());
    if (project.empty()) {
        why = "namespace " + *gang.meta().name_space +
              " is in no project: label it berth.dev/project=NAME, or list it in a Project";
        return {};
    }
    if (departments_.contains(project)) {
        why = "project " + project + " has projects below it: use one of them";
        return {};
    }
    const auto found = projects_.find(project);
    if (found != projects_.end()) {
        const std::vector<std::string> pools = pools_of(found->second);
        const model::Entitlement rights =
            model::rights_in(found->second, pools.empty() ? model::kDefaultPool : pools.front());
        return {.name = project, .pools = pools, .quota = rights.quota.value_or(base::MilliGpu{0})};
    }
    why = "project " + project + " does not exist: kubectl get projects lists projects";
    return {};
}

// Those in which it has rights of its own, and the default one.
std::vector<std::string> Rights::pools_of(const model::Project& project) const {
    std::vector<std::string> pools;
    for (const auto& [pool, rights] : project.pools) {
        const bool is_there = std::ranges::find(pools_, pool, &model::Pool::name) != pools_.end();
        if (is_there && pools.size() + 1 < model::kPoolsOfJobMax) pools.push_back(pool);
    }
    if (!pools.empty()) pools.push_back(model::kDefaultPool);
    return pools;
}

}  // namespace berth::kube::scheduler
