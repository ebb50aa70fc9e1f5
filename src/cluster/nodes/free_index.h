// SPDX-License-Identifier: Apache-2.0
//
// Which node has exactly k whole GPUs free, and which shared GPU has least left?
// Nodes sit in one bitmap per free count, two levels deep, so that finding the next candidate and
// moving a node between counts cost a few instructions, whatever the size of the cluster.
// Shared GPUs are kept ordered by what is left of them. One index per pool and view.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "base/ids.h"
#include "base/quantity.h"
#include "base/sorted_runs.h"
#include "model/job/job.h"

namespace berth::cluster {

using base::NodeId;

// A set of node numbers with fast "first member from here on".
class NodeSet {
  public:
    void insert(NodeId node);
    void erase(NodeId node);
    void clear();  // keeps the memory
    // The first member that is `from` or later; not valid when there is none.
    NodeId next(NodeId from) const;
    int size() const { return size_; }

    // Over its members, in order.
    class Iterator {
      public:
        Iterator(const NodeSet& owner, NodeId node) : owner_(owner), node_(node) {}
        NodeId operator*() const { return node_; }
        Iterator& operator++() {
            node_ = owner_.next({node_.value + 1});
            return *this;
        }
        bool operator==(std::default_sentinel_t) const { return !node_.is_valid(); }

      private:
        const NodeSet& owner_;
        NodeId node_;
    };
    Iterator begin() const { return {*this, next({0})}; }
    std::default_sentinel_t end() const { return {}; }

  private:
    std::vector<std::uint64_t> words_;
    std::vector<std::uint64_t> summary_;  // bit w = words_[w] is not empty
    int size_ = 0;
};

// A GPU of whose compute a part is left.
struct PartialGpu {
    std::int32_t left = 0;  // thousandths of its compute and of its memory, added
    NodeId node;
    int gpu = 0;

    auto operator<=>(const PartialGpu&) const = default;
};

class FreeIndex {
  public:
    void insert(NodeId node, int whole_gpus) { by_count_[slot(whole_gpus)].insert(node); }
    void erase(NodeId node, int whole_gpus) { by_count_[slot(whole_gpus)].erase(node); }

    // Nodes with exactly `whole_gpus` GPUs entirely free, in node order.
    const NodeSet& nodes_with(int whole_gpus) const { return by_count_[slot(whole_gpus)]; }

    // How many GPUs are entirely free on one node at best, where no node has more than `count`.
    int free_together(int count) const {
        while (count > 0 && !nodes_with(count).next({0}).is_valid()) --count;
        return count;
    }

    // The one with least left first, then by node and GPU.
    const base::SortedRuns<PartialGpu>& partial() const { return partial_; }
    // What is left of all of them together.
    const model::GpuPart& in_parts() const { return in_parts_; }
    void insert(const PartialGpu& gpu, const model::GpuPart& free_part) {
        partial_.insert(gpu);
        in_parts_ = in_parts_ + free_part;
    }
    void erase(const PartialGpu& gpu, const model::GpuPart& free_part) {
        partial_.erase(gpu);
        in_parts_ = in_parts_ - free_part;
    }

    // An upper bound on how many tasks of `gpus` whole GPUs each fit: 9 additions at most for
    // nodes with 8 GPUs.
    std::int64_t slots(int gpus, int gpus_per_node_max) const;

  private:
    static std::size_t slot(int whole_gpus) { return static_cast<std::size_t>(whole_gpus); }

    std::array<NodeSet, model::kGpusPerNodeMax + 1> by_count_;
    base::SortedRuns<PartialGpu> partial_;
    model::GpuPart in_parts_;
};

}  // namespace berth::cluster
