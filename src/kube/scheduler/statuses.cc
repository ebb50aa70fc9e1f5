// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/statuses.h"

#include <algorithm>
#include <memory>

#include "codec/json_writer.h"
#include "kube/client/writes.h"

namespace berth::kube::scheduler {
namespace {

constexpr base::Duration kFirstStatus = std::chrono::seconds(1);
const std::string kKinds = "/apis/berth.dev/v1alpha1/";

}  // namespace

Statuses::Statuses(client::Requests& requests, client::Timers& timers,
                   const control::Controller& controller, const Declarations& declarations)
    : requests_(requests), controller_(controller), declarations_(declarations), timer_(timers) {
    timer_.start(kFirstStatus, [this] { tick(); });
}

void Statuses::tick() {
    const auto& cluster = controller_.state().cluster;
    const auto waits = waiting();
    declarations_.each_project([&](const std::string& name, objects::Uid uid) {
        const base::ProjectId project = cluster.find_project(name);
        if (!project.is_valid()) return;
        const auto found = waits.find(project);
        tell(kKinds + "projects/" + name + "/status", uid,
             status_of(project, found == waits.end() ? 0 : found->second));
    });
    declarations_.each_pool([&](const std::string& name, objects::Uid uid) {
        const base::PoolId pool = cluster.find_pool(name);
        if (pool.is_valid()) tell(kKinds + "pools/" + name + "/status", uid, status_of(pool));
    });
    timer_.start(kStatusEvery, [this] { tick(); });
}

// Of a project and of all above it: who waits there waits in the department too.
std::map<base::ProjectId, std::int64_t> Statuses::waiting() const {
    const auto& cluster = controller_.state().cluster;
    std::map<base::ProjectId, std::int64_t> count;
    for (const auto& [id, job] : controller_.state().jobs) {
        const bool waits =
            job.state == model::JobState::Queued || job.state == model::JobState::Paused;
        if (!waits) continue;
        for (base::ProjectId at = cluster.job(id).project; at.is_valid();
             at = cluster.projects()[at.index()].parent) {
            ++count[at];
        }
    }
    return count;
}

std::string Statuses::status_of(base::ProjectId project, std::int64_t waits) const {
    const auto& cluster = controller_.state().cluster;
    base::MilliGpu used{0};
    base::MilliGpu over{0};
    for (const auto& pool : cluster.pools()) {
        const auto& claim = pool.claims[project.index()];
        used += claim.usage.allocated;
        over += std::max(claim.usage.allocated - claim.quota, base::MilliGpu{0});
    }
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("used"), json.raw(base::format_thousandths(used.value));
    json.key("over"), json.raw(base::format_thousandths(over.value));
    json.key("waiting"), json.number(waits);
    json.end_object();
    return text;
}

std::string Statuses::status_of(base::PoolId id) const {
    const auto& cluster = controller_.state().cluster;
    const auto& pool = cluster.pool(id);
    std::int64_t nodes = 0;
    for (const auto& node : cluster.nodes()) {
        nodes += node.pool == id && node.health != model::NodeHealth::Down;
    }
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("nodes"), json.number(nodes);
    json.key("gpus"), json.number(pool.capacity.value / 1000);
    json.key("idle"), json.raw(base::format_thousandths(pool.free_total[0].value));
    json.end_object();
    return text;
}

void Statuses::tell(const std::string& path, objects::Uid uid, const std::string& status) {
    if (told_[path] == status) return;
    told_[path] = status;
    requests_.send(
        client::merge_patch({path, objects::format(uid), ""}, "{\"status\":" + status + "}", {}),
        [this, here = std::weak_ptr(is_here_), path](const client::Outcome& outcome) {
            if (!here.expired() && !outcome.is_done()) told_.erase(path);  // again with the next
        });
}

}  // namespace berth::kube::scheduler
