// SPDX-License-Identifier: Apache-2.0
#include "kube/people/work.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "cli/pages/job_text.h"
#include "codec/words/words.h"
#include "kube/cluster/node_of.h"
#include "kube/cluster/parts.h"
#include "kube/install/objects.h"
#include "model/job/companions.h"

namespace berth::kube::people {
namespace {

using cluster::Gang;
using model::JobState;
using objects::Uid;

constexpr std::string_view kOtherScheduler = "default-scheduler";
// Berth says why within a second or so: after that it is worth a look whether it is there.
constexpr base::Duration kSoon = std::chrono::seconds(10);

// Everything of a Read is a whole one.
const ReadPod& whole(const objects::Pod& pod) { return static_cast<const ReadPod&>(pod); }
const ReadWorkload& whole(const objects::Workload& workload) {
    return static_cast<const ReadWorkload&>(workload);
}

// A Job that could not be read is known by its pods.
std::string name_of(const Gang& gang) {
    const bool is_by_its_pods = gang.is_owned && gang.workload == nullptr;
    return is_by_its_pods ? gang.meta().owner->name : gang.meta().name;
}

std::string word_of(const Gang& gang) {
    if (gang.workload != nullptr) return std::string(objects::traits(gang.workload->kind).word);
    return gang.is_owned ? "job" : "pod";
}

// Of a pod of it; of a Job that has none, of those that it will make.
std::string scheduler_of(const Gang& gang) {
    return gang.pods.empty() ? *gang.ask().scheduler : *gang.pods.begin()->second->ask->scheduler;
}

bool is_of_berth(const objects::Pod& pod) {
    return *pod.ask->scheduler == install::kPodSchedulerName;
}

// What is read of a cluster, as gangs and their projects.
class Everything {
  public:
    explicit Everything(const Read& read) {
        for (const objects::Meta& name_space : read.namespaces) {
            namespaces_[name_space.name] = &*name_space.labels;
            projects_.set_namespace(name_space.name, &*name_space.labels);
        }
        for (const ReadProject& project : read.projects)
            projects_.set_listed(project.meta.name, project.namespaces);
        for (const ReadWorkload& workload : read.workloads) owners_.set(workload);
        for (const ReadWorkload& workload : read.workloads) {
            const Uid uid = workload.meta.uid;
            if (owners_.top_of(uid) != uid) continue;  // it is part of another one
            gangs_[uid] = {.uid = uid,
                           .is_owned = true,
                           .workload = &workload,
                           .made = owners_.made_by(workload),
                           .pods = {}};
        }
        for (const ReadPod& pod : read.pods) add(pod);
        for (auto& [uid, gang] : gangs_) leave_others_out(gang);
    }

    const std::map<Uid, Gang>& gangs() const { return gangs_; }
    std::string project_of(const Gang& gang) const { return projects_.project_of(gang.meta()); }
    std::string not_ours(const Gang& gang) const;

  private:
    void add(const ReadPod& pod) {
        const Uid uid = cluster::home_of(pod, owners_, gangs_);
        Gang& gang = gangs_[uid];
        gang.uid = uid;
        gang.add(pod);
    }
    // Of a Job that was made before its namespace was Berth's, both may have pods.
    static void leave_others_out(Gang& gang) {
        const auto is_ours = [](const auto& each) { return is_of_berth(*each.second); };
        if (!std::ranges::any_of(gang.pods, is_ours)) return;
        std::erase_if(gang.pods, [&](const auto& each) { return !is_ours(each); });
    }
    bool will_be_ours(const Gang& gang) const;
    std::string why_not_ours(const Gang& gang) const;

