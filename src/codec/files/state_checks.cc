// SPDX-License-Identifier: Apache-2.0
#include "codec/files/state_checks.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "model/job/companions.h"
#include "model/limits.h"

namespace berth::codec {
namespace {

using model::Description;
using model::JobDescription;
using model::Node;
using model::Project;
using model::TaskDescription;
using model::TaskState;

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// Everything that has a name, for looking it up and for guessing what was meant.
template <typename T>
class Names {
  public:
    void add(std::string_view name, const T* what) {
        if (found_.emplace(name, what).second) in_order_.push_back(name);
    }
    const T* find(std::string_view name) const {
        const auto found = found_.find(name);
        return found == found_.end() ? nullptr : found->second;
    }
    std::string unknown(std::string_view kind, std::string_view name) const {
        return "no " + std::string(kind) + " " + in_quotes(name) + did_you_mean(name, in_order_);
    }

  private:
    std::map<std::string_view, const T*> found_;
    std::vector<std::string_view> in_order_;
};

// What the listed tasks take of one node.
struct NodeUse {
    std::array<model::GpuPart, model::kGpusPerNodeMax> gpus{};
    model::GpuPart anywhere;
};

// What there is too much of, compute or memory.
std::string too_much(const model::GpuPart& used, const model::GpuPart& all) {
    if (used.compute > all.compute) return base::format(used.compute);
    return base::format(used.memory) + " of " + base::format(all.memory) + " of memory";
}

class Checker {
  public:
    Checker(const Description& state, const StatePlaces& places, Problems& problems)
        : state_(state), places_(places), problems_(problems) {}

    void run() {
        for (const model::Pool& pool : state_.pools) pools_.add(pool.name, &pool);
        for (const Node& node : state_.nodes) nodes_.add(node.name, &node);
        for (const Project& project : state_.projects) projects_.add(project.name, &project);
        check_projects();
        std::set<std::pair<std::string_view, std::string_view>> seen;
        for (std::size_t i = 0; i < state_.jobs.size(); ++i) {
            const model::JobSpec& spec = state_.jobs[i].spec;
            if (!seen.emplace(spec.project, spec.name).second) {
                report(places_.jobs[i], "name",
                       "project " + in_quotes(spec.project) + " has another job " +
                           in_quotes(spec.name));
            }
            check_job(i);
        }
    }

  private:
    void report(const Place& place, std::string_view field, std::string_view message) {
        problems_.report(place.line, place.path + "." + std::string(field), message);
    }

    void check_projects() {
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i < state_.projects.size(); ++i) {
            const Project& project = state_.projects[i];
            const Place& place = places_.projects[i];
            if (!seen.insert(project.name).second) {
                report(place, "name", "another project is named " + in_quotes(project.name));
            }
            check_ancestors(project, place);
            for (const auto& [pool, rights] : project.pools) check_pool(pool, place, "pools");
            if (!project.parent.empty()) inner_.insert(project.parent);
        }
    }

    void check_ancestors(const Project& project, const Place& place) {
        std::set<std::string_view> met{project.name};
        const Project* at = &project;
        while (!at->parent.empty()) {
            const Project* parent = projects_.find(at->parent);
            if (parent == nullptr) {
                if (at == &project) {
                    report(place, "parent", projects_.unknown("project", project.parent));
                }
                return;
            }
            if (!met.insert(parent->name).second) {
                return report(place, "parent",
                              "project " + in_quotes(parent->name) + " is below itself");
            }
            if (met.size() > model::kProjectLevelsMax) {
                return report(place, "parent",
                              "wanted at most " + std::to_string(model::kProjectLevelsMax) +
                                  " projects above each other");
            }
            at = parent;
        }
    }

    void check_pool(const std::string& pool, const Place& place, std::string_view field) {
        if (pool == model::kDefaultPool || pools_.find(pool) != nullptr) return;
        report(place, field, pools_.unknown("pool", pool));
    }

    void check_job(std::size_t index) {
        const JobDescription& job = state_.jobs[index];
        const Place& place = places_.jobs[index];
        if (projects_.find(job.spec.project) == nullptr) {
            report(place, "project", projects_.unknown("project", job.spec.project));
        } else if (inner_.contains(job.spec.project)) {
            report(
                place, "project",
                "wanted a project without projects below it, found " + in_quotes(job.spec.project));
        }
        for (const std::string& pool : job.spec.pools) check_pool(pool, place, "pools");
        check_topology(job.spec.topology, place);
        check_frozen(job, place);
        const std::size_t left = model::places_before_promise(job);
        for (std::size_t i = 0; i < job.tasks.size(); ++i) {
            if (job.tasks[i].state == TaskState::Pending) continue;
            const auto rank = static_cast<int>(i < left ? i : i - left);
            const model::TaskRequest& request = model::request_of(job.spec, rank);
            check_task(request, job.tasks[i], places_.tasks[index][i]);
        }
    }

