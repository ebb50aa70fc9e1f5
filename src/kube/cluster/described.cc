// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/described.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/cluster/asks.h"
#include "kube/cluster/node_of.h"
#include "kube/cluster/parts.h"
#include "kube/objects/receipts.h"
#include "model/job/companions.h"
#include "model/limits.h"

namespace berth::kube::cluster {
namespace {

using objects::Pod;

constexpr std::string_view kPreemptible = "berth.dev/preemptible";

// No controller makes it again when it is deleted, so nothing is taken from it unless it says so.
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

void add_companion(model::JobSpec& spec, Part& part) {
    model::Companion companion;
    companion.name = part.name.empty() ? std::to_string(spec.companions.size() + 1) : part.name;
    companion.count = part.pods;
    companion.request = std::move(part.asks.request);
    companion.node_labels = std::move(part.asks.node_labels);
    companion.node_filter = std::move(part.asks.node_filter);
    companion.tolerations = std::move(part.asks.tolerations);
    const bool is_taken = std::ranges::find(spec.companions, companion.name,
                                            &model::Companion::name) != spec.companions.end();
    if (is_taken) companion.name += " " + std::to_string(spec.companions.size() + 1);
    spec.companions.push_back(std::move(companion));
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
            const objects::Amounts& held = pod->held();
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

// The job as it runs, or leaves: at least as many tasks and companions of each kind as are bound
// now, the lowest ranks of each.
void place(model::JobDescription& job, const std::vector<Part>& parts, model::TaskState standing) {
    for (std::size_t kind = 0; kind < parts.size(); ++kind) {
        const auto is_bound = [](const Pod* pod) { return pod->is_bound(); };
        const int bound = static_cast<int>(std::ranges::count_if(parts[kind].there, is_bound));
        int& count = kind == 0 ? job.spec.tasks_max : job.spec.companions[kind - 1].count;
        count = std::max(count, bound);
        const std::size_t first = job.tasks.size();
        job.tasks.resize(first + static_cast<std::size_t>(count));
        std::size_t rank = first;
        for (const Pod* pod : parts[kind].there) {
            if (!pod->is_bound()) continue;
            job.tasks[rank++] = {standing, *pod->node, {}};
            const auto since = pod->scheduled_since.value_or(job.created);
            job.last_start = std::max(job.last_start.value_or(since), since);
        }
    }
    job.spec.tasks_min = job.spec.tasks_max;
}

// What it was promised and has not had since. A promise that fits its size no more is none.
void add_promise(model::JobDescription& job, const objects::Labels& annotations,
                 base::TimePoint now) {
    const auto promise = objects::promise_of(annotations);
    if (!promise || promise->until <= now || promise->until > now + model::kPastMax) return;
    if (job.last_pause && promise->time < *job.last_pause) return;
    std::vector<model::TaskDescription> tasks;
    for (const objects::Promise::Place& place : promise->places) {
        const auto left = static_cast<int>(job.tasks.size() - tasks.size());
        if (place.pods < 1 || place.pods > left) return;
        tasks.insert(tasks.end(), static_cast<std::size_t>(place.pods),
                     {model::TaskState::Promised, place.node, {}});
    }
    if (tasks.size() != job.tasks.size()) return;
    job.promised_until = promise->until;
    if (!job.last_start) job.tasks.clear();  // else it leaves those first
    job.tasks.insert(job.tasks.end(), tasks.begin(), tasks.end());
}

model::JobDescription described(const Gang& gang, model::JobSpec spec,
                                const std::vector<Part>& parts,
                                const std::vector<const Pod*>& running, base::TimePoint at) {
    model::JobDescription job;
    job.spec = std::move(spec);
    job.created = gang.meta().created.value_or(base::TimePoint{});
    const objects::Labels& annotations = *gang.meta().annotations;
    const bool leaves = gang.is_paused() && !running.empty();
    if (const auto receipt = objects::receipt_of(annotations)) {
        job.last_pause = receipt->time;
        if (running.empty()) job.waiting_since = receipt->time;
    }
    place(job, parts, leaves ? model::TaskState::Releasing : model::TaskState::Running);
    if (running.empty() || leaves) add_promise(job, annotations, at);
    if (const auto history = objects::history_of(annotations)) {
        // Beside what it has had since: since it was started, or asked to leave.
        const auto& since = leaves ? job.last_pause : job.last_start;
        const base::Duration now = since ? at - *since : base::Duration{0};
        std::int64_t gpus = 0;
        for (const Pod* pod : running) gpus += pod->held().of(kGpuResource);
        job.pauses = history->pauses + (gang.is_paused() && !leaves);
        job.losses = history->losses;
        job.attained = history->attained + std::max(now, base::Duration{0}) * gpus;
    }
    return job;
}

}  // namespace

bool may_be_paused(const Gang& gang) { return gang.is_owned || may_be_deleted(gang); }

base::Result<model::JobSpec> job_of(const Gang& gang, const ProjectPools& project) {
    if (const std::string trouble = gang.trouble(); !trouble.empty()) return base::invalid(trouble);
    BERTH_TRY(parts, parts_of(gang));
    model::JobSpec spec = std::move(parts.front().asks);
    const bool is_served = !gang.is_owned && !gang.pods.begin()->second->meta.owner->kind->empty();
    spec.name = name_of(gang);
    spec.project = project.name;
    spec.pools = project.pools;
    spec.kind = is_served ? model::JobKind::Inference : model::JobKind::Train;
    // Of pods that are gone their receipt says it.
    const auto receipt = objects::receipt_of(*gang.meta().annotations);
    if (gang.living() == 0 && receipt) spec.priority = receipt->priority;
    if (gang.ask().priority_class->empty()) spec.priority = model::default_priority(spec.kind);
    spec.preemptible = spec.priority < model::kNotPreemptibleFrom && may_be_paused(gang) &&
                       !project.protected_since;
    spec.tasks_min = spec.tasks_max = std::max(parts.front().pods, 1);
    spec.elastic = model::Elastic::Grow;
    spec.pause_grace = std::min(grace_of(gang), model::kPauseGraceMax);
    for (std::size_t at = 1; at < parts.size(); ++at) add_companion(spec, parts[at]);
    BERTH_TRY_VOID(model::check_limits(spec));
    return spec;
}

base::Duration grace_of(const Gang& gang) {
    constexpr std::int64_t kYear = 365 * 24 * 3600;
    return std::chrono::seconds(std::clamp<std::int64_t>(gang.ask().grace_s, 0, kYear));
}

namespace {

// A project that lent GPUs gets them back, whatever budget came then: what runs is protected if it
// was started under its budget, and within the quota.
class Protected {
  public:
    bool is_so(const ProjectPools& project, const std::vector<const Pod*>& running) {
        base::MilliGpu more{0};
        std::optional<base::TimePoint> started;
        for (const Pod* pod : running) {
            more += base::gpus(pod->held().of(kGpuResource));
            const auto since = pod->scheduled_since;
            if (since) started = std::min(started.value_or(*since), *since);
        }
        // The server's moments are whole seconds.
        if (started && *started <= *project.protected_since) return false;
        base::MilliGpu& held = held_[project.name];
        if (held + more > project.quota) return false;
        held += more;
        return true;
    }

