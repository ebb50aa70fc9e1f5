// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/free_index.h"

#include <algorithm>
#include <bit>

namespace berth::cluster {
namespace {

constexpr std::size_t kWordBits = 64;

constexpr std::uint64_t bit(std::size_t position) {
    return std::uint64_t{1} << (position % kWordBits);
}

// The bits at `position` and above within its word.
constexpr std::uint64_t from_bit(std::size_t position) {
    return ~std::uint64_t{0} << (position % kWordBits);
}

}  // namespace

void NodeSet::insert(NodeId node) {
    const std::size_t word = node.index() / kWordBits;
    if (word >= words_.size()) {
        words_.resize(word + 1);
        summary_.resize(word / kWordBits + 1);
    }
    if ((words_[word] & bit(node.index())) != 0) return;
    words_[word] |= bit(node.index());
    summary_[word / kWordBits] |= bit(word);
    ++size_;
}

void NodeSet::erase(NodeId node) {
    const std::size_t word = node.index() / kWordBits;
    if (word >= words_.size() || (words_[word] & bit(node.index())) == 0) return;
    words_[word] &= ~bit(node.index());
    if (words_[word] == 0) summary_[word / kWordBits] &= ~bit(word);
    --size_;
}

void NodeSet::clear() {
    std::ranges::fill(words_, 0);
    std::ranges::fill(summary_, 0);
    size_ = 0;
}

NodeId NodeSet::next(NodeId from) const {
    const std::size_t first = from.index() / kWordBits;
    if (size_ == 0 || first >= words_.size()) return {};
    const auto id = [](std::size_t word, std::uint64_t bits) {
        return NodeId{static_cast<NodeId::Rep>(word * kWordBits +
                                               static_cast<std::size_t>(std::countr_zero(bits)))};
    };
    if (const std::uint64_t bits = words_[first] & from_bit(from.index()); bits != 0) {
        return id(first, bits);
    }
    const std::size_t second = first + 1;
    for (std::size_t block = second / kWordBits; block < summary_.size(); ++block) {
        std::uint64_t words = summary_[block];
        if (block == second / kWordBits) words &= from_bit(second);
        if (words != 0) {
            const std::size_t word =
                block * kWordBits + static_cast<std::size_t>(std::countr_zero(words));
            return id(word, words_[word]);
        }
    }
    return {};
}

std::int64_t FreeIndex::slots(int gpus, int gpus_per_node_max) const {
    std::int64_t total = 0;
    for (int count = gpus; count <= gpus_per_node_max; ++count) {
        total += std::int64_t{by_count_[slot(count)].size()} * (count / gpus);
    }
    return total;
}

}  // namespace berth::cluster