    // The processes of a frozen job are all there, on one node.
    void check_frozen(const JobDescription& job, const Place& place) {
        const auto frozen =
            std::ranges::find(job.tasks, TaskState::Frozen, &TaskDescription::state);
        if (frozen == job.tasks.end()) return;
        for (const TaskDescription& task : job.tasks) {
            const bool runs =
                task.state == TaskState::Running || task.state == TaskState::Releasing;
            if (runs)
                return report(place, "tasks", "wanted all frozen or none, found running ones too");
            if (task.state != TaskState::Frozen || task.node == frozen->node) continue;
            return report(place, "tasks",
                          "wanted frozen ones on one node, found " + in_quotes(task.node) + " too");
        }
    }

    void check_topology(const model::TopologyRequest& topology, const Place& place) {
        std::vector<std::string_view> levels(state_.levels.begin(), state_.levels.end());
        levels.push_back(model::kNodeLevel);
        const auto position = [&](const std::string& level) {
            return std::ranges::find(levels, level) - levels.begin();
        };
        for (const std::string& level : {topology.required, topology.preferred}) {
            if (level.empty() || position(level) < std::ssize(levels)) continue;
            return report(place, "topology",
                          "no level " + in_quotes(level) + did_you_mean(level, levels));
        }
        for (const model::TaskGroup& group : topology.groups) {
            if (group.level.empty()) continue;
            if (position(group.level) == std::ssize(levels)) {
                return report(
                    place, "groups",
                    "no level " + in_quotes(group.level) + did_you_mean(group.level, levels));
            }
            const bool is_inside =
                topology.required.empty() || position(group.level) >= position(topology.required);
            if (is_inside) continue;
            return report(place, "groups",
                          "wanted a level inside " + in_quotes(topology.required) + ", found " +
                              in_quotes(group.level));
        }
        const bool is_outside = !topology.preferred.empty() && !topology.required.empty() &&
                                position(topology.preferred) < position(topology.required);
        if (!is_outside) return;
        report(place, "topology",
               "wanted a preferred level inside " + in_quotes(topology.required) + ", found " +
                   in_quotes(topology.preferred));
    }

    void check_task(const model::TaskRequest& request, const TaskDescription& task,
                    const Place& place) {
        const auto named = std::ssize(task.gpu_indices);
        if (named > 0 && named != request.gpus) {
            return report(place, "gpus",
                          "wanted as many as the task asks for (" + std::to_string(request.gpus) +
                              "), found " + std::to_string(named));
        }
        const Node* node = nodes_.find(task.node);
        if (node == nullptr) return report(place, "node", nodes_.unknown("node", task.node));
        const std::string on_node = "node " + in_quotes(node->name) + " has ";
        const std::string count = std::to_string(node->gpus) + " GPUs";
        const auto part = model::part_of(request, *node);
        const bool is_too_small = request.gpus > 0 && !part;
        if (request.gpus > node->gpus || is_too_small) {
            return report(place, "node",
                          on_node + count + (is_too_small ? " with less memory" : "") +
                              ", too small for a task of this job");
        }
        const model::GpuPart whole{base::kWholeGpu, model::memory_left_by_driver(*node)};
        const model::GpuPart each = part.value_or(whole);
        // Promised GPUs are still in use by those who leave them, those of frozen tasks by anybody.
        if (task.state == TaskState::Promised || task.state == TaskState::Frozen) return;
        NodeUse& use = uses_[node];
        for (const int index : task.gpu_indices) {
            if (index >= node->gpus) {
                return report(place, "gpus",
                              on_node + count + ", found index " + std::to_string(index));
            }
            model::GpuPart& used = use.gpus[static_cast<std::size_t>(index)];
            used = used + each;
            if (!used.fits_in(whole)) {
                return report(place, "gpus",
                              "GPU " + std::to_string(index) + " of node " + in_quotes(node->name) +
                                  " is given away more than once: " + too_much(used, whole) +
                                  " in use");
            }
        }
        if (task.gpu_indices.empty()) use.anywhere = use.anywhere + each * request.gpus;
        const model::GpuPart total =
            std::accumulate(use.gpus.begin(), use.gpus.end(), use.anywhere);
        const model::GpuPart all = whole * node->gpus;
        if (!total.fits_in(all)) {
            report(place, "node",
                   on_node + count + ", the tasks listed on it use " + too_much(total, all));
        }
    }

    const Description& state_;
    const StatePlaces& places_;
    Problems& problems_;
    Names<model::Pool> pools_;
    Names<Node> nodes_;
    Names<Project> projects_;
    std::set<std::string_view> inner_;  // projects with others below them
    std::map<const Node*, NodeUse> uses_;
};

}  // namespace

void check_state(const Description& state, const StatePlaces& places, Problems& problems) {
    Checker(state, places, problems).run();
}

}  // namespace berth::codec
