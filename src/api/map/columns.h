// SPDX-License-Identifier: Apache-2.0
//
// How is a map written? A header in JSON, then columns, little endian: 8 bytes a GPU, which come to
// half a byte when they are gzipped, for neighbours are alike.
//
//   u32 bytes of the header, with the spaces behind it that make what follows divisible by four
//   {"topology":ETAG,"gpus":G,"nodes":N,"shared":S,"projects":[NAME],"uses":[NAME],
//    "sentences":[TEXT],"simulated":BOOL}
//   u32 shared_gpu[S]  u32 shared_job[S]                          0 = no job
//   u16 project[G]  u16 shared_project[S]  u16 shared_amount[S]   65535 = none; thousandths
//   u8 job[4][G]  u8 use[G]  u8 busy[G]  u8 memory[G]  u8 shared_use[S]  u8 node[N]
// `job` is the difference to the GPU before, modulo 2^32, its lowest byte of all GPUs first: what
// is alike lies side by side. `use` is a position in "uses"; `busy` and `memory` are in 16 steps,
// 255 = not measured; `node` is a NodeCondition. Of a GPU that is shared, job, project and use are
// those of its largest part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/map/activity.h"
#include "overview/gpu_map.h"
#include "overview/overview.h"

namespace berth::api {

enum class NodeCondition : std::uint8_t { Ready, Drained, Down, Leaving };  // leaving its pool

// All that the picture is made of, so that it can be made elsewhere than where decisions are.
struct MapScene {
    std::shared_ptr<const Topology> topology;
    overview::GpuMap map;
    overview::GpuCounts counts;
    std::vector<std::string> projects;  // by id
    std::vector<NodeCondition> nodes;
    bool is_simulated = false;
    base::TimePoint now;
};

MapScene scene_of(const lifecycle::State& state, std::shared_ptr<const Topology> topology,
                  base::TimePoint now);
std::string map_columns(const MapScene& scene, const Activity& activity);

}  // namespace berth::api
