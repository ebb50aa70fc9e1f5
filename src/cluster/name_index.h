// SPDX-License-Identifier: Apache-2.0
//
// Which entry of a table has this name? Holds positions only, 6 to 11 bytes an entry: the names
// stay where they are, and `name_at(position)` reads them.
//
// Trusts: an entry keeps its name and position. Nothing is decided by the order inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace berth::cluster {

class NameIndex {
  public:
    static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

    template <typename NameAt>
    std::uint32_t find(std::string_view name, NameAt&& name_at) const {
        if (slots_.empty()) return kNone;
        std::size_t slot = first_slot(name);
        while (slots_[slot] != kNone && name_at(slots_[slot]) != name) slot = after(slot);
        return slots_[slot];
    }

    // The name is not yet there.
    template <typename NameAt>
    void insert(std::uint32_t position, NameAt&& name_at) {
        if (4 * (size_ + 1) > 3 * slots_.size()) {
            std::vector<std::uint32_t> old(slots_.empty() ? 16 : 2 * slots_.size(), kNone);
            old.swap(slots_);
            for (const std::uint32_t known : old) {
                if (known != kNone) put(known, name_at(known));
            }
        }
        put(position, name_at(position));
        ++size_;
    }

  private:
    std::size_t after(std::size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
    std::size_t first_slot(std::string_view name) const {
        std::uint64_t hash = 14695981039346656037U;  // FNV-1a
        for (const char letter : name) {
            hash = (hash ^ static_cast<unsigned char>(letter)) * 1099511628211U;
        }
        return static_cast<std::size_t>(hash ^ hash >> 32) & (slots_.size() - 1);
    }
    void put(std::uint32_t position, std::string_view name) {
        std::size_t slot = first_slot(name);
        while (slots_[slot] != kNone) slot = after(slot);
        slots_[slot] = position;
    }

    std::vector<std::uint32_t> slots_;  // a power of two
    std::size_t size_ = 0;
};

}  // namespace berth::cluster
