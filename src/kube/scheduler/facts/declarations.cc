// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/facts/declarations.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "model/limits.h"

namespace berth::kube::scheduler {
namespace {

bool is_same(const objects::DeclaredProject& one, const objects::DeclaredProject& other) {
    return one.project == other.project && one.problem == other.problem &&
           one.namespaces == other.namespaces;
}

bool is_same(const objects::DeclaredPool& one, const objects::DeclaredPool& other) {
    return one.pool == other.pool && one.problem == other.problem &&
           one.meta.created == other.meta.created;
}

// Whether something else is declared now. A status is not, and is written often.
template <typename Object>
bool keep(std::map<std::string, Object>& all, const Object* before, const Object* now) {
    if (now == nullptr) return all.erase(before->meta.name) > 0;
    const auto known = all.find(now->meta.name);
    const bool is_new = known == all.end() || !is_same(known->second, *now);
    all[now->meta.name] = *now;
    return is_new;
}

}  // namespace

void Declarations::take(const objects::DeclaredProject* before,
                        const objects::DeclaredProject* now) {
    has_changed_ |= keep(projects_, before, now);
}

void Declarations::take(const objects::DeclaredPool* before, const objects::DeclaredPool* now) {
    has_changed_ |= keep(pools_, before, now);
}

void Declarations::take(const objects::DeclaredPolicy* before, const objects::DeclaredPolicy* now) {
    const std::string& name = (now != nullptr ? now : before)->meta.name;
    if (name != objects::kPolicyName) return;
    policy_ = now != nullptr ? *now : objects::DeclaredPolicy{};
    has_changed_ = true;
}

std::vector<model::Pool> Declarations::pools() const {
    std::vector<const objects::DeclaredPool*> order;
    for (const auto& [name, pool] : pools_) {
        if (pool.problem.empty()) order.push_back(&pool);
    }
    std::ranges::sort(order, {}, [](const objects::DeclaredPool* pool) {
        return std::tie(pool->meta.created, pool->meta.name);
    });
    std::vector<model::Pool> pools;
    for (const objects::DeclaredPool* each : order) {
        if (pools.size() + 1 == model::kPoolsMax) break;  // with the default one
        model::Pool pool = each->pool;
        const auto spares = pools_.find(pool.spares);
        const bool are_sound = spares != pools_.end() && spares->second.pool.spares.empty();
        if (!are_sound) pool.spares.clear();
        pools.push_back(std::move(pool));
    }
    return pools;
}

Declarations::Projects Declarations::projects() const {
    Projects sorted;
    std::vector<const objects::DeclaredProject*> left;
    for (const auto& [name, project] : projects_) {
        if (project.problem.empty()) {
            left.push_back(&project);
        } else {
            sorted.problems[name] = project.problem;
        }
    }
    std::ranges::sort(left, {}, [](const objects::DeclaredProject* each) {
        return std::tie(each->project.order, each->project.name);
    });
    std::map<std::string, int> known;  // and how deep
    const auto is_placed = [&](const objects::DeclaredProject* each) {
        const std::string& parent = each->project.parent;
        if (!parent.empty() && !known.contains(parent)) return false;
        const int depth = parent.empty() ? 1 : known.at(parent) + 1;
        const bool has_room =
            depth <= model::kProjectLevelsMax && sorted.sound.size() + 1 < model::kProjectsMax;
        if (!has_room) {
            sorted.problems[each->project.name] = "there are too many projects, or above it";
            return true;
        }
        model::Project project = each->project;
        std::erase_if(project.pools, [&](const auto& rights) {
            const bool is_there =
                rights.first == model::kDefaultPool || pools_.contains(rights.first);
            if (!is_there)
                sorted.problems[project.name] = "pool " + rights.first + " does not exist";
            return !is_there;
        });
        known[project.name] = depth;
        sorted.sound.push_back(std::move(project));
        return true;
    };
    while (std::erase_if(left, is_placed) > 0) {
    }
    for (const objects::DeclaredProject* each : left) {
        sorted.problems[each->project.name] =
            "its parent " + each->project.parent + " does not exist, or is below it";
    }
    return sorted;
}

}  // namespace berth::kube::scheduler
