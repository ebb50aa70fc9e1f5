// SPDX-License-Identifier: Apache-2.0
#include "kube_scheduler/life.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "kube_scheduler/world.h"

namespace berth::tests::kube_scheduler {
namespace {

using kube_api::Event;
using kube_api::Held;
using kube_api::Object;
using std::chrono::seconds;

// The most time until another replica decides after a leader was killed: the Lease runs out, one
// notices, and all is listed.
constexpr base::Duration kFailoverMost = seconds(16);
// A gang may be partly bound for kPartlyBoundMost, and what gives it back takes its time.
constexpr base::Duration kPartlyMost = seconds(7);
// Where nothing else goes wrong, what is there is known and waiting pods have said why by then.
constexpr base::Duration kSettledMost = seconds(20);
// The leader knows of a budget by then, or places and pauses no gang.
constexpr base::Duration kBudgetKnownMost = seconds(35);
// Takes no pod of ours; another program binds some to it.
constexpr const char* kApart = "apart";

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

class Life : World {
  public:
    Life(std::uint64_t seed, Met& met) : World(seed), dice_(seed), met_(met) {
        server.latency_ms = dice_.between(0, 40);
        server.piece_bytes = dice_.between(1, 4000);
        server.page_most = static_cast<std::size_t>(dice_.between(3, 20));
        server.store.on_event = [this, inner = server.store.on_event](const Event& event) {
            if (inner) inner(event);
            if (event.object->resource == "pods" && event.type == "MODIFIED") look_at_kubelets();
            if (event.object->resource == "jobs" && event.type == "MODIFIED")
                look_at_pause(*event.object);
        };
        nodes_ = static_cast<int>(dice_.between(1, 5));
        for (int node = 1; node <= nodes_; ++node) set_node("n" + std::to_string(node));
        set("nodes", kApart,
            R"("spec":{"unschedulable":true},)"
            R"("status":{"conditions":[{"type":"Ready","status":"True"}],"allocatable":)"
            R"({"cpu":"64","memory":"512Gi","pods":"110","nvidia.com/gpu":"8"}})");
        for (auto strangers = dice_.between(0, 3); strangers > 0; --strangers) add_stranger();
        set_project("all", 2 * kNodeGpus);
        set_project("ml", dice_.between(0, 2) * kNodeGpus);
        set_project("web", dice_.between(0, 2) * kNodeGpus);
        for (const char* name_space : {"ml", "web"}) {
            if (dice_.chance(1, 2)) add_or_remove_budget(name_space);
        }
    }

    std::vector<std::string> play() {
        for (auto& process : processes_) start(process);
        server.faults = some_mistakes(dice_);
        for (auto second = dice_.between(30, 120); second > 0; --second) live_a_second();
        server.faults = {};
        server.is_down = false;
        stop_meddling();
        std::uint64_t without = 0;
        const bool is_killed = dice_.chance(1, 2);  // else what went wrong has to be mended
        for (int second = 0; second < 150; ++second) {
            control_jobs();
            look_at_processes();
            // One more failover, where nothing else goes wrong.
            if (second == 60 && is_killed) kill_leader();
            time.run(seconds(1));
            if (second >= 60 && leader() == nullptr) ++without;
            if (second > 90) look_at_gangs();
            if (second > 90) look_at_counts();
            if (second > 90) look_at_reasons();
        }
        if (seconds(without) > kFailoverMost)
            found("no replica led for " + std::to_string(without) + " s after a leader was killed");
        met_.seconds_without = std::max(met_.seconds_without, without);
        count_guarded();
        while (!budgets_.empty()) remove_budget(budgets_.begin()->first);
        end_all();
        met_.suspended += suspensions;
        met_.resumed += resumptions;
        if (leader() == nullptr) {
            found("no replica decides in the end: " + processes_[0]->replica.trouble());
        } else {
            count(*leader());
        }
        return found_;
    }

  private:
    // A pod that another scheduler has put on some node.
    void add_stranger() {
        Object pod;
        pod.resource = "pods";
        pod.name_space = "kube-system";
        pod.name = next_name("stranger");
        pod.scheduler = "default-scheduler";
        pod.node = "n" + std::to_string(dice_.between(1, nodes_));
        pod.gpus = static_cast<int>(dice_.between(0, kNodeGpus - used()[pod.node]));
        server.store.create(pod);
    }

