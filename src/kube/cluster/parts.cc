// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/parts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include "kube/cluster/asks.h"
#include "model/job/companions.h"

namespace berth::kube::cluster {
namespace {

using objects::Pod;

// Labels that say which part of its workload a pod is.
constexpr std::array<std::string_view, 2> kPartLabels{kPartOfJobSet, "ray.io/node-type"};

std::string name_of_part(const Pod& pod) {
    for (const std::string_view label : kPartLabels) {
        if (const std::string* name = objects::find(*pod.meta.labels, label)) return *name;
    }
    return {};
}

bool are_of_one_request(const model::TaskRequest& one, model::TaskRequest other) {
    other.cpu = one.cpu;
    other.memory = one.memory;
    return one == other;
}

// Of whom tolerations come from admission too, which no template has.
bool is_like(const auto& one, const auto& other, Sizes sizes = Sizes::Same) {
    const bool asks_so = sizes == Sizes::Same ? one.request == other.request
                                              : are_of_one_request(one.request, other.request);
    return asks_so && one.node_labels == other.node_labels && one.node_filter == other.node_filter;
}

enum class Of { Template, Waiting, Bound };

// The part that asks for that, made where there is none.
base::Result<Part*> part_for(std::vector<Part>& parts, const objects::PodAsk& ask, Of of) {
    BERTH_TRY(spec, spec_of(ask));
    const auto find = [&](Sizes sizes) {
        return std::ranges::find_if(parts, [&](const Part& each) {
            return is_like(each.asks, spec, sizes) &&
                   (of == Of::Template || each.asks.tolerations == spec.tolerations);
        });
    };
    auto known = find(Sizes::Same);
    // It may have been resized; no other part has the same GPUs.
    if (known == parts.end() && of == Of::Bound && spec.request.gpus > 0) known = find(Sizes::Any);
    if (known != parts.end()) return &*known;
    return &parts.emplace_back(Part{.name = {}, .asks = std::move(spec), .there = {}});
}

base::Status add_pods(const Gang& gang, std::vector<Part>& parts) {
    std::vector<const Pod*> living;
    for (const auto& [uid, pod] : gang.pods) {
        if (!pod->is_over()) living.push_back(pod);
    }
    std::ranges::sort(living, in_order);
    const Pod* before = nullptr;
    Part* part = nullptr;
    for (const Pod* pod : living) {
        // Those of a template have the same asks, kept once.
        if (before == nullptr || before->ask != pod->ask || before->is_bound() != pod->is_bound()) {
            const Of of = pod->is_bound() ? Of::Bound : Of::Waiting;
            BERTH_TRY(found, part_for(parts, *pod->ask, of));
            part = found;
        }
        before = pod;
        part->name = name_of_part(*pod);
        part->there.push_back(pod);
        part->pods += !pod->meta.deletion;
    }
    return {};
}

base::Status add_templates(const Gang& gang, std::vector<Part>& parts) {
    for (const objects::Workload::Part& each : gang.parts_wanted()) {
        BERTH_TRY(part, part_for(parts, *each.ask, Of::Template));
        if (part->name.empty()) part->name = each.name;
        part->pods = std::min(part->pods + each.pods, model::kTasksMax + 1);
    }
    return {};
}

// CPU and memory of a pod may be changed while it runs, so they tell no parts with GPUs apart.
bool differ_in_sizes_alone(const std::vector<Part>& parts) {
    for (auto part = parts.begin(); part != parts.end(); ++part) {
        const auto is_same = [&](const Part& other) {
            return is_like(part->asks, other.asks, Sizes::Any);
        };
        if (part->asks.request.gpus > 0 && std::any_of(std::next(part), parts.end(), is_same))
            return true;
    }
    return false;
}

}  // namespace

base::Result<std::vector<Part>> parts_of(const Gang& gang) {
    std::vector<Part> parts;
    BERTH_TRY_VOID(add_pods(gang, parts));
    const auto is_leaving = [](const Part& part) { return part.pods == 0; };
    if (gang.is_paused() && std::ranges::all_of(parts, is_leaving))
        BERTH_TRY_VOID(add_templates(gang, parts));
    std::erase_if(parts, is_leaving);
    if (parts.empty()) return base::invalid("it has no pods");
    if (differ_in_sizes_alone(parts)) {
        return base::invalid(
            "its pods ask for the same GPUs and for different CPU or memory, which Berth does not "
            "place as one gang");
    }
    const auto tasks = std::ranges::max_element(parts, {}, [](const Part& part) {
        const int gpus = part.asks.request.gpus;
        return std::tuple(gpus > 0, part.pods, gpus);
    });
    std::rotate(parts.begin(), tasks, std::next(tasks));
    if (gang.has_started()) return parts;  // others come when they come
    int pods = 0;
    for (const Part& part : parts) pods += part.pods;
    parts.front().pods += std::max(gang.pods_wanted() - pods, 0);  // that are still to come
    return parts;
}

TasksNow tasks_now(const Gang& gang, const model::JobSpec& job) {
    const auto is_task = [&](const objects::PodAsk& ask) {
        const auto asks = spec_of(ask);
        const bool has_gpus = job.request.gpus > 0;  // no companion has the same
        return asks && is_like(job, *asks, has_gpus ? Sizes::Any : Sizes::Same);
    };
    int there = 0;
    const Pod* before = nullptr;
    bool was_task = false;
    for (const auto& [uid, pod] : gang.pods) {
        if (pod->is_over() || pod->meta.deletion) continue;
        if (before == nullptr || before->ask != pod->ask) was_task = is_task(*pod->ask);
        before = pod;
        there += was_task ? 1 : 0;
    }
    if (gang.workload == nullptr)
        return {there, gang.is_owned ? std::max(there, job.tasks_max) : there};
    std::optional<int> said;
    const auto parts = gang.parts_wanted();
    for (const objects::Workload::Part& part : parts) {
        if (parts.size() == 1 || is_task(*part.ask)) said = said.value_or(0) + part.pods;
    }
    return {there, std::max(there, said.value_or(job.tasks_max))};
}

bool asks_alike(const model::JobSpec& job, int rank, const model::JobSpec& pod, Sizes sizes) {
    const model::Companion* companion = model::companion_of(job, rank);
    return companion == nullptr ? is_like(job, pod, sizes) : is_like(*companion, pod, sizes);
}

bool is_part_of(const model::JobSpec& job, const model::JobSpec& pod) {
    return is_like(job, pod) || std::ranges::any_of(job.companions, [&](const auto& companion) {
               return is_like(companion, pod);
           });
}

bool ask_alike(const model::JobSpec& one, const model::JobSpec& other) {
    return is_like(one, other) &&
           std::ranges::equal(one.companions, other.companions, [](const auto& a, const auto& b) {
               return a.count == b.count && is_like(a, b);
           });
}

}  // namespace berth::kube::cluster
