// SPDX-License-Identifier: Apache-2.0
//
// How near are the GPUs of one node to each other, and to the network? As far as is known:
// every list is empty or has one entry a GPU.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace berth::model {

struct GpuLinks {
    std::vector<int> numa;            // NUMA node; -1 = not known
    std::vector<int> islands;         // NVLink island, else PCIe switch; -1 = not known
    std::vector<int> nics;            // the network card beside it; -1 = none of its own
    // Rows as `nvidia-smi topo -m` prints them, the columns of the GPUs: "X NV18 PIX SYS".
    std::vector<std::string> matrix;

    bool operator==(const GpuLinks&) const = default;
    bool is_known() const { return !numa.empty() || !islands.empty() || !matrix.empty(); }
};

// How near each pair is, row by row: larger is nearer, 0 across the node. The matrix decides where
// there is one, else sharing an island, else sharing a NUMA node. Errors: Invalid, naming the list
// that has not one entry for each GPU, or the word of the matrix.
base::Result<std::vector<int>> nearness(const GpuLinks& links, int gpus);

}  // namespace berth::model