  private:
    std::map<std::string, base::MilliGpu> held_;
};

}  // namespace

Described describe(const Gangs& gangs, const std::map<std::string, model::Node>& nodes,
                   const std::function<ProjectPools(const Gang&)>& project_of, Strangers& strangers,
                   base::TimePoint now) {
    Described made;
    Rooms rooms(nodes);
    Protected safe;
    std::vector<const Gang*> order;
    for (const auto& [uid, gang] : gangs.all()) order.push_back(&gang);
    std::ranges::stable_sort(order, {}, [](const Gang* gang) { return gang->meta().created; });
    for (const Gang* gang : order) {
        const std::vector<const Pod*> running = bound(*gang);
        if (running.empty() && !gang->is_complete() && !gang->is_paused()) continue;
        ProjectPools project = project_of(*gang);
        if (project.protected_since && !safe.is_so(project, running))
            project.protected_since.reset();
        auto spec = job_of(*gang, project);
        const auto parts = parts_of(*gang);
        if (project.name.empty() || !spec || !parts || !rooms.take(running)) {
            for (const Pod* pod : running) strangers.set(*pod);
            continue;
        }
        made.jobs.push_back(described(*gang, std::move(*spec), *parts, running, now));
        made.gangs.push_back(gang->uid);
    }
    return made;
}

}  // namespace berth::kube::cluster
