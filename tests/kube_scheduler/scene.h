// SPDX-License-Identifier: Apache-2.0
//
// A scene: a small cluster whose Jobs are controlled, and one process that schedules; a test says
// what happens and when.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "kube_scheduler/world.h"

namespace berth::tests::kube_scheduler {

using kube_api::Held;
using kube_api::Object;
using std::chrono::seconds;

class Scene : public World {
  public:
    Scene() : World(1) {
        start();
        pass(2);
    }

    void start() { process = std::make_unique<Process>(server, time, ++seed_); }
    // The leader is killed, and another one leads once its Lease has run out.
    void fail_over() {
        process.reset();
        start();
        pass(20);
    }

    void pass(int span) {
        for (; span > 0; --span) {
            if (are_jobs_controlled) control_jobs();
            time.run(seconds(1));
        }
    }

    Held add(const std::string& resource, const std::string& name_space, const std::string& name,
             int gpus, int pods = 1) {
        Object made;
        made.resource = resource;
        made.name_space = name_space;
        made.name = name;
        made.gpus = gpus;
        made.parallelism = pods;
        return server.store.create(made);
    }
    Held add_job(const std::string& name_space, const std::string& name, int pods, int gpus) {
        return add("jobs", name_space, name, gpus, pods);
    }
    Held add_pod(const std::string& name_space, const std::string& name, int gpus) {
        return add("pods", name_space, name, gpus);
    }
    void add_pod_of_group(const std::string& name_space, const std::string& name, int gpus,
                          const std::string& group, int size) {
        Object pod;
        pod.resource = "pods";
        pod.name_space = name_space;
        pod.name = name;
        pod.gpus = gpus;
        pod.annotations = {{"kueue.x-k8s.io/pod-group-name", group},
                           {"kueue.x-k8s.io/pod-group-total-count", std::to_string(size)}};
        server.store.create(pod);
    }
    // As its controller does before one of its pods is gone.
    void add_pod_of(const std::string& job_key) {
        Object pod;
        pod.resource = "pods";
        pod.name_space = job(job_key)->name_space;
        pod.name = next_name(job(job_key)->name);
        pod.gpus = job(job_key)->gpus;
        pod.owner = job(job_key)->uid;
        server.store.create(pod);
    }
    // Its controller makes all of them, and then none does anything.
    void make_pods_once(const std::string& job_key) {
        are_jobs_controlled = false;
        for (int made = 0; made < job(job_key)->parallelism; ++made) add_pod_of(job_key);
    }
    void set_parallelism(const std::string& key, int pods) {
        Object now = *job(key);
        now.parallelism = pods;
        server.store.change(now);
    }
    // Of a Job that is made of as many as run at once.
    void succeed_one_of(const std::string& key) {
        Object now = *job(key);
        now.completions = now.parallelism;
        if (job(key)->completions == 0) server.store.change(now);
        succeed(pods_of(*job(key)).front());
    }
    void set_suspended(const std::string& key, bool is_suspended) {
        Object now = *job(key);
        now.is_suspended = is_suspended;
        server.store.change(now);
    }

    Held job(const std::string& key) const { return server.store.find("jobs", key); }
    Held pod(const std::string& key) const { return server.store.find("pods", key); }
    int bound(const std::string& job_key) {
        int count = 0;
        for (const Held& each : pods_of(*job(job_key))) count += !each->node.empty();
        return count;
    }
    const cluster::Cluster& core() const {
        return process->replica.scheduler()->controller()->state().cluster;
    }
    const auto& jobs_of_the_core() const {
        return process->replica.scheduler()->controller()->state().jobs;
    }
    // What the first of its pods that wait says.
    std::string waits_with(const std::string& job_key) {
        for (const Held& each : pods_of(*job(job_key))) {
            if (each->node.empty() && !each->reason.empty()) return each->message;
        }
        return "";
    }
    std::string parent_of(const std::string& project) const {
        const auto& known = core().projects()[core().find_project(project).index()];
        return known.project.parent;
    }

    std::unique_ptr<Process> process;
    bool are_jobs_controlled = true;

  private:
    std::uint64_t seed_ = 0;
};

}  // namespace berth::tests::kube_scheduler
