// SPDX-License-Identifier: Apache-2.0
#include "api/live/places.h"

#include <algorithm>
#include <vector>

namespace berth::api {
namespace {

constexpr Place kApart = 1 << 20;
constexpr Place kPlaceMax = Place{1} << 53;

// Which of them stay: the longest part of the sequence that rises (patience sorting: the last one
// of each length, and which one came before it).
std::vector<bool> those_that_stay(std::span<Place* const> in_order) {
    std::vector<std::size_t> ends;
    std::vector<std::size_t> before(in_order.size());
    for (std::size_t i = 0; i < in_order.size(); ++i) {
        if (*in_order[i] == 0) continue;
        const auto at = std::ranges::lower_bound(ends, *in_order[i], {},
                                                 [&](std::size_t end) { return *in_order[end]; });
        before[i] = at == ends.begin() ? i : *(at - 1);
        if (at == ends.end()) {
            ends.push_back(i);
        } else {
            *at = i;
        }
    }
    std::vector<bool> stays(in_order.size());
    if (ends.empty()) return stays;
    std::size_t i = ends.back();
    for (stays[i] = true; before[i] != i; stays[i] = true) i = before[i];
    return stays;
}

void begin_anew(std::span<Place* const> in_order) {
    Place place = 0;
    for (Place* const each : in_order) *each = place += kApart;
}

}  // namespace

void settle_places(std::span<Place* const> in_order) {
    const std::vector<bool> stays = those_that_stay(in_order);
    Place last = 0;
    for (std::size_t begin = 0; begin < in_order.size();) {
        std::size_t end = begin;
        while (end < in_order.size() && !stays[end]) ++end;
        const auto between = static_cast<Place>(end - begin) + 1;
        const Place apart = end < in_order.size() ? (*in_order[end] - last) / between : kApart;
        if (end > begin && (apart == 0 || last > kPlaceMax - kApart * between)) {
            return begin_anew(in_order);
        }
        for (; begin < end; ++begin) *in_order[begin] = last += apart;
        if (end < in_order.size()) last = *in_order[end];
        begin = end + 1;
    }
}

}  // namespace berth::api
