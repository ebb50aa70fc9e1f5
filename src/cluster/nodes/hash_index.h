// SPDX-License-Identifier: Apache-2.0
//
// Which entry of a table is this? Holds positions only, 6 to 11 bytes an entry: the entries stay
// where they are. `is_it(position)` says whether one is the entry that is looked for, and
// `hash_at(position)` what was put in as its hash.
//
// Trusts: an entry keeps its hash and position. Nothing is decided by the order inside.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.h"

namespace berth::cluster {

class HashIndex {
  public:
    static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

    template <typename IsIt>
    std::uint32_t find(std::uint64_t hash, IsIt&& is_it) const {
        if (slots_.empty()) return kNone;
        std::size_t slot = first_slot(hash);
        while (slots_[slot] != kNone && !is_it(slots_[slot])) slot = after(slot);
        return slots_[slot];
    }

    // The entry is not yet there.
    template <typename HashAt>
    void insert(std::uint32_t position, HashAt&& hash_at) {
        if (4 * (size_ + 1) > 3 * slots_.size()) {
            std::vector<std::uint32_t> old(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
            old.swap(slots_);
            for (const std::uint32_t known : old) {
                if (known != kNone) put(known, hash_at(known));
            }
        }
        put(position, hash_at(position));
        ++size_;
    }

    // Keeps the memory, but half of it where little of it was in use.
    void clear() {
        if (16 * size_ < slots_.size() && slots_.size() > 16) slots_.resize(slots_.size() / 2);
        std::ranges::fill(slots_, kNone);
        size_ = 0;
    }

  private:
    std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
    std::size_t first_slot(std::uint64_t hash) const {
        return static_cast<std::size_t>(hash ^ hash >> 32) & (slots_.size() - 1);
    }
    void put(std::uint32_t position, std::uint64_t hash) {
        std::size_t slot = first_slot(hash);
        while (slots_[slot] != kNone) slot = after(slot);
        slots_[slot] = position;
    }

    std::vector<std::uint32_t> slots_;  // a power of two
    std::size_t size_ = 0;
};

}  // namespace berth::cluster
