// SPDX-License-Identifier: Apache-2.0
//
// What the hardware is: nodes with GPUs, grouped into pools by label.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "model/node/gpu_links.h"
#include "model/node/node_filter.h"
#include "model/node/resources.h"

namespace berth::model {

using base::Bytes;
using base::Duration;
using base::MilliCpu;
using base::MilliGpu;
using base::TimePoint;

enum class NodeHealth : std::uint8_t {
    Ready,    // takes work
    Drained,  // an administrator lets running work finish and sends none
    Down,     // does not answer, or its GPUs failed
};

inline constexpr int kGpusPerNodeMax = 64;

// What nodes stand in, outermost first, and the innermost level of all: the node itself.
using Levels = std::vector<std::string>;
inline constexpr const char* kNodeLevel = "node";
inline constexpr std::size_t kLevelsMax = 8;
inline Levels default_levels() { return {"zone", "block", "rack"}; }

// What work that is no project's takes of a node: pods of other schedulers, DaemonSets, static
// pods, processes of people.
struct OthersUse {
    MilliCpu cpu{0};
    Bytes memory{0};  // of the host
    int gpus = 0;     // whole ones; more than are free, perhaps, where two schedulers race
    // Which of the node's GPUs, at most `gpus` of them; the rest is chosen of the free ones.
    std::vector<int> gpu_indices = {};
    Resources resources = {};  // of those that the node says

    bool operator==(const OthersUse&) const = default;
};

struct Node {
    std::string name;
    int gpus = 0;                      // at most kGpusPerNodeMax
    std::string gpu_model;             // "H100"; empty = not said
    Bytes gpu_memory{0};               // of one GPU; 0 = not said
    Bytes gpu_reserved{0};             // of that, what the driver keeps for itself
    Bytes gpu_context{0};  // what each task's driver context takes of each GPU it shares
    std::optional<MilliCpu> cpu;       // none = not accounted
    std::optional<Bytes> memory;       // host memory; none = not accounted
    Labels labels;
    // Level -> domain, for example rack -> r7; others are read from the label of that name.
    Labels topology;
    GpuLinks gpu_links;
    std::vector<Taint> taints;
    // Why shares of its GPUs cannot be kept, and what to do, in words; empty = they can. Then its
    // GPUs are given whole, to jobs that ask for whole ones.
    std::string shares_lack;
    NodeHealth health = NodeHealth::Ready;
    OthersUse others = {};
    Resources resources = {};  // beside GPUs, CPU and memory; what is not said it has not

    bool operator==(const Node&) const = default;
};

inline constexpr std::int64_t kExchangeMax = 1'000'000;

// A pool is the set of nodes that carry all of its labels. A node belongs to the first pool, in
// order of declaration, that it matches, else to kDefaultPool.
struct Pool {
    std::string name;
    Labels labels;
    // What one GPU of a model counts as in quotas, limits and fair shares, in thousandths; models
    // not named, and all where this is empty, count as one. More than 0, at most kExchangeMax.
    std::map<std::string, std::int64_t> exchange;
    // A pool whose idle nodes take the place of nodes of this one that are not ready; these become
    // spares. Empty: no node takes their place. It has no spares of its own.
    std::string spares = {};
    // A job's share of a GPU here is also the most that it gets of the GPU's time.
    bool strict_shares = false;

    bool operator==(const Pool&) const = default;
};

// Where a node stands that belongs to another pool by its labels.
struct NodePlace {
    std::string node;
    std::string pool;
    // It stays there, in the place of another node or as a spare, for as long as its labels say
    // what they say now; else it goes where they say once nothing runs on it.
    bool is_bound = false;

    bool operator==(const NodePlace&) const = default;
};

inline constexpr const char* kDefaultPool = "default";

}  // namespace berth::model
