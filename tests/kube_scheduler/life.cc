// SPDX-License-Identifier: Apache-2.0
#include "kube_scheduler/life.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "doubles/kube_api/server.h"
#include "doubles/virtual_time.h"
#include "kube/scheduler/replica.h"

namespace berth::tests::kube_scheduler {
namespace {

using kube_api::Event;
using kube_api::Held;
using kube_api::Object;
using std::chrono::seconds;

constexpr int kNodeGpus = 8;
// Another one decides so long after a leader was killed, at most: the Lease runs out, somebody
// notices, and all is listed.
constexpr base::Duration kFailoverMost = seconds(16);
// A gang may be partly bound for kPartlyBoundMost, and what gives it back takes its time.
constexpr base::Duration kPartlyMost = seconds(7);

kube_api::Faults some_mistakes(base::Rng& dice) {
    kube_api::Faults faults;
    for (int* fault : {&faults.refused, &faults.lost_before, &faults.lost_after, &faults.cut,
                       &faults.stalled, &faults.too_many, &faults.conflicts, &faults.broken,
                       &faults.expired, &faults.watch_expired, &faults.watch_dropped,
                       &faults.watch_silent, &faults.watch_held, &faults.watch_short}) {
        if (dice.chance(1, 4)) *fault = static_cast<int>(dice.between(10, 150));
    }
    return faults;
}

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

class Life {
  public:
    Life(std::uint64_t seed, Met& met) : dice_(seed), server_(time_, dice_.next()), met_(met) {
        server_.latency_ms = dice_.between(0, 40);
        server_.piece_bytes = dice_.between(1, 4000);
        server_.page_most = static_cast<std::size_t>(dice_.between(3, 20));
        server_.store.on_event = [this, inner = server_.store.on_event](const Event& event) {
            if (inner) inner(event);
            if (event.object->resource == "pods" && event.type == "MODIFIED") look_at_kubelets();
        };
        for (auto nodes = dice_.between(1, 5); nodes > 0; --nodes) add_node();
        for (auto strangers = dice_.between(0, 3); strangers > 0; --strangers) add_stranger();
        add_project("ml", dice_.between(0, 2) * kNodeGpus);
        add_project("web", dice_.between(0, 2) * kNodeGpus);
    }

    std::vector<std::string> play() {
        for (auto& process : processes_) start(process);
        server_.faults = some_mistakes(dice_);
        for (auto second = dice_.between(30, 120); second > 0; --second) live_a_second();
        server_.faults = {};
        server_.is_down = false;
        std::uint64_t without = 0;
        for (int second = 0; second < 150; ++second) {
            control_jobs();
            look_at_processes();
            // One more failover, where nothing else goes wrong.
            if (second == 60) kill_leader();
            time_.run(seconds(1));
            if (second >= 60 && leader() == nullptr) ++without;
            if (second > 90) look_at_gangs();
        }
        if (seconds(without) > kFailoverMost)
            found("nobody led for " + std::to_string(without) + " s after a leader was killed");
        met_.seconds_without = std::max(met_.seconds_without, without);
        end_all();
        if (leader() == nullptr) {
            found("nobody decides in the end: " + processes_[0]->replica.trouble());
        } else {
            count(*leader());
        }
        return found_;
    }

  private:
    void add_node() {
        Object node;
        node.resource = "nodes";
        node.name = "n" + std::to_string(++nodes_);
        node.content_json =
            R"("spec":{},"status":{"allocatable":{"cpu":"64","memory":"512Gi","pods":"110",)"
            R"("nvidia.com/gpu":"8"},"conditions":[{"type":"Ready","status":"True"}]})";
        server_.store.create(node);
    }

    // A pod that another scheduler has put on some node.
    void add_stranger() {
        Object pod;
        pod.resource = "pods";
        pod.name_space = "kube-system";
        pod.name = "stranger-" + std::to_string(++made_);
        pod.scheduler = "default-scheduler";
        pod.node = "n" + std::to_string(dice_.between(1, nodes_));
        pod.gpus = static_cast<int>(dice_.between(0, kNodeGpus - used()[pod.node]));
        server_.store.create(pod);
    }

