// SPDX-License-Identifier: Apache-2.0
#include "kube_scheduler/world.h"

#include <algorithm>
#include <chrono>

#include "codec/words/timestamp.h"

namespace berth::tests::kube_scheduler {

void World::set(const std::string& resource, const std::string& name,
                const std::string& content_json) {
    Object now;
    now.resource = resource;
    now.name = name;
    const Held before = server.store.find(resource, now.key());
    if (before) now = *before;
    now.content_json = content_json;
    before ? server.store.change(now) : server.store.create(now);
}

void World::set_node(const std::string& name, int gpus, const std::string& more) {
    const std::string offered =
        gpus == 0 ? "" : R"(,"nvidia.com/gpu":")" + std::to_string(gpus) + "\"";
    set("nodes", name,
        R"("spec":{},"status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110")" + offered +
            more + R"(},"conditions":[{"type":"Ready","status":"True"}]})");
}

void World::set_project(const std::string& name, std::int64_t quota, const std::string& more) {
    set("projects", name,
        R"("spec":{"quota":)" + std::to_string(quota) + R"(,"namespaces":[")" + name + R"("])" +
            more + "}");
}

void World::set_budget(const std::string& name_space, const std::string& app) {
    Object budget;
    budget.resource = "poddisruptionbudgets";
    budget.name_space = name_space;
    budget.name = app;
    budget.created = codec::format_time(std::chrono::floor<std::chrono::seconds>(time.now()));
    budget.content_json = R"("spec":{"maxUnavailable":1,"selector":{"matchLabels":{"app":")" + app +
                          R"("}}},"status":{"disruptionsAllowed":1})";
    server.store.create(budget);
}

void World::remove(const std::string& resource, const std::string& key) {
    if (const Held found = server.store.find(resource, key)) server.store.remove(found);
}

std::vector<World::Held> World::pods_of(const Object& job) {
    std::vector<Held> pods;
    for (const auto& [key, pod] : server.store.all("pods")) {
        if (pod->owner == job.uid) pods.push_back(pod);
    }
    return pods;
}

int World::pods_wanted(const Object& job) {
    if (job.completions == 0) return job.succeeded > 0 ? 0 : job.parallelism;
    return std::min(job.parallelism, job.completions - job.succeeded);
}

void World::succeed(const Held& pod) {
    for (const auto& [key, job] : all("jobs")) {
        if (job->uid != pod->owner) continue;
        Object now = *job;
        ++now.succeeded;
        if (now.succeeded == now.completions) now.end = "Complete";
        server.store.change(now);
    }
    server.store.remove(pod);
}

std::map<std::string, int> World::used() {
    std::map<std::string, int> used;
    for (const auto& [key, pod] : server.store.all("pods")) {
        if (!pod->node.empty()) used[pod->node] += pod->gpus;
    }
    return used;
}

void World::control_jobs() {
    std::set<std::string> owners;
    for (const auto& [key, job] : all("jobs")) {
        owners.insert(job->uid);
        const auto pods = pods_of(*job);
        if (!job->end.empty()) continue;
        // Without a number of completions one pod that has succeeded is enough.
        const bool has_its_last_pods = job->completions == 0 && job->succeeded > 0;
        if (has_its_last_pods && (pods.empty() || job->is_suspended)) {
            Object now = *job;
            now.end = "Complete";
            server.store.change(now);
        }
        if (job->is_suspended) {
            for (const Held& pod : pods) server.store.remove(pod);
            suspensions += suspended_.insert(job->uid).second;
            continue;
        }
        resumptions += suspended_.erase(job->uid);
        if (has_its_last_pods) continue;
        // Those without a node first.
        auto surplus = std::ssize(pods) - pods_wanted(*job);
        for (const bool is_bound : {false, true}) {
            for (const Held& pod : pods) {
                const bool goes = surplus > 0 && !pod->node.empty() == is_bound;
                if (goes && surplus-- > 0) server.store.remove(pod);
            }
        }
        for (int made = 0; made < 3 && std::ssize(pods) + made < pods_wanted(*job); ++made) {
            Object pod;
            pod.resource = "pods";
            pod.name_space = job->name_space;
            pod.name = next_name(job->name);
            pod.gpus = job->gpus;
            pod.owner = job->uid;
            pod.app = job->app;
            server.store.create(pod);
        }
    }
    for (const auto& [key, pod] : all("pods")) {
        if (!pod->owner.empty() && !owners.contains(pod->owner)) server.store.remove(pod);
    }
}

}  // namespace berth::tests::kube_scheduler