    void start(std::unique_ptr<Process>& process) {
        process = std::make_unique<Process>(server, time, dice_.next());
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
        if (dice_.chance(1, 8)) succeed_one();
        if (dice_.chance(1, 20)) scale_one();
        if (dice_.chance(1, 20)) remove_one();
        if (dice_.chance(1, 20)) meddle();
        if (dice_.chance(1, 10)) meddle_with_a_pod();
        if (dice_.chance(1, 40)) server.is_down = !server.is_down;
        if (server.is_down && dice_.chance(1, 3)) server.is_down = false;
        control_jobs();
        look_at_processes();
        // Wherever it is just then.
        if (dice_.chance(1, 20)) {
            for (auto steps = dice_.between(0, 40); steps > 0; --steps)
                time.step(time.now() + seconds(1));
            kill_leader();
        }
        time.run(seconds(1));
        look_at_suspended();
        leader();
    }

    // What people change while all goes on.
    void meddle() {
        const std::string project = dice_.chance(1, 2) ? "ml" : "web";
        switch (dice_.index(5)) {
            case 0:
                requoted_[project] = time.now();
                return set_project(project, dice_.between(0, 2) * kNodeGpus,
                                   dice_.chance(1, 2) ? R"(,"parent":"all")" : "");
            case 1:  // of all nodes
                return set("pools", "apart", R"("spec":{"nodeSelector":{"app":"train"}})");
            case 2: return remove("pools", "/apart");
            case 3: return suspend_or_resume();
            case 4: return add_or_remove_budget(project);
        }
    }

    // Of the pods of one namespace that serve.
    void add_or_remove_budget(const std::string& name_space) {
        if (budgets_.contains(name_space)) return remove_budget(name_space);
        set_budget(name_space, "serve");
        budgets_[name_space] = time.now();
    }

    void remove_budget(const std::string& name_space) {
        remove("poddisruptionbudgets", name_space + "/serve");
        budgets_.erase(name_space);
    }

    // Whether a budget selects its pods that was known before it came, as its project's quota was.
    bool is_guarded(const Object& job) const {
        const auto budget = budgets_.find(job.name_space);
        const auto quota = requoted_.find(job.name_space);
        return job.app == "serve" && budget != budgets_.end() &&
               budget->second + kBudgetKnownMost < came_.at(job.uid) &&
               (quota == requoted_.end() || quota->second < came_.at(job.uid));
    }

    // No GPUs are taken back for a gang that cannot start whole.
    void look_at_pause(const Object& now) {
        const Held before = server.store.find("jobs", now.key());
        if (before->is_suspended || !now.is_suspended || users_.contains(now.uid)) return;
        const std::string& receipt = now.annotations.at("berth.dev/last-pause");
        const bool is_for_another = receipt.find(R"("for":"")") == std::string::npos;
        if (is_for_another && is_guarded(now))
            found("job " + now.name + " was paused, and a disruption budget selects its pods");
    }

    void count_guarded() {
        for (const auto& [key, job] : all("jobs")) {
            const auto pods = pods_of(*job);
            const auto runs = [](const Held& pod) { return !pod->node.empty(); };
            met_.guarded += is_guarded(*job) && !pods.empty() && std::ranges::all_of(pods, runs);
        }
    }

    // One is changed, bound by another program, or deleted and perhaps made again.
    void meddle_with_a_pod() {
        const auto pods = all("pods");
        if (pods.empty()) return;
        const auto at = std::next(pods.begin(), static_cast<long>(dice_.index(pods.size())));
        const Held& pod = at->second;
        if (pod->scheduler != "berth") return;
        Object now = *pod;
        switch (dice_.index(3)) {
            case 0: ++now.content; break;
            case 1:
                if (!now.node.empty() || used()[kApart] + now.gpus > kNodeGpus) return;
                now.node = kApart;
                came_[now.owner] = {};  // its project's quota was not asked for it
                ++met_.bound_apart;
                break;
            case 2:
                server.store.remove(pod);
                now.node = now.reason = now.uid = {};
                if (now.owner.empty() && dice_.chance(2, 3)) server.store.create(now);
                return;
        }
        server.store.change(now);
    }

    // A Job that is not paused by us, or that this suspended before.
    void suspend_or_resume() {
        for (const auto& [key, job] : all("jobs")) {
            const auto receipt = job->annotations.find("berth.dev/last-pause");
            const bool is_paused = receipt != job->annotations.end() &&
                                   receipt->second.find(R"("paused":true)") != std::string::npos;
            const bool is_users = users_.contains(job->uid);
            if (!job->end.empty() || is_paused || dice_.chance(2, 3)) continue;
            if (job->is_suspended != is_users) continue;
            Object now = *job;
            now.is_suspended = !is_users;
            is_users ? (void)users_.erase(job->uid) : (void)users_.insert(job->uid);
            server.store.change(now);
            return;
        }
    }

