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

std::string format_request(const TaskRequest& request) {
    std::vector<std::string> parts;
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
        if (kind.request.gpus != 0 || kind.request.gpu_memory != Bytes{0} ||
            kind.request.gpu_memory_max != Bytes{0}) {
            return base::invalid(of + "a companion asks for no GPU; make it a task of the gang");
        }
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
