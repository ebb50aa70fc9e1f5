// SPDX-License-Identifier: Apache-2.0
#include "contested_script.h"

#include <algorithm>
#include <vector>

#include "random_words.h"
#include "scenario/render.h"

namespace berth::proof {
namespace {

using base::Rng;

constexpr std::int64_t kWaitingMax = 6;
constexpr int kPriorityMax = 99;  // of jobs that can be paused

std::string policy_line(Rng& rng) {
    return "policy profile=" + pick(rng, {"berth", "classic"}) +
           maybe(rng, "min_run", {"0", "0", "", "1m"}) +
           maybe(rng, "min_run_restarts", {"", "", "0"}) +
           maybe(rng, "min_run_binds_all", {"", "", "yes", "no"}) +
           maybe(rng, "waste_budget", {"none", "none", "none", "", "0.001"}) +
           maybe(rng, "order", {"", "", "levels", "age"}) +
           maybe(rng, "moves", {"", "", "0", "1"}) + maybe(rng, "priced_moves", {"", "", "no"}) +
           maybe(rng, "gang_reclaim", {"", "", "yes", "no"}) +
           maybe(rng, "backfill_reservations", {"", "", "0", "1"}) +
           maybe(rng, "cheapest_victims", {"", "", "", "yes", "no"}) +
           maybe(rng, "scale_overcommitted", {"", "", "yes", "no"});
}

// Of CPU and memory, in some of the lives.
std::string host_quotas(Rng& rng, const Setting& setting) {
    if (!setting.has_host_quotas) return "";
    return maybe(rng, "cpu_quota", {"", "", "0", "4", "6", "12"}) +
           maybe(rng, "memory_quota", {"", "", "", "0", "8G", "16G"});
}

// Leaves, of which some stand in two departments. What they are promised is about what is there.
void add_projects(Rng& rng, int gpus, Setting& setting) {
    const std::int64_t leaves = rng.between(2, 4);
    const bool has_departments = rng.chance(1, 3);
    if (has_departments) {
        for (const char* name : {"d0", "d1"}) {
            setting.shuffled.push_back(
                std::string("project ") + name + " order=" + (name[1] == '0' ? "1" : "2") +
                maybe(rng, "quota", {"", "", std::to_string(gpus / 2).c_str()}) +
                maybe(rng, "limit", {"", "", "", std::to_string(gpus).c_str()}) +
                host_quotas(rng, setting));
        }
    }
    for (int leaf = 0; leaf < leaves; ++leaf) {
        const std::string name = "p" + std::to_string(leaf);
        const int quota = static_cast<int>(rng.between(0, 2 * gpus / leaves));
        setting.projects.push_back(name);
        setting.shuffled.push_back(
            "project " + name + (has_departments ? maybe(rng, "parent", {"d0", "d1", ""}) : "") +
            " order=" + std::to_string(leaf + 3) + " quota=" + std::to_string(quota) +
            maybe(rng, "weight", {"", "", "", "0", "2"}) +
            maybe(rng, "priority", {"", "", "", "", "200"}) +
            maybe(rng, "preemption_delay", {"", "", "", "", "0", "2m"}) +
            maybe(rng, "preempt_min_run", {"", "", "", "", "0", "5m"}) +
            maybe(rng, "reclaim_min_run", {"", "", "", "", "0", "5m"}) + host_quotas(rng, setting));
    }
}

// Tasks of one or two GPUs or a half, no more than `gpus` together where there are that many.
std::string size(Rng& rng, const Setting& setting, std::int64_t gpus) {
    const std::int64_t most = std::clamp<std::int64_t>(gpus, 1, 4);
    const char* const larger = setting.contested > 1 ? "2" : "";
    const std::string each = maybe(rng, "gpus", {"", "", "", larger, "0.5", "0.5"});
    const std::int64_t tasks = each == " gpus=2" ? std::max<std::int64_t>(most / 2, 1) : most;
    const std::string all = std::to_string(tasks);
    switch (rng.between(0, 7)) {
        case 0:
        case 1: return each + " tasks=" + all;
        case 2:
        case 3: return each + " min=1 max=" + std::to_string(tasks + rng.between(0, 2));
        case 4: return each + " min=" + all + " max=" + std::to_string(tasks + rng.between(1, 3));
        case 5:
            return each + (tasks < 2 ? ""
                                     : " groups=" + pick(rng, {"2x1@node", "1@node,1@node",
                                                               "2@rack", "a:1..2@node,b:1"}));
        default: return each;
    }
}

// Of work without GPUs, in sizes that compete; some of it cannot be paused.
std::string host_asks(Rng& rng, bool is_on_cpus) {
    if (!is_on_cpus) {
        return maybe(rng, "cpu", {"", "", "2", "4"}) + maybe(rng, "memory", {"", "", "4G"});
    }
    return " cpu=" + pick(rng, {"2", "4", "6"}) + maybe(rng, "memory", {"", "", "4G", "8G"}) +
           maybe(rng, "preemptible", {"", "", "", "", "no"}) +
           pick(rng, {"", "", " tasks=2", " min=1 max=3"});
}

std::string job_line(Rng& rng, const Setting& setting, const std::string& project,
                     std::int64_t gpus, int& jobs_made) {
    const bool is_on_cpus = rng.chance(1, setting.has_host_quotas ? 3 : 8);
    std::string line = "submit " + project + "/j" + std::to_string(++jobs_made) +
                       (is_on_cpus ? " gpus=0" : size(rng, setting, gpus)) +
                       (setting.has_host_quotas
                            ? host_asks(rng, is_on_cpus)
                            : maybe(rng, "cpu", {"", "", "", "", is_on_cpus ? "6" : "2", "4"})) +
                       maybe(rng, "restart_cost", {"", "", "1m", "3m"}) +
                       maybe(rng, "expected", {"", "", "10m", "2h"}) +
                       maybe(rng, "min_run", {"", "", "", "", "", "0", "10m"}) +
                       maybe(rng, "preemption_delay", {"", "", "", "", "", "", "0", "2m"});
    const bool is_in_groups = line.find(" groups=") != std::string::npos;
    if (is_in_groups) return line + maybe(rng, "elastic", {"", "", "restart"});
    return line + maybe(rng, "elastic", {"", "", "", "restart", "grow"}) +
           pick(rng, {"", "", "", "", "", " required=rack", " required=node", " preferred=rack"});
}

// What is asked and held.
struct Census {
    std::map<std::string, std::int64_t> wanted;  // by project, thousandths of a GPU
    std::vector<const model::JobRecord*> running;
    std::vector<model::JobId> leaving;
    std::int64_t waiting = 0;
};

std::string project_of(const lifecycle::State& state, model::JobId job) {
    const std::string name = scenario::name_of(state, job);
    return name.substr(0, name.find('/'));
}

Census standing(const lifecycle::State& state) {
    Census found;
    for (const auto& [id, record] : state.jobs) {
        std::int64_t& wanted = found.wanted[project_of(state, id)];
        for (const auto& task : record.tasks) wanted += task.gpus().value;
        if (record.state == model::JobState::Running) found.running.push_back(&record);
        if (!record.releasing.empty()) found.leaving.push_back(id);
        if (!record.tasks.empty()) continue;
        ++found.waiting;
        wanted += 1000 * record.spec.tasks_min;
    }
    return found;
}

// A job that its project's quota has room for.
std::string owner(Rng& rng, const Setting& setting, std::span<const std::string> projects,
                  const lifecycle::State& state, Census& now, int& jobs_made) {
    std::vector<std::string> owed;
    const auto left = [&](const std::string& project) {
        const auto id = state.cluster.find_project(project);
        const auto quota = state.cluster.projects()[id.index()].project.rights.quota;
        return quota ? (quota->value - now.wanted[project]) / 1000 : 0;
    };
    std::ranges::copy_if(projects, std::back_inserter(owed),
                         [&](const std::string& project) { return left(project) > 0; });
    if (owed.empty()) return "";
    const std::string& project = owed[rng.index(owed.size())];
    return job_line(rng, setting, project, left(project), jobs_made);
}

// A job that goes before one of its project that runs.
std::string better_one(Rng& rng, const Setting& setting, const lifecycle::State& state,
                       const Census& now, int& jobs_made) {
    if (now.running.empty()) return "";
    const model::JobRecord& record = *now.running[rng.index(now.running.size())];
    if (record.spec.priority >= kPriorityMax) return "";
    const auto priority = rng.between(record.spec.priority + 1, kPriorityMax);
    const std::string project = project_of(state, record.id);
    return job_line(rng, setting, project, std::ssize(record.tasks), jobs_made) +
           " priority=" + std::to_string(priority);
}

}  // namespace

Setting contested_setting(Rng& rng) {
    Setting setting;
    const int gpus = std::stoi(pick(rng, {"1", "2", "2", "4", "4", "8"}));
    setting.contested = gpus;
    setting.like_all = " gpus=" + std::to_string(gpus);
    const bool counts_cpu = rng.chance(1, 2);
    setting.has_host_quotas = counts_cpu && gpus == 2;
    if (counts_cpu) setting.like_all += " cpu=" + std::to_string(4 * gpus);
    if (setting.has_host_quotas) setting.like_all += maybe(rng, "memory", {"", "32G"});
    const std::int64_t nodes = rng.between(1, gpus > 2 ? 2 : 4);
    setting.fixed.push_back(policy_line(rng));
    for (int node = 0; node < nodes; ++node) {
        setting.nodes.push_back("n" + std::to_string(node));
        setting.shuffled.push_back("node " + setting.nodes.back() + setting.like_all +
                                   " topology.rack=" + pick(rng, {"r1", "r2"}));
    }
    const int all = gpus * static_cast<int>(nodes);
    add_projects(rng, all, setting);
    int made = 0;
    for (std::int64_t jobs = rng.between(all / 2 + 1, all + 1); jobs > 0; --jobs) {
        const std::string& project = setting.projects[rng.index(setting.projects.size())];
        setting.shuffled.push_back(job_line(rng, setting, project, rng.between(1, 2), made) +
                                   " age=" + std::to_string(3600 + 10 * rng.between(0, 20)) + "s");
    }
    return setting;
}

Setting any_setting(Rng& rng) {
    return rng.chance(1, 2) ? contested_setting(rng) : random_setting(rng);
}

std::optional<std::string> contested_event(Rng& rng, const Setting& setting,
                                           std::span<const std::string> projects,
                                           const lifecycle::State& state, Course& course) {
    if (course.has_arrivals && rng.chance(3, 4)) return "decide";
    Census now = standing(state);
    if (!now.leaving.empty() && rng.chance(1, 3)) {
        return "left " + scenario::name_of(state, now.leaving[rng.index(now.leaving.size())]);
    }
    const std::string& node = setting.nodes[rng.index(setting.nodes.size())];
    if (!state.cluster.nodes()[state.cluster.find_node(node).index()].is_ready) {
        return "ready " + node;
    }
    if (rng.chance(1, 12)) return "advance " + pick(rng, {"10s", "1m", "3m", "20m"});
    if (rng.chance(1, 6) || now.waiting > kWaitingMax) return std::nullopt;
    std::string line;
    if (rng.chance(1, 2)) line = owner(rng, setting, projects, state, now, course.jobs_made);
    if (line.empty() && rng.chance(3, 4))
        line = better_one(rng, setting, state, now, course.jobs_made);
    if (!line.empty()) return line;
    const std::string& borrower = projects[rng.index(projects.size())];
    return job_line(rng, setting, borrower, rng.between(1, 4), course.jobs_made);
}

}  // namespace berth::proof
