// SPDX-License-Identifier: Apache-2.0
#include "model/job/companions.h"

#include <algorithm>
#include <vector>

namespace berth::model {

int companions(const JobSpec& spec) {
    int sum = 0;
    for (const Companion& kind : spec.companions) sum += kind.count;
    return sum;
}

const Companion* companion_of(const JobSpec& spec, int rank) {
    rank -= spec.tasks_max;
    if (rank < 0) return nullptr;
    for (const Companion& kind : spec.companions) {
        if (rank < kind.count) return &kind;
        rank -= kind.count;
    }
    return nullptr;
}

const TaskRequest& request_of(const JobSpec& spec, int rank) {
    const Companion* companion = companion_of(spec, rank);
    return companion == nullptr ? spec.request : companion->request;
}

bool has_two_gpu_requests(const JobSpec& spec) {
    return std::ranges::any_of(spec.companions,
                               [](const Companion& kind) { return kind.request.gpus > 0; });
}

namespace {

// "1 GPU", "2 H100 GPUs", "0.5 of a T4 GPU", "0.5 of each of 2 GPUs".
std::string format_gpus(const TaskRequest& request, const std::string& gpu_model) {
    const bool is_one = request.gpus == 1;
    const std::string what = (gpu_model.empty() ? "" : gpu_model + " ") + (is_one ? "GPU" : "GPUs");
    const std::string number = std::to_string(request.gpus) + " ";
    if (request.is_whole()) return number + what;
    return base::format(request.share) + (is_one ? " of a " : " of each of " + number) + what;
}

// What of the GPUs that it asks for is not for companions; empty where nothing is.
std::string refused_of_gpus(const JobSpec& spec, const Companion& kind) {
    if (kind.request.gpu_memory != Bytes{0} || kind.request.gpu_memory_max != Bytes{0})
        return "a companion asks for whole GPUs or a share of one, not for memory of a GPU";
    if (kind.request.gpus == 0)
        return kind.gpu_model.empty() ? "" : "names a GPU model and asks for no GPU";
    if (spec.request.gpus == 0)
        return "asks for GPUs and the tasks of the job for none; make these the tasks";
    return "";
}

}  // namespace

std::string format_request(const TaskRequest& request, const std::string& gpu_model) {
    std::vector<std::string> parts;
    if (request.gpus > 0) parts.push_back(format_gpus(request, gpu_model));
    if (request.cpu) {
        parts.push_back(base::format(*request.cpu) +
                        (*request.cpu == MilliCpu{1000} ? " CPU" : " CPUs"));
    }
    if (request.memory) parts.push_back(base::format(*request.memory) + " of memory");
    for (const auto& [name, amount] : request.resources) {
        parts.push_back(format_resource(name, amount));
    }
    if (parts.empty()) return "nothing that is counted";
    std::string text = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) {
        text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
    }
    return text;
}

base::Status check_companions(const JobSpec& spec) {
    if (spec.companions.size() > kCompanionKindsMax) {
        return base::invalid("wanted at most " + std::to_string(kCompanionKindsMax) +
                             " kinds, found " + std::to_string(spec.companions.size()));
    }
    std::int64_t sum = 0;
    for (const Companion& kind : spec.companions) {
        const std::string of = "\"" + kind.name + "\": ";
        if (kind.count < 1) {
            return base::invalid(of + "wanted a count of 1 or more, found " +
                                 std::to_string(kind.count));
        }
        if (const std::string refused = refused_of_gpus(spec, kind); !refused.empty())
            return base::invalid(of + refused);
        if (std::ranges::count(spec.companions, kind.name, &Companion::name) > 1) {
            return base::invalid(of + "another kind has the same name");
        }
        sum += kind.count;
    }
    if (sum <= kCompanionsMax) return {};
    return base::invalid("wanted at most " + std::to_string(kCompanionsMax) + " in all, found " +
                         std::to_string(sum));
}

}  // namespace berth::model
