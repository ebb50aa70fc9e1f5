// SPDX-License-Identifier: Apache-2.0
#include "ledger/places.h"

#include <algorithm>
#include <array>

namespace berth::ledger {
namespace {

constexpr std::array<GpuUse, 6> kOfNoJob{GpuUse::Reserved,       GpuUse::BlockedByRoom,
                                         GpuUse::BlockedByRules, GpuUse::Free,
                                         GpuUse::Others,         GpuUse::Unhealthy};

}  // namespace

bool Places::moves(NodeId id, const NodeGpus& gpus) const {
    if (nodes_.size() <= id.index() || !nodes_[id.index()].is_known) return false;
    const NodeGpus& known = nodes_[id.index()].gpus;
    return known.pool != gpus.pool || known.model != gpus.model;
}

void Places::set(NodeId id, const NodeGpus& gpus, const Moment& now) {
    if (nodes_.size() <= id.index()) nodes_.resize(id.index() + 1);
    Node& node = nodes_[id.index()];
    if (node.is_known && node.gpus == gpus) return;
    const std::size_t place = find_or_add(gpus, now);
    change(node, now, [&] {
        node.gpus = gpus;
        node.place = place;
        node.is_known = true;
    });
}

void Places::charge(const Charges& used, std::int64_t sign, const Moment& now) {
    for (const Charge& each : used) {
        Node& node = nodes_[each.node.index()];
        change(node, now, [&] {
            node.sums.jobs += each.milli * sign;
            if (each.use == GpuUse::Starting) node.sums.starting += each.milli * sign;
            if (each.use == GpuUse::Leaving) node.sums.leaving += each.milli * sign;
        });
    }
}

void Places::promise(const Charges& promised, std::int64_t sign, const Moment& now) {
    for (const Charge& each : promised) {
        Node& node = nodes_[each.node.index()];
        change(node, now, [&] { node.sums.promised += each.milli * sign; });
    }
}

void Places::set_free(PoolId pool, GpuUse use, const Moment& now) {
    for (Place& place : places_) {
        if (place.pool != pool || place.free == use) continue;
        settle(place, now);
        place.free = use;
    }
}

void Places::settle(const Moment& now) {
    for (Place& place : places_) settle(place, now);
}

void Places::forget_until(TimePoint time) {
    for (Place& place : places_) place.settled = time;
}

GpuTimes Places::uses() const {
    GpuTimes sum;
    for (const Place& place : places_) sum += uses_of(place);
    return sum;
}

std::size_t Places::find_or_add(const NodeGpus& gpus, const Moment& now) {
    const LineId line = now.rows.line_of({gpus.pool_name, gpus.model, {}, {}});
    const auto found = std::ranges::find_if(
        places_, [&](const Place& place) { return place.line == line && place.pool == gpus.pool; });
    if (found != places_.end()) return static_cast<std::size_t>(found - places_.begin());
    Place place;
    place.pool = gpus.pool;
    place.line = line;
    place.settled = now.time;
    const auto beside = std::ranges::find(places_, gpus.pool, &Place::pool);
    if (beside != places_.end()) place.free = beside->free;
    places_.push_back(place);
    return places_.size() - 1;
}

// The place it is in, and the one it is in afterwards, count it as it is.
template <typename Do>
void Places::change(Node& node, const Moment& now, Do&& change) {
    const auto count = [&](std::int64_t sign) {
        if (!node.is_known) return;
        Place& place = places_[node.place];
        settle(place, now);
        Sums& sums = node.sums;
        sums.total = std::int64_t{node.gpus.gpus} * 1000;
        const std::int64_t left = std::max<std::int64_t>(sums.total - sums.jobs, 0);
        sums.others = std::min(std::int64_t{node.gpus.others} * 1000, left);
        sums.unready = node.gpus.is_ready ? 0 : left - sums.others;
        for (std::int64_t Sums::* sum : {&Sums::total, &Sums::jobs, &Sums::starting, &Sums::leaving,
                                         &Sums::promised, &Sums::others, &Sums::unready}) {
            place.sums.*sum += sums.*sum * sign;
        }
    };
    count(-1);
    change();
    count(+1);
}

void Places::settle(Place& place, const Moment& now) {
    const std::int64_t time = (now.time - place.settled).count();
    place.settled = now.time;
    if (time == 0) return;
    const GpuTimes uses = uses_of(place);
    GpuTimes& times = now.rows.today(place.line);
    for (const GpuUse use : kOfNoJob) times[use] += uses[use] * time;
    times.capacity += place.sums.total * time;
}

// What is being left is promised to the job it is left for; so the rest of what is promised is
// free.
GpuTimes Places::uses_of(const Place& place) {
    const Sums& sums = place.sums;
    const std::int64_t free = sums.total - sums.jobs - sums.others - sums.unready;
    const std::int64_t reserved =
        std::clamp<std::int64_t>(sums.promised - sums.leaving, 0, std::max<std::int64_t>(free, 0));
    GpuTimes uses;
    uses[GpuUse::NotMeasured] = sums.jobs - sums.starting - sums.leaving;
    uses[GpuUse::Starting] = sums.starting;
    uses[GpuUse::Leaving] = sums.leaving;
    uses[GpuUse::Reserved] = reserved;
    uses[place.free] = free - reserved;
    uses[GpuUse::Others] = sums.others;
    uses[GpuUse::Unhealthy] = sums.unready;
    return uses;
}

}  // namespace berth::ledger