    cluster::Owners owners_;
    std::map<Uid, Gang> gangs_;
    cluster::Projects projects_;
    std::map<std::string, const objects::Labels*, std::less<>> namespaces_;
};

bool Everything::will_be_ours(const Gang& gang) const {
    const objects::Workload& job = *gang.workload;
    if (whole(job).active > 0) return false;  // its pods are another scheduler's
    if (objects::receipt_of(*job.meta.annotations)) return true;
    const std::string& scheduler = *gang.ask().scheduler;
    if (!scheduler.empty() && scheduler != kOtherScheduler)
        return scheduler == install::kPodSchedulerName;
    const auto labels = namespaces_.find(*job.meta.name_space);
    return labels != namespaces_.end() &&
           objects::find(*labels->second, cluster::kProjectLabel) != nullptr;
}

std::string Everything::not_ours(const Gang& gang) const {
    const bool is_ours =
        gang.pods.empty() ? will_be_ours(gang) : is_of_berth(*gang.pods.begin()->second);
    if (is_ours) return {};
    std::string scheduler = scheduler_of(gang);
    if (scheduler.empty()) scheduler = kOtherScheduler;
    return "is for the scheduler " + scheduler + ", not for Berth: " + why_not_ours(gang);
}

std::string Everything::why_not_ours(const Gang& gang) const {
    const std::string scheduler = scheduler_of(gang);
    if (!scheduler.empty() && scheduler != kOtherScheduler) return "its spec.schedulerName says so";
    const std::string& name = *gang.meta().name_space;
    if (name == "kube-system" || name == install::kNamespace)
        return "namespace " + name + " is excluded from Berth";
    const auto labels = namespaces_.find(name);
    if (labels == namespaces_.end()) return "its namespace says why, but could not be read";
    if (objects::find(*labels->second, cluster::kProjectLabel) == nullptr)
        return "namespace " + name + " has no label " + std::string(cluster::kProjectLabel) +
               ", with which new pods there are Berth's";
    const objects::Meta& meta =
        gang.pods.empty() ? gang.workload->meta : gang.pods.begin()->second->meta;
    const std::string* ignore = objects::find(*meta.labels, install::kIgnoreLabel);
    if (ignore != nullptr && *ignore == "true")
        return "its label " + std::string(install::kIgnoreLabel) + " is \"true\"";
    return "it was created before namespace " + name + " had the label " +
           std::string(cluster::kProjectLabel) + ", or names its node";
}

// --- state

bool is_bound(const Gang& gang, objects::Phase phase) {
    return std::ranges::any_of(gang.pods, [&](const auto& each) {
        return each.second->is_bound() && each.second->phase == phase;
    });
}

JobState end_of(const Gang& gang) {
    if (gang.workload != nullptr)
        return gang.workload->end == objects::Workload::End::Failed ? JobState::Failed
                                                                    : JobState::Succeeded;
    const bool has_failed = std::ranges::any_of(
        gang.pods, [](const auto& each) { return each.second->phase == objects::Phase::Failed; });
    return has_failed ? JobState::Failed : JobState::Succeeded;
}

// All that lives of it is being deleted.
bool is_leaving(const Gang& gang) {
    return gang.living() > 0 && std::ranges::all_of(gang.pods, [](const auto& each) {
               return each.second->is_over() || each.second->meta.deletion;
           });
}

JobState state_of(const Gang& gang) {
    if (gang.is_over()) return end_of(gang);
    if (gang.workload != nullptr && gang.workload->is_suspended)
        return gang.living() > 0 ? JobState::Pausing : JobState::Paused;
    if (is_leaving(gang)) return JobState::Cancelling;
    if (is_bound(gang, objects::Phase::Running)) return JobState::Running;
    const auto has_node = [](const auto& each) { return each.second->is_bound(); };
    return std::ranges::any_of(gang.pods, has_node) ? JobState::Starting : JobState::Queued;
}

// --- why

std::string gates_of(const Gang& gang) {
    for (const auto& [uid, pod] : gang.pods) {
        if (!pod->is_gated || pod->is_over()) continue;
        std::string gates;
        for (const std::string& gate : whole(*pod).gates)
            gates += (gates.empty() ? "" : ", ") + gate;
        return "its scheduling gates must be removed first: " + gates;
    }
    return {};
}

std::string missing_pods(const Gang& gang, int there) {
    if (gang.workload != nullptr && gang.workload->is_scaled_to_zero)
        return "it is scaled to zero pods";
    if (there == 0) return "its pods do not exist yet";
    return std::to_string(there) + " of its " + std::to_string(gang.pods_wanted()) +
           " pods exist; it starts when all do";
}

// What the condition of its first pod says; false: none says anything.
bool say_what_a_pod_says(const Gang& gang, Work& work) {
    for (const objects::Pod* pod : gang.waiting()) {
        if (whole(*pod).message.empty()) continue;
        work.reason = whole(*pod).reason;
        work.job.why = whole(*pod).message;
        return true;
    }
    return false;
}

// Of a gang that waits: reason and words.
void say_why_it_waits(const Gang& gang, base::TimePoint now, Work& work) {
    if (say_what_a_pod_says(gang, work)) return;
    work.job.why = gang.trouble();
    const auto parts = cluster::parts_of(gang);
    if (work.job.why.empty() && work.pods_there > 0 && !parts) work.job.why = parts.error().message;
    if (work.job.why.empty()) work.job.why = gates_of(gang);
    const bool is_whole = work.pods_there >= std::max(gang.pods_wanted(), 1);
    if (work.job.why.empty() && !is_whole) work.job.why = missing_pods(gang, work.pods_there);
    if (!work.job.why.empty()) return;
    work.job.why = now - work.job.created < kSoon
                       ? "Berth has just received it"
                       : "Berth has not written a reason yet; kubectl get pods -n " +
                             std::string(install::kNamespace) + " shows whether its scheduler runs";
}

std::string pause_meaning(const objects::Receipt& receipt) {
    if (receipt.rule.empty()) return "it could not continue where it ran";
    const auto rule = codec::from_word<model::Rule>(receipt.rule);
    const std::string meaning(rule ? cli::rule_meaning(*rule) : "");
    return meaning.empty() ? receipt.rule : meaning;
}

void say_why(const Gang& gang, base::TimePoint now, Work& work) {
    switch (work.job.state) {
        case JobState::Queued: return say_why_it_waits(gang, now, work);
        case JobState::Pausing:
        case JobState::Paused:
            work.job.why =
                work.job.held ? "on hold: a user set spec.suspend" : pause_meaning(*work.receipt);
            return;
        case JobState::Starting:
            work.job.why = work.pods_bound < gang.pods_wanted()
                               ? std::to_string(work.pods_bound) + " of its " +
                                     std::to_string(gang.pods_wanted()) + " pods have a node"
                               : "its containers are being started";
            return;
        case JobState::Running: return void(say_what_a_pod_says(gang, work));
        case JobState::Cancelling: work.job.why = "its pods are being deleted"; return;
        case JobState::Failed:
            if (gang.workload != nullptr) work.job.why = whole(*gang.workload).ending;
            return;
        default: return;
    }
}

// --- moments

void add_moments(const Gang& gang, Work& work) {
    codec::JobView& job = work.job;
    job.created = gang.meta().created.value_or(base::TimePoint{});
    std::optional<base::TimePoint> ended;
    for (const auto& [uid, pod] : gang.pods) {
        ended = std::max(ended, whole(*pod).ended);
        if (!pod->node->empty()) {
            job.first_start = pod->scheduled_since;
            job.last_start = std::max(job.last_start, pod->scheduled_since);
        }
    }
    if (gang.workload != nullptr) ended = whole(*gang.workload).ended;
    if (model::is_final(job.state)) job.finished = ended;
    if (work.receipt && work.receipt->is_in_force && !job.held) {
        job.last_pause.emplace();
        job.last_pause->time = work.receipt->time;
    }
}

// Those with GPUs: people see what a gang has of these.
void add_companions(const std::vector<cluster::Part>& parts, model::JobSpec& spec) {
    for (std::size_t at = 1; at < parts.size(); ++at) {
        const model::TaskRequest& asks = parts[at].asks.request;
        if (asks.gpus == 0) continue;
        spec.companions.push_back({.name = parts[at].name, .count = parts[at].pods});
        spec.companions.back().request.gpus = asks.gpus;
    }
}

void add_pods(const Gang& gang, Work& work) {
    const objects::PodAsk* ask = &gang.ask();
    for (const auto& [uid, pod] : gang.pods) {
        if (pod->is_over()) continue;
        if (is_leaving(gang)) ask = &*pod->ask;  // it asks no more
        if (!pod->meta.deletion) ++work.pods_there;
        if (!pod->is_bound()) continue;
        ++work.pods_bound;
        ++work.nodes[*pod->node];
    }
    work.job.spec.request.gpus = static_cast<int>(ask->requests.of(cluster::kGpuResource));
    int tasks = gang.pods_wanted();
    if (const auto parts = cluster::parts_of(gang)) {
        work.job.spec.request.gpus = parts->front().asks.request.gpus;
        const auto is_bound = [](const objects::Pod* pod) { return pod->is_bound(); };
        const auto bound = std::ranges::count_if(parts->front().there, is_bound);
        tasks = bound > 0 ? static_cast<int>(bound) : parts->front().pods;
        add_companions(*parts, work.job.spec);
    }
    work.job.spec.tasks_min = work.job.spec.tasks_max = std::max(tasks, 1);
}

Work work_of(const Everything& all, const Gang& gang, base::TimePoint now) {
    Work work;
    work.name_space = *gang.meta().name_space;
    work.name = word_of(gang) + "/" + name_of(gang);
    work.not_ours = all.not_ours(gang);
    work.job.spec.name = name_of(gang);
    work.job.spec.project = all.project_of(gang);
    work.job.state = state_of(gang);
    if (gang.workload != nullptr) {
        work.receipt = objects::receipt_of(*gang.workload->meta.annotations);
        work.history = objects::history_of(*gang.workload->meta.annotations);
        work.job.held = gang.workload->is_suspended && !gang.is_paused();
        // The history is of what has ended: the pause that is in force is not in it.
        if (work.history) work.job.pauses = work.history->pauses + gang.is_paused();
    }
    add_pods(gang, work);
    add_moments(gang, work);
    say_why(gang, now, work);
    return work;
}

}  // namespace

std::int64_t gpus_of(const Work& work) {
    const model::JobSpec& spec = work.job.spec;
    std::int64_t gpus = std::int64_t{spec.request.gpus} * spec.tasks_max;
    for (const model::Companion& kind : spec.companions) {
        gpus += std::int64_t{kind.request.gpus} * kind.count;
    }
    return gpus;
}

int pods_of_request(const Work& work) {
    return work.job.spec.tasks_max + model::companions(work.job.spec);
}

std::vector<Work> all_work(const Read& read, base::TimePoint now) {
    const Everything all(read);
    std::vector<Work> found;
    for (const auto& [uid, gang] : all.gangs()) {
        Work work = work_of(all, gang, now);
        if (work.not_ours.empty()) found.push_back(std::move(work));
    }
    std::ranges::sort(found, {}, [](const Work& work) {
        return std::tie(work.job.created, work.name_space, work.name);
    });
    return found;
}

std::optional<Work> work_of(const Read& read, objects::Uid uid, base::TimePoint now) {
    const Everything all(read);
    const auto found = all.gangs().find(uid);
    if (found == all.gangs().end()) return {};
    return work_of(all, found->second, now);
}

}  // namespace berth::kube::people
