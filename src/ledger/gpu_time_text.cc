// SPDX-License-Identifier: Apache-2.0
#include "ledger/gpu_time_text.h"

namespace berth::ledger {
namespace {

__extension__ using WideTime = __int128;

constexpr std::int64_t kMilliGpuSecond = INT64_C(1'000'000);

std::string grouped(std::int64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return digits;
}

}  // namespace

GpuTimeUnit::GpuTimeUnit(std::int64_t most) {
    constexpr std::int64_t kMinute = 60 * kMilliGpuSecond;
    constexpr std::int64_t kHour = 60 * kMinute;
    constexpr std::int64_t kEnough = 10;  // of a unit, for it to be used
    if (most >= kEnough * kHour) {
        title_ = "GPU H";
        words_ = "GPU hours";
        unit_ = kHour;
    } else if (most >= kEnough * kMinute) {
        title_ = "GPU MIN";
        words_ = "GPU minutes";
        unit_ = kMinute;
    } else {
        title_ = "GPU S";
        words_ = "GPU seconds";
        unit_ = kMilliGpuSecond;
    }
}

std::string GpuTimeUnit::text(std::int64_t milli_gpu_ms) const {
    const std::int64_t tenths = (milli_gpu_ms + unit_ / 20) / (unit_ / 10);
    return grouped(tenths / 10) + "." + std::to_string(tenths % 10);
}

std::string GpuTimeUnit::said(std::int64_t milli_gpu_ms) const {
    constexpr std::int64_t kNoTenths = 100;  // of a unit
    const bool is_whole = milli_gpu_ms >= kNoTenths * unit_;
    return (is_whole ? grouped((milli_gpu_ms + unit_ / 2) / unit_) : text(milli_gpu_ms)) + " " +
           std::string(words_);
}

std::string part_text(std::int64_t part, std::int64_t whole) {
    if (part == 0 || whole == 0) return "0 %";
    const auto percent =
        static_cast<std::int64_t>((WideTime{part} * 200 + whole) / (WideTime{whole} * 2));
    if (percent == 0) return "<1 %";
    if (percent == 100 && part < whole) return ">99 %";
    return std::to_string(percent) + " %";
}

}  // namespace berth::ledger
