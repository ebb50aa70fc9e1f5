// SPDX-License-Identifier: Apache-2.0
#include "codec/api/api_shapes.h"

#include <bit>

namespace berth::codec {

TaskPlace shape_of(const model::TaskPlacement& task) {
    TaskPlace shape{task.task,       task.node,        {}, task.share, task.cpu, task.memory,
                    task.gpu_memory, task.memory_share};
    for (std::uint64_t mask = task.gpu_mask; mask != 0; mask &= mask - 1)
        shape.gpus.push_back(std::countr_zero(mask));
    return shape;
}

bool restore(const TaskPlace& shape, model::TaskPlacement& task) {
    task = {shape.task,       shape.node,        0, shape.share, shape.cpu, shape.memory,
            shape.gpu_memory, shape.memory_share};
    for (const int index : shape.gpus) {
        if (index < 0 || index >= model::kGpusPerNodeMax) return false;
        task.gpu_mask |= std::uint64_t{1} << index;
    }
    return true;
}

ProjectRights shape_of(const model::Entitlement& rights) {
    return {rights.quota,     rights.limit,        rights.cpu_quota, rights.memory_quota,
            rights.cpu_limit, rights.memory_limit, {rights.weight},  rights.priority,
            rights.kind,      {rights.usage_ppm}};
}

void restore(const ProjectRights& shape, model::Entitlement& rights) {
    rights = {shape.quota,     shape.limit,        shape.cpu_quota,    shape.memory_quota,
              shape.cpu_limit, shape.memory_limit, shape.weight.value, shape.priority,
              shape.kind,      shape.usage.value};
}

}  // namespace berth::codec
