// SPDX-License-Identifier: Apache-2.0
//
// Strong identifiers: a JobId cannot be passed where a NodeId is wanted.
// JobId is what users see (1, 2, 3 ... never reused). The others are positions in the tables of
// one Cluster (cluster/cluster.h) and mean nothing outside it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace berth::base {

template <typename Tag, typename Int>
struct Id {
    using Rep = Int;
    Int value = kNone;

    static constexpr Int kNone = static_cast<Int>(-1);

    constexpr bool is_valid() const { return value != kNone; }
    constexpr std::size_t index() const { return static_cast<std::size_t>(value); }
    constexpr auto operator<=>(const Id&) const = default;
};

using JobId = Id<struct JobTag, std::int64_t>;
using NodeId = Id<struct NodeTag, std::uint32_t>;
using ProjectId = Id<struct ProjectTag, std::uint32_t>;
using PoolId = Id<struct PoolTag, std::uint32_t>;
using ShapeId = Id<struct ShapeTag, std::uint32_t>;
using DomainId = Id<struct DomainTag, std::uint32_t>;

}  // namespace berth::base

template <typename Tag, typename Int>
struct std::hash<berth::base::Id<Tag, Int>> {
    std::size_t operator()(berth::base::Id<Tag, Int> id) const noexcept {
        return std::hash<Int>{}(id.value);
    }
};