    void add_project(const std::string& name, std::int64_t quota) {
        Object project;
        project.resource = "projects";
        project.name = name;
        project.content_json =
            R"("spec":{"quota":)" + std::to_string(quota) + R"(,"namespaces":[")" + name + R"("]})";
        server_.store.create(project);
    }

    void start(std::unique_ptr<Process>& process) {
        process = std::make_unique<Process>(server_, time_, dice_.next());
    }

    // That has listed everything.
    const kube::scheduler::Scheduler* leader() {
        const kube::scheduler::Scheduler* found_one = nullptr;
        for (const auto& process : processes_) {
            const auto* scheduler = process ? process->replica.scheduler() : nullptr;
            if (scheduler == nullptr || !scheduler->is_deciding()) continue;
            if (found_one != nullptr) found("two schedulers lead");
            found_one = scheduler;
        }
        return found_one;
    }

    void count(const kube::scheduler::Scheduler& scheduler) {
        const auto& binds = scheduler.binds();
        met_.bound += binds.bound;
        met_.unknown += binds.unknown;
        met_.given_back += binds.given_back;
    }

    void kill_leader() {
        for (auto& process : processes_) {
            if (!process || process->replica.scheduler() == nullptr) continue;
            count(*process->replica.scheduler());
            process.reset();
            ++met_.killed;
            return;
        }
    }

    // Who has ended, or was killed, is started again.
    void look_at_processes() {
        for (auto& process : processes_) {
            if (process && process->replica.failure()) {
                if (process->replica.scheduler() != nullptr)
                    found("it failed: " + process->replica.failure()->message);
                process.reset();
                ++met_.ended;
            } else if (!process && dice_.chance(1, 3)) {
                start(process);
            }
        }
    }

    void live_a_second() {
        if (dice_.chance(1, 3)) submit();
        if (dice_.chance(1, 12)) end_one();
        if (dice_.chance(1, 20)) remove_one();
        if (dice_.chance(1, 40)) server_.is_down = !server_.is_down;
        if (server_.is_down && dice_.chance(1, 3)) server_.is_down = false;
        control_jobs();
        look_at_processes();
        // Wherever it is just then.
        if (dice_.chance(1, 20)) {
            for (auto steps = dice_.between(0, 40); steps > 0; --steps)
                time_.step(time_.now() + seconds(1));
            kill_leader();
        }
        time_.run(seconds(1));
        leader();
    }

    void submit() {
        Object made;
        made.name_space = dice_.chance(1, 2) ? "ml" : "web";
        made.gpus = static_cast<int>(dice_.chance(1, 2) ? 1 : dice_.between(1, kNodeGpus));
        made.name = "w" + std::to_string(++made_);
        made.resource = dice_.chance(1, 3) ? "pods" : "jobs";
        made.parallelism = static_cast<int>(dice_.between(1, 5));
        server_.store.create(made);
    }

    // All of its pods are bound, and end well.
    void end_one() {
        for (const auto& [key, job] : copy("jobs")) {
            const auto pods = pods_of(*job);
            const bool runs = !pods.empty() && std::ranges::all_of(pods, [](const Held& pod) {
                return !pod->node.empty();
            });
            if (!runs || !job->end.empty() || dice_.chance(1, 2)) continue;
            for (const Held& pod : pods) server_.store.remove(pod);
            Object now = *job;
            now.end = "Complete";
            server_.store.change(now);
            return;
        }
    }

    void remove_one() {
        const std::string resource = dice_.chance(1, 2) ? "jobs" : "pods";
        const auto all = copy(resource);
        if (all.empty()) return;
        const auto at = std::next(all.begin(), static_cast<long>(dice_.index(all.size())));
        server_.store.remove(at->second);
    }

    // What the Job controller does, some pods a second.
    void control_jobs() {
        std::set<std::string> owners;
        for (const auto& [key, job] : copy("jobs")) {
            owners.insert(job->uid);
            const auto pods = pods_of(*job);
            if (!job->end.empty()) continue;
            const bool was_suspended = suspended_.contains(job->uid);
            if (job->is_suspended) {
                for (const Held& pod : pods) server_.store.remove(pod);
                met_.suspended += suspended_.insert(job->uid).second;
                continue;
            }
            if (was_suspended) ++met_.resumed, suspended_.erase(job->uid);
            for (int made = 0; made < 3 && std::ssize(pods) + made < job->parallelism; ++made) {
                Object pod;
                pod.resource = "pods";
                pod.name_space = job->name_space;
                pod.name = job->name + "-" + std::to_string(++made_);
                pod.gpus = job->gpus;
                pod.owner = job->uid;
                server_.store.create(pod);
            }
        }
        for (const auto& [key, pod] : copy("pods")) {
            if (!pod->owner.empty() && !owners.contains(pod->owner)) server_.store.remove(pod);
        }
    }

