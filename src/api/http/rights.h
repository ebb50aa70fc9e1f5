// SPDX-License-Identifier: Apache-2.0
//
// What may a user do who asks? Each address names the right it needs (contract/route_table.cc).
#pragma once

#include <cstdint>

namespace berth::api {

enum class Right : std::uint8_t {
    Anyone,   // nothing is asked of who may not be known: pages, probes, to sign in
    See,      // jobs, nodes, projects, and why a job waits
    Read,     // what jobs print, and whole commands
    Submit,
    Steer,    // pause, resume, cancel, move
    Cluster,  // nodes, pools, projects, policy
    Server,   // end it
};

class Rights {
  public:
    constexpr bool has(Right right) const {
        return right == Right::Anyone || (bits_ >> static_cast<unsigned>(right) & 1U) != 0;
    }
    constexpr Rights with(Right right) const {
        return Rights(bits_ | 1U << static_cast<unsigned>(right));
    }
    // What both have.
    constexpr Rights operator&(Rights other) const { return Rights(bits_ & other.bits_); }
    constexpr bool operator==(const Rights&) const = default;

    constexpr Rights() = default;

  private:
    constexpr explicit Rights(std::uint32_t bits) : bits_(bits) {}

    std::uint32_t bits_ = 0;
};

inline constexpr Rights kLookOnly = Rights().with(Right::See).with(Right::Read);
inline constexpr Rights kAllRights =
    kLookOnly.with(Right::Submit).with(Right::Steer).with(Right::Cluster).with(Right::Server);

}  // namespace berth::api
