// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/tenants.h"

#include <algorithm>
#include <map>

namespace berth::gpu_shares {
namespace {

constexpr std::int64_t kTermsMebibyte = std::int64_t{1} << 20;

struct Part {
    base::MilliGpu share{0};
    std::int64_t memory = 0;  // bytes; negative = no limit
    std::int64_t most = 0;    // what it may borrow up to
    base::MilliGpu cap{0};
};

bool is_measured(const ports::LaunchOrder& order) {
    return order.may_share || std::ranges::find(order.spec.environment, "BERTH_PROFILE=1") !=
                                  order.spec.environment.end();
}

bool is_whole(const ports::TaskLaunch& task) { return task.share >= base::kWholeGpu; }

bool shares(const ports::LaunchOrder& order, const ports::TaskLaunch& task) {
    return !task.gpu_indices.empty() && (!is_whole(task) || is_measured(order));
}

bool is_of_tenant(const ports::LaunchOrder& order, const ports::TaskLaunch& task) {
    return shares(order, task) || (order.park_after && !task.gpu_indices.empty());
}

base::Result<const Gpu*> find(const std::vector<Gpu>& gpus, const std::string& node, int index) {
    const auto found = std::ranges::find_if(
        gpus, [&](const Gpu& gpu) { return gpu.node == node && gpu.index == index; });
    if (found != gpus.end()) return &*found;
    return base::fail(base::ErrorCode::Unavailable, "GPU " + std::to_string(index) + " of node \"" +
                                                        node + "\" has no known identity");
}

tl::unexpected<base::Error> exclusive(const Gpu& gpu) {
    return base::fail(base::ErrorCode::Unavailable,
                      "GPU " + std::to_string(gpu.index) + " of node \"" + gpu.node +
                          "\" takes one process at a time (its compute mode); "
                          "`nvidia-smi -c DEFAULT` lets jobs share it");
}

void add(Part& part, const ports::TaskLaunch& task, const Gpu& gpu) {
    part.share += task.share;
    const std::int64_t by_share = gpu.memory.value * task.share.value / 1000;
    const std::int64_t memory = task.gpu_memory.value > 0 ? task.gpu_memory.value : by_share;
    part.memory = memory == 0 || is_whole(task) ? -1 : part.memory + memory;
    part.most += std::max(memory, task.gpu_memory_max.value);
    part.cap += task.cap > base::MilliGpu{0} ? task.cap : base::kWholeGpu;
}

// "12288M", or "12288M..20480M/81920M" where it may borrow; "none" = no limit.
std::string memory_text(const Part& part, const Gpu& gpu) {
    if (part.memory < 0) return "none";
    const auto text = [](std::int64_t bytes) {
        return std::to_string(bytes / kTermsMebibyte) + "M";
    };
    const std::int64_t most = std::min(part.most, gpu.memory.value);
    if (most <= part.memory) return text(part.memory);
    return text(part.memory) + ".." + text(most) + "/" + text(gpu.memory.value);
}

// " gpus=... share=... cap=...": what a change of its request changes.
std::string terms(const std::map<const Gpu*, Part>& parts) {
    std::string list;
    base::MilliGpu share{0};
    base::MilliGpu cap{1};
    for (const auto& [gpu, part] : parts) {
        list += (list.empty() ? "" : ",") + gpu->uuid + ":" + memory_text(part, *gpu);
        share = std::max(share, std::min(part.share, base::kWholeGpu));
        cap = std::max(cap, std::min(part.cap, base::kWholeGpu));
    }
    // A cap below the share that follows from memory is that share.
    return " gpus=" + list + " share=" + base::format(share) +
           " cap=" + base::format(std::max(share, cap));
}

std::string fixed_terms(const std::map<const Gpu*, Part>& parts, model::JobKind kind) {
    base::Bytes context{0};
    for (const auto& [gpu, part] : parts) context = std::max(context, gpu->context);
    return " context=" + std::to_string(context.value / kTermsMebibyte) +
           "M priority=" + (kind == model::JobKind::Train ? "0" : "1");
}

// It sees all memory that those in its rotation may have, and has it in its turns. What jobs like
// it took says who fits beside it before its own iterations are known.
Tenant in_rotation(const ports::LaunchOrder& order, Tenant tenant, const Gpu& gpu) {
    tenant.rotation = gpu.uuid;
    tenant.rotation_memory = gpu.memory;
    tenant.order = "tenant " + tenant.name + " gpus=" + gpu.uuid +
                   " context=" + std::to_string(gpu.context.value / kTermsMebibyte) +
                   "M rotation=" + gpu.uuid;
    if (!order.profile || order.profile->iterations == 0) return tenant;
    const auto amount = [](base::Bytes bytes) {
        return std::to_string(bytes.value / kTermsMebibyte + 1) + "M";
    };
    tenant.order +=
        " persistent=" + amount(order.profile->persistent) + " peak=" + amount(order.profile->peak);
    return tenant;
}

}  // namespace

void name_devices(ports::LaunchOrder& order, const std::vector<Gpu>& gpus) {
    for (ports::TaskLaunch& task : order.tasks) {
        for (const int index : task.gpu_indices) {
            const auto gpu = find(gpus, task.node, index);
            if (!gpu || (*gpu)->visible_as.empty()) continue;
            task.visible_devices += (task.visible_devices.empty() ? "" : ",") + (*gpu)->visible_as;
        }
    }
}

bool shares(const ports::LaunchOrder& order) {
    return std::ranges::any_of(order.tasks, [&](const auto& task) { return shares(order, task); });
}

bool has_tenants(const ports::LaunchOrder& order) {
    return std::ranges::any_of(order.tasks,
                               [&](const auto& task) { return is_of_tenant(order, task); });
}

std::string name_of(ports::AttemptId attempt) {
    return std::to_string(attempt.job.value) + "." + std::to_string(attempt.attempt);
}

base::Result<std::vector<Tenant>> tenants_of(const ports::LaunchOrder& order,
                                             const std::vector<Gpu>& gpus) {
    std::map<std::string, std::map<const Gpu*, Part>> nodes;
    for (const ports::TaskLaunch& task : order.tasks) {
        if (!is_of_tenant(order, task)) continue;
        for (const int index : task.gpu_indices) {
            BERTH_TRY(gpu, find(gpus, task.node, index));
            if (gpu->takes_one_process && !is_whole(task)) return exclusive(*gpu);
            add(nodes[task.node][gpu], task, *gpu);
        }
    }
    std::vector<Tenant> tenants;
    for (const auto& [node, parts] : nodes) {
        const std::string name = name_of(order.attempt) + "." + std::to_string(tenants.size());
        Tenant tenant{name, node, "tenant " + name + terms(parts) + fixed_terms(parts, order.kind)};
        tenant.may_leave =
            order.park_after || std::ranges::any_of(parts, [](const auto& part) {
                return part.second.memory >= 0 && part.second.most > part.second.memory;
            });
        if (order.park_after)
            tenant.order += " park=" + std::to_string(order.park_after->count()) + "ms";
        for (const auto& [gpu, part] : parts)
            tenant.gpus += (tenant.gpus.empty() ? "" : ",") + gpu->uuid;
        const Gpu& first = *parts.begin()->first;
        if (order.may_share && first.memory.value > 0) {
            tenants.push_back(in_rotation(order, std::move(tenant), first));
            continue;
        }
        for (const auto& [gpu, part] : parts) {
            tenant.limits.push_back({gpu->pci_address, base::Bytes{part.memory}});
            tenant.share = std::max(tenant.share, std::min(part.share, base::kWholeGpu));
        }
        tenants.push_back(std::move(tenant));
    }
    return tenants;
}

base::Result<std::map<std::string, std::string>> changed_terms(
    std::span<const ports::TaskLaunch> tasks, const std::vector<Gpu>& gpus) {
    std::map<std::string, std::map<const Gpu*, Part>> nodes;
    for (const ports::TaskLaunch& task : tasks) {
        for (const int index : task.gpu_indices) {
            BERTH_TRY(gpu, find(gpus, task.node, index));
            add(nodes[task.node][gpu], task, *gpu);
        }
    }
    std::map<std::string, std::string> changed;
    for (const auto& [node, parts] : nodes) changed[node] = terms(parts);
    return changed;
}

std::string with_terms(std::string_view order, std::string_view terms) {
    std::map<std::string_view, std::string_view> anew;
    const auto words_of = [](std::string_view text, auto&& visit) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            if (end > at) visit(text.substr(at, end - at));
            at = end + 1;
        }
    };
    const auto key_of = [](std::string_view word) { return word.substr(0, word.find('=')); };
    words_of(terms, [&](std::string_view word) { anew[key_of(word)] = word; });
    std::string text;
    words_of(order, [&](std::string_view word) {
        if (anew.contains(key_of(word))) return;
        text += (text.empty() ? "" : " ") + std::string(word);
    });
    for (const auto& [key, word] : anew) text += " " + std::string(word);
    return text;
}

}  // namespace berth::gpu_shares