    std::map<std::string, Held> copy(const std::string& resource) {
        return server_.store.all(resource);
    }

    std::vector<Held> pods_of(const Object& job) {
        std::vector<Held> pods;
        for (const auto& [key, pod] : server_.store.all("pods")) {
            if (pod->owner == job.uid) pods.push_back(pod);
        }
        return pods;
    }

    std::map<std::string, int> used() {
        std::map<std::string, int> used;
        for (const auto& [key, pod] : server_.store.all("pods")) {
            if (!pod->node.empty()) used[pod->node] += pod->gpus;
        }
        return used;
    }

    // A kubelet refuses a pod for which its node has no GPUs.
    void look_at_kubelets() {
        for (const auto& [node, gpus] : used()) {
            if (gpus > kNodeGpus)
                found(node + " was given " + std::to_string(gpus) + " GPUs, and has 8");
        }
    }

    void look_at_gangs() {
        for (const auto& [key, job] : copy("jobs")) {
            const auto pods = pods_of(*job);
            const auto bound =
                std::ranges::count_if(pods, [](const Held& pod) { return !pod->node.empty(); });
            const bool is_partly = bound > 0 && bound < job->parallelism && job->end.empty() &&
                                   !job->is_suspended && std::ssize(pods) == job->parallelism;
            if (!is_partly) {
                partly_.erase(job->uid);
                continue;
            }
            const auto since = partly_.try_emplace(job->uid, time_.now()).first->second;
            if (time_.now() - since > kPartlyMost)
                found("job " + job->name + " is partly bound: " + std::to_string(bound) + " of " +
                      std::to_string(job->parallelism));
        }
    }

    // Whoever runs ends, one after the other, so that all that can ever run has run: also those
    // that were suspended, by whoever led then.
    void end_all() {
        for (int second = 0; second < 400 && has_more(); ++second) {
            control_jobs();
            end_one();
            for (const auto& [key, pod] : copy("pods")) {
                const bool is_ours = pod->scheduler == "berth";
                if (is_ours && pod->owner.empty() && !pod->node.empty()) server_.store.remove(pod);
            }
            time_.run(seconds(1));
        }
        for (const auto& [key, job] : copy("jobs")) {
            if (job->end.empty() && can_run(*job))
                found("job " + job->name + " of " + std::to_string(job->parallelism) + " x " +
                      std::to_string(job->gpus) + " GPUs never ran to its end" +
                      (job->is_suspended ? ", and is suspended" : ""));
        }
    }

    bool has_more() {
        return std::ranges::any_of(server_.store.all("jobs"), [&](const auto& each) {
            return each.second->end.empty() && can_run(*each.second);
        });
    }

    bool can_run(const Object& job) {
        int places = 0;
        std::map<std::string, int> strangers;
        for (const auto& [key, pod] : server_.store.all("pods")) {
            if (pod->scheduler != "berth") strangers[pod->node] += pod->gpus;
        }
        for (int node = 1; node <= nodes_; ++node)
            places += (kNodeGpus - strangers["n" + std::to_string(node)]) / job.gpus;
        return job.parallelism <= places;
    }

    void found(const std::string& what) {
        if (found_.size() < 5) found_.push_back(what);
    }

    base::Rng dice_;
    VirtualTime time_;
    kube_api::Server server_;
    Met& met_;
    std::array<std::unique_ptr<Process>, 2> processes_;
    std::set<std::string> suspended_;
    std::map<std::string, base::TimePoint> partly_;
    std::vector<std::string> found_;
    int nodes_ = 0;
    int made_ = 0;
};

}  // namespace

std::vector<std::string> findings_of(std::uint64_t seed, Met& met) {
    return Life(seed, met).play();
}

}  // namespace berth::tests::kube_scheduler
