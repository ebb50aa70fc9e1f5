// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/histogram.h"

#include <algorithm>
#include <cstddef>

namespace berth::kube::scheduler {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

// 2500000 us is "2.5".
std::string seconds(std::int64_t us) {
    std::string decimals = std::to_string(kMillion + us % kMillion).substr(1);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    return std::to_string(us / kMillion) + (decimals.empty() ? "" : "." + decimals);
}

std::int64_t in_us(std::chrono::nanoseconds time) {
    return std::chrono::ceil<std::chrono::microseconds>(time).count();
}

}  // namespace

void Histogram::add(std::chrono::nanoseconds time) {
    const auto bucket = std::ranges::lower_bound(kMostUs, in_us(time));
    ++counts_[static_cast<std::size_t>(bucket - kMostUs.begin())];
    sum_ += time;
}

void Histogram::add(const Histogram& other) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    sum_ += other.sum_;
}

void Histogram::append(std::string& text, std::string_view name) const {
    const std::string its(name);
    std::uint64_t until = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        until += counts_[i];
        const std::string most = i < kMostUs.size() ? seconds(kMostUs[i]) : "+Inf";
        text += its + "_bucket{le=\"" + most + "\"} " + std::to_string(until) + "\n";
    }
    text += its + "_sum " + seconds(in_us(sum_)) + "\n";
    text += its + "_count " + std::to_string(until) + "\n";
}

}  // namespace berth::kube::scheduler
