// SPDX-License-Identifier: Apache-2.0
//
// What is known of a job from having seen it run alone for a while? Times are of one iteration, on
// each of the resources it needs one after the other; shares are of each GPU it holds. A trace
// tells them in columns of these names, whatever its format:
//
//   iteration_time, resource_time_0, resource_time_1, resource_time_2   as Muri's traces do: the
//       whole iteration; input (storage, then CPU), GPU, network; milliseconds
//   sm_percent, memory_percent
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"

namespace berth::simulation {

struct Profile {
    static constexpr std::int32_t kUnknown = -1;

    double iteration_ms = 0;  // 0: the stages are not known
    double input_ms = 0;      // storage, then CPU
    double gpu_ms = 0;
    double network_ms = 0;
    std::int32_t sm_percent = kUnknown;
    std::int32_t memory_percent = kUnknown;

    bool has_stages() const { return iteration_ms > 0; }
    auto operator<=>(const Profile&) const = default;
};

// Where the columns are.
class ProfileColumns {
  public:
    explicit ProfileColumns(std::span<const std::string_view> header);

    // Empty cells are not known. Errors: Invalid, what is wrong, without the place.
    base::Result<Profile> read(std::span<const std::string_view> row) const;

  private:
    static constexpr std::size_t kColumns = 6;

    std::array<std::optional<std::size_t>, kColumns> places_;
};

}  // namespace berth::simulation
