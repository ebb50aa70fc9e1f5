// SPDX-License-Identifier: Apache-2.0
#include "cluster/nodes/node_counts.h"

#include <algorithm>

namespace berth::cluster {
namespace {

constexpr std::uint64_t bit(NodeId node) { return std::uint64_t{1} << (node.index() % 64); }

}  // namespace

int NodeCounts::at(NodeId node) const {
    const std::size_t word = node.index() / kWordBits;
    int count = 0;
    if (word >= words()) return count;
    for (std::size_t digit = digits_.size(); digit-- > 0;) {
        count = 2 * count + ((digits_[digit][word] & bit(node)) != 0 ? 1 : 0);
    }
    return count;
}

void NodeCounts::set(NodeId node, int count) {
    const std::size_t word = node.index() / kWordBits;
    const auto number = static_cast<unsigned>(count);
    cover(word + 1, static_cast<std::size_t>(std::bit_width(number)));
    for (std::size_t digit = 0; digit < digits_.size(); ++digit) {
        std::uint64_t& nodes = digits_[digit][word];
        nodes = (number >> digit & 1) != 0 ? nodes | bit(node) : nodes & ~bit(node);
    }
}

void NodeCounts::add(const NodeCounts& other) {
    by_digit(other, [](std::uint64_t& nodes, std::uint64_t more, std::uint64_t& carry) {
        const std::uint64_t before = nodes;
        nodes = before ^ more ^ carry;
        carry = (before & more) | (carry & (before ^ more));
    });
}

void NodeCounts::subtract(const NodeCounts& other) {
    by_digit(other, [](std::uint64_t& nodes, std::uint64_t less, std::uint64_t& borrow) {
        const std::uint64_t before = nodes;
        nodes = before ^ less ^ borrow;
        borrow = (~before & (less | borrow)) | (less & borrow);
    });
}

// As on paper, for all nodes at once; as long as the other one has digits, or any carry is left.
void NodeCounts::by_digit(const NodeCounts& other, auto&& combine) {
    const std::size_t words = other.words();
    cover(words, other.digits_.size());
    carry_.assign(words, 0);
    for (std::size_t digit = 0; digit < other.digits_.size(); ++digit) {
        Digit& nodes = digits_[digit];
        const Digit& others = other.digits_[digit];
        for (std::size_t word = 0; word < words; ++word) {
            combine(nodes[word], others[word], carry_[word]);
        }
    }
    const auto any = [](std::uint64_t nodes) { return nodes != 0; };
    for (std::size_t digit = other.digits_.size(); std::ranges::any_of(carry_, any); ++digit) {
        cover(words, digit + 1);
        for (std::size_t word = 0; word < words; ++word) {
            combine(digits_[digit][word], 0, carry_[word]);
        }
    }
}

std::int64_t NodeCounts::nodes_with(int least) const {
    std::int64_t nodes = 0;
    for (std::size_t word = 0; word < words(); ++word) nodes += std::popcount(with(least, word));
    return nodes;
}

// The nodes of a word that have `least` or more: by the first digit, from the highest, in which
// they differ from it.
std::uint64_t NodeCounts::with(int least, std::size_t word) const {
    const auto number = static_cast<unsigned>(least);
    if (static_cast<std::size_t>(std::bit_width(number)) > digits_.size()) return 0;
    std::uint64_t more = 0;
    std::uint64_t equal = ~std::uint64_t{0};
    for (std::size_t digit = digits_.size(); digit-- > 0;) {
        const std::uint64_t nodes = digits_[digit][word];
        if ((number >> digit & 1) != 0) {
            equal &= nodes;
        } else {
            more |= equal & nodes;
            equal &= ~nodes;
        }
    }
    return more | equal;
}

void NodeCounts::cover(std::size_t words, std::size_t digits) {
    words = std::max(words, this->words());
    digits_.resize(std::max({digits_.size(), digits, std::size_t{1}}));
    for (Digit& digit : digits_) digit.resize(words);
}

}  // namespace berth::cluster