    void look_at_suspended() {
        for (const auto& [key, job] : all("jobs")) {
            if (users_.contains(job->uid) && !job->is_suspended)
                found("job " + job->name + " was suspended by its user and goes on");
        }
    }

    void stop_meddling() {
        remove("pools", "/apart");
        for (const auto& [key, job] : all("jobs")) {
            if (!users_.contains(job->uid)) continue;
            Object now = *job;
            now.is_suspended = false;
            server.store.change(now);
        }
        users_.clear();
        // Jobs of which others bound a pod wait for its end.
        for (const auto& [key, pod] : all("pods")) {
            if (pod->node == kApart && !pod->owner.empty()) server.store.remove(pod);
        }
    }

    void submit() {
        Object made;
        made.name_space = dice_.chance(1, 2) ? "ml" : "web";
        made.gpus = static_cast<int>(dice_.chance(1, 2) ? 1 : dice_.between(1, kNodeGpus));
        made.name = next_name("w");
        made.resource = dice_.chance(1, 3) ? "pods" : "jobs";
        made.parallelism = static_cast<int>(dice_.between(1, 5));
        if (dice_.chance(1, 2)) made.completions = static_cast<int>(dice_.between(1, 8));
        if (dice_.chance(1, 3)) made.app = "serve";
        came_[server.store.create(made)->uid] = time.now();
    }

    // A pod of a Job that ends after a number of them.
    void succeed_one() {
        for (const auto& [key, pod] : all("pods")) {
            const Held job = pod->owner.empty() ? nullptr : job_of(*pod);
            const bool may_end = job && job->completions > 0;
            if (may_end && !pod->node.empty() && dice_.chance(1, 2)) return succeed(pod);
        }
    }

    Held job_of(const Object& pod) {
        for (const auto& [key, job] : all("jobs")) {
            if (job->uid == pod.owner) return job;
        }
        return nullptr;
    }

    // A user wants more or fewer pods of a Job.
    void scale_one() {
        for (const auto& [key, job] : all("jobs")) {
            if (!job->end.empty() || dice_.chance(1, 2)) continue;
            Object now = *job;
            now.parallelism = static_cast<int>(dice_.between(1, 6));
            server.store.change(now);
            scaled_.insert(job->uid);
            return;
        }
    }

    // Its pods are bound, and end well.
    void end_one() {
        for (const auto& [key, job] : all("jobs")) {
            const auto pods = pods_of(*job);
            const auto is_bound = [](const Held& pod) { return !pod->node.empty(); };
            const bool has_grown =
                scaled_.contains(job->uid);  // perhaps further than there is room
            const bool runs = has_grown ? std::ranges::any_of(pods, is_bound)
                                        : !pods.empty() && std::ranges::all_of(pods, is_bound);
            if (!runs || !job->end.empty() || dice_.chance(1, 2)) continue;
            for (const Held& pod : pods) server.store.remove(pod);
            Object now = *job;
            now.end = "Complete";
            server.store.change(now);
            return;
        }
    }

    void remove_one() {
        const std::string resource = dice_.chance(1, 2) ? "jobs" : "pods";
        const auto those = all(resource);
        if (those.empty()) return;
        const auto at = std::next(those.begin(), static_cast<long>(dice_.index(those.size())));
        server.store.remove(at->second);
    }

    // A kubelet refuses a pod for which its node has no GPUs.
    void look_at_kubelets() {
        for (const auto& [node, gpus] : used()) {
            if (gpus > kNodeGpus)
                found(node + " was given " + std::to_string(gpus) + " GPUs, and has 8");
        }
    }

    void look_at_gangs() {
        for (const auto& [key, job] : all("jobs")) {
            const auto pods = pods_of(*job);
            const auto bound =
                std::ranges::count_if(pods, [](const Held& pod) { return !pod->node.empty(); });
            // One that grows gets its pods as GPUs come free.
            const bool is_partly = bound > 0 && bound < pods_wanted(*job) && job->end.empty() &&
                                   !job->is_suspended && std::ssize(pods) == pods_wanted(*job) &&
                                   !scaled_.contains(job->uid);
            if (!is_partly) {
                partly_.erase(job->uid);
                continue;
            }
            const auto since = partly_.try_emplace(job->uid, time.now()).first->second;
            if (time.now() - since > kPartlyMost)
                found("job " + job->name + " is partly bound: " + std::to_string(bound) + " of " +
                      std::to_string(job->parallelism));
        }
    }

