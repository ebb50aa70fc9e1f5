// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/described.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/cluster/asks.h"
#include "kube/cluster/node_of.h"
#include "kube/cluster/receipts.h"
#include "model/limits.h"

namespace berth::kube::cluster {
namespace {

using objects::Pod;

constexpr std::string_view kPreemptible = "berth.dev/preemptible";

// Made again by nobody when it is deleted, so nothing is taken from it unless it says so.
bool may_be_deleted(const Gang& gang) {
    for (const objects::Labels* said : {&*gang.meta().labels, &*gang.meta().annotations}) {
        const std::string* value = objects::find(*said, kPreemptible);
        if (value != nullptr) return *value == "true";
    }
    return false;
}

// A name of the namespace's objects may be longer than the core's names.
std::string name_of(const Gang& gang) {
    std::string name = gang.name();
    name.resize(std::min(name.size(), model::kNameBytesMax));
    return name;
}

std::vector<const Pod*> bound(const Gang& gang) {
    std::vector<const Pod*> pods;
    for (const auto& [uid, pod] : gang.pods) {
        if (pod->is_bound()) pods.push_back(pod);
    }
    return pods;
}

struct Room {
    std::int64_t gpus = 0;
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
};

class Rooms {
  public:
    explicit Rooms(const std::map<std::string, model::Node>& nodes) {
        for (const auto& [name, node] : nodes) {
            rooms_[name] = {node.gpus, node.cpu.value_or(base::MilliCpu{0}).value,
                            node.memory.value_or(base::Bytes{0}).value};
        }
    }
    // All of them or none.
    bool take(const std::vector<const Pod*>& pods) {
        std::map<std::string, Room> then;
        for (const Pod* pod : pods) {
            const auto known = rooms_.find(*pod->node);
            if (known == rooms_.end()) return false;
            Room& room = then.try_emplace(*pod->node, known->second).first->second;
            const objects::Amounts& held = pod->ask->requests;
            room.gpus -= held.of(kGpuResource);
            room.cpu -= held.cpu().value;
            room.memory -= held.memory().value;
            if (room.gpus < 0 || room.cpu < 0 || room.memory < 0) return false;
        }
        for (auto& [name, room] : then) rooms_[name] = room;
        return true;
    }

  private:
    std::map<std::string, Room> rooms_;
};

model::JobDescription described(const Gang& gang, model::JobSpec spec,
                                const std::vector<const Pod*>& running, base::TimePoint at) {
    model::JobDescription job;
    job.spec = std::move(spec);
    job.created = gang.meta().created.value_or(base::TimePoint{});
    const objects::Labels& annotations = *gang.meta().annotations;
    if (const auto receipt = receipt_of(annotations)) {
        job.last_pause = receipt->time;
        if (running.empty()) job.waiting_since = receipt->time;
    }
    job.tasks.resize(static_cast<std::size_t>(job.spec.tasks_max));
    std::size_t rank = 0;
    for (const Pod* pod : running) {
        job.tasks[rank++] = {model::TaskState::Running, *pod->node, {}};
        const auto since = pod->scheduled_since.value_or(job.created);
        job.last_start = std::max(job.last_start.value_or(since), since);
    }
    if (const auto history = history_of(annotations)) {
        // Beside what it has had since it was started.
        const base::Duration now = job.last_start ? at - *job.last_start : base::Duration{0};
        const std::int64_t gpus = job.spec.request.gpus * std::ssize(running);
        job.attained = history->attained + std::max(now, base::Duration{0}) * gpus;
    }
    return job;
}

}  // namespace

base::Result<model::JobSpec> job_of(const Gang& gang, const ProjectPools& project) {
    if (const std::string trouble = gang.trouble(); !trouble.empty()) return base::invalid(trouble);
    if (gang.living() == 0 && !gang.is_paused()) return base::invalid("it has no pods");
    const objects::PodAsk& ask = gang.ask();
    BERTH_TRY(spec, spec_of(ask));
    const bool is_made_again = gang.is_owned;
    const bool is_served = !is_made_again && !gang.pods.begin()->second->meta.owner->kind->empty();
    spec.name = name_of(gang);
    spec.project = project.name;
    spec.pools = project.pools;
    spec.kind = is_served ? model::JobKind::Inference : model::JobKind::Train;
    // Of pods that are gone their receipt says it.
    const auto receipt = receipt_of(*gang.meta().annotations);
    if (gang.living() == 0 && receipt) spec.priority = receipt->priority;
    if (ask.priority_class->empty()) spec.priority = model::default_priority(spec.kind);
    spec.preemptible =
        spec.priority < model::kNotPreemptibleFrom && (is_made_again || may_be_deleted(gang));
    spec.tasks_min = spec.tasks_max = std::max(gang.pods_wanted(), 1);
    return std::move(spec);
}

base::Duration grace_of(const Gang& gang) {
    constexpr std::int64_t kYear = 365 * 24 * 3600;
    return std::chrono::seconds(std::clamp<std::int64_t>(gang.ask().grace_s, 0, kYear));
}

Described describe(const Gangs& gangs, const std::map<std::string, model::Node>& nodes,
                   const std::function<ProjectPools(const Gang&)>& project_of, Strangers& strangers,
                   base::TimePoint now) {
    Described made;
    Rooms rooms(nodes);
    std::vector<const Gang*> order;
    for (const auto& [uid, gang] : gangs.all()) order.push_back(&gang);
    std::ranges::stable_sort(order, {}, [](const Gang* gang) { return gang->meta().created; });
    for (const Gang* gang : order) {
        const std::vector<const Pod*> running = bound(*gang);
        if (running.empty() && !gang->is_complete() && !gang->is_paused()) continue;
        const ProjectPools project = project_of(*gang);
        auto spec = job_of(*gang, project);
        if (spec)
            spec->tasks_min = spec->tasks_max =
                std::max(spec->tasks_max, static_cast<int>(running.size()));
        if (project.name.empty() || !spec || !rooms.take(running)) {
            for (const Pod* pod : running) strangers.set(*pod);
            continue;
        }
        made.jobs.push_back(described(*gang, std::move(*spec), running, now));
        made.gangs.push_back(gang->uid);
    }
    return made;
}

}  // namespace berth::kube::cluster
