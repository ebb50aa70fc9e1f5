// SPDX-License-Identifier: Apache-2.0
//
// A small cluster in memory, in virtual time: an API server, nodes, projects, a Job controller, and
// processes that schedule.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "doubles/kube_api/server.h"
#include "doubles/virtual_time.h"
#include "kube/scheduler/replica.h"

namespace berth::tests::kube_scheduler {

inline constexpr int kNodeGpus = 8;

// A process that schedules, or waits to.
struct Process {
    Process(kube_api::Server& server, VirtualTime& time, std::uint64_t seed)
        : credentials(access, nullptr, time),
          requests(access, server, credentials, time),
          replica(requests, time, time, {.identity = std::to_string(seed)},
                  {.name = "berth", .seed = seed}) {
        replica.start();
    }

    kube::client::Access access{.host = "kube"};
    kube::client::Credentials credentials;
    kube::client::Requests requests;
    kube::scheduler::Replica replica;
};

class World {
  public:
    using Held = kube_api::Held;
    using Object = kube_api::Object;

    explicit World(std::uint64_t seed) : server(time, seed) {}

    VirtualTime time;
    kube_api::Server server;

    // Makes it, or changes it.
    void set_node(const std::string& name, int gpus = kNodeGpus, const std::string& more = "");
    // `more`: further fields of its spec, as ,"parent":"p". It has the namespace of its name.
    void set_project(const std::string& name, std::int64_t quota, const std::string& more = "");
    // A PodDisruptionBudget of pods with this label app.
    void set_budget(const std::string& name_space, const std::string& app);
    void set(const std::string& resource, const std::string& name, const std::string& content_json);
    void remove(const std::string& resource, const std::string& key);

    // What the Job controller does in a moment, some pods at once.
    void control_jobs();

    std::map<std::string, Held> all(const std::string& resource) {
        return server.store.all(resource);
    }
    std::vector<Held> pods_of(const Object& job);
    // By a Job at once, from now on.
    static int pods_wanted(const Object& job);
    // It is not among the pods that are listed and watched any more.
    void succeed(const Held& pod);
    // GPUs of each node.
    std::map<std::string, int> used();

    std::uint64_t suspensions = 0;  // of Jobs
    std::uint64_t resumptions = 0;

  protected:
    std::string next_name(const std::string& of) { return of + "-" + std::to_string(++made_); }

  private:
    std::set<std::string> suspended_;
    int made_ = 0;
};

}  // namespace berth::tests::kube_scheduler