    // Whether something that should not be so stays so.
    void keep(std::map<std::string, base::TimePoint>& since, const std::string& what, bool is_so,
              base::Duration most) {
        if (!is_so) {
            since.erase(what);
        } else if (time.now() - since.try_emplace(what, time.now()).first->second > most) {
            found(what);
        }
    }

    // As many pods as are on a node are on it for the core, as tasks or as what others use.
    void look_at_counts() {
        const kube::scheduler::Scheduler* scheduler = leader();
        if (scheduler == nullptr) return;
        const cluster::Cluster& core = scheduler->controller()->state().cluster;
        const auto names = core.resources().names();
        const auto pods = std::ranges::find(names, model::kPodsResource) - names.begin();
        std::map<std::string, int> there;
        for (const auto& [key, pod] : all("pods")) there[pod->node] += 1;
        for (const auto& [key, node] : all("nodes")) {
            const auto& known =
                core.resources().on(core.find_node(node->name), static_cast<std::uint32_t>(pods));
            keep(miscounted_, "pods of " + node->name + " are miscounted",
                 known.used != there[node->name], kSettledMost);
        }
    }

    // One pod of a gang says it for all.
    void look_at_reasons() {
        std::map<std::string, bool> says;  // by gang
        for (const auto& [key, pod] : all("pods")) {
            const bool waits = pod->scheduler == "berth" && pod->node.empty();
            const std::string& gang = pod->owner.empty() ? pod->uid : pod->owner;
            if (waits) says["gang " + gang + " waits and nothing says why"] |= !pod->reason.empty();
        }
        std::erase_if(silent_, [&](const auto& each) { return !says.contains(each.first); });
        for (const auto& [what, said] : says) keep(silent_, what, !said, kSettledMost);
    }

    // Running gangs end, one after the other, so that all that can ever run has run: also those
    // that an earlier leader suspended.
    void end_all() {
        for (int second = 0; second < 400 && has_more(); ++second) {
            control_jobs();
            end_one();
            for (const auto& [key, pod] : all("pods")) {
                const bool is_ours = pod->scheduler == "berth";
                if (is_ours && pod->owner.empty() && !pod->node.empty()) server.store.remove(pod);
            }
            time.run(seconds(1));
        }
        for (const auto& [key, job] : all("jobs")) {
            if (job->end.empty() && can_run(*job))
                found("job " + job->name + " of " + std::to_string(job->parallelism) + " x " +
                      std::to_string(job->gpus) + " GPUs never ran to its end" +
                      (job->is_suspended ? ", and is suspended" : ""));
        }
    }

    bool has_more() {
        return std::ranges::any_of(server.store.all("jobs"), [&](const auto& each) {
            return each.second->end.empty() && can_run(*each.second);
        });
    }

    bool can_run(const Object& job) {
        int places = 0;
        std::map<std::string, int> strangers;
        for (const auto& [key, pod] : server.store.all("pods")) {
            if (pod->scheduler != "berth") strangers[pod->node] += pod->gpus;
        }
        for (int node = 1; node <= nodes_; ++node)
            places += (kNodeGpus - strangers["n" + std::to_string(node)]) / job.gpus;
        return job.parallelism <= places;
    }

    void found(const std::string& what) {
        const bool is_new = std::ranges::find(found_, what) == found_.end();
        if (is_new && found_.size() < 5) found_.push_back(what);
    }

    base::Rng dice_;
    Met& met_;
    std::array<std::unique_ptr<Process>, 2> processes_;
    std::set<std::string> scaled_;  // Jobs that were given another parallelism, by uid
    std::set<std::string> users_;  // Jobs that users have suspended, by uid
    std::map<std::string, base::TimePoint> partly_, miscounted_, silent_;
    std::map<std::string, base::TimePoint> budgets_;  // since when, by namespace
    std::map<std::string, base::TimePoint> requoted_;  // last, by project
    std::map<std::string, base::TimePoint> came_;  // objects, by uid
    std::vector<std::string> found_;
    int nodes_ = 0;
};

}  // namespace

std::vector<std::string> findings_of(std::uint64_t seed, Met& met) {
    return Life(seed, met).play();
}

}  // namespace berth::tests::kube_scheduler
