// SPDX-License-Identifier: Apache-2.0
//
// Amounts as integers, so that sums are exact and equal on every machine:
//   MilliGpu  1000 = one whole GPU        MilliCpu  1000 = one core        Bytes
// and their decimal text: "0.5", "2", "80G", "64Mi", "90s". docs/adr/0002 says why.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::base {

template <typename Tag>
struct Quantity {
    std::int64_t value = 0;

    constexpr auto operator<=>(const Quantity&) const = default;
    constexpr Quantity operator+(Quantity other) const { return {value + other.value}; }
    constexpr Quantity operator-(Quantity other) const { return {value - other.value}; }
    constexpr Quantity operator*(std::int64_t factor) const { return {value * factor}; }
    constexpr Quantity operator-() const { return {-value}; }
    constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
    constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
};

using MilliGpu = Quantity<struct MilliGpuTag>;
using MilliCpu = Quantity<struct MilliCpuTag>;
using Bytes = Quantity<struct BytesTag>;

inline constexpr MilliGpu kWholeGpu{1000};

// Whole GPUs as an amount.
constexpr MilliGpu gpus(std::int64_t count) { return {count * 1000}; }

// Time. The core never reads a clock: every decision is handed a TimePoint.
using Duration = std::chrono::milliseconds;
struct Timeline {};  // a clock without now(): only adapters/system_clock can make the present
using TimePoint = std::chrono::time_point<Timeline, Duration>;

constexpr TimePoint at_ms(std::int64_t since_epoch_ms) {
    return TimePoint{Duration{since_epoch_ms}};
}
constexpr std::int64_t to_ms(TimePoint time) { return time.time_since_epoch().count(); }

// Reads a non-negative decimal with at most three places as thousandths: "0.5" -> 500.
// Errors: Invalid, saying what was found.
Result<std::int64_t> parse_thousandths(std::string_view text);

// Reads bytes: "1024", "80G" (GiB, as GPU vendors count), "80Gi", "512M", "1.5T".
Result<Bytes> parse_bytes(std::string_view text);

// Reads "250ms", "90s", "5m", "2h", "1d" or a sum such as "1h30m"; "0" is allowed bare.
Result<Duration> parse_duration(std::string_view text);

// Writes thousandths without trailing zeros: 1500 -> "1.5", 2000 -> "2".
std::string format_thousandths(std::int64_t thousandths);
std::string format(MilliGpu amount);
// With its unit: "1 GPU", "2.5 GPUs".
std::string format_gpus(MilliGpu amount);
std::string format(MilliCpu amount);
// Writes the largest binary unit, to one decimal, rounded down: "80G", "1.5G", "512M".
std::string format(Bytes amount);
// Writes at most two units: "0s", "250ms", "1m30s", "3h12m", "2d4h".
std::string format(Duration duration);

}  // namespace berth::base
