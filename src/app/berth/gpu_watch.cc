// SPDX-License-Identifier: Apache-2.0
#include "app/berth/gpu_watch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "lifecycle/idle/idle_rule.h"

namespace berth {
namespace {

// Often enough for the shortest rule; what a GPU did is measured over about a second.
constexpr base::Duration kLookEvery{5'000};
constexpr base::Duration kLookAtMostEvery{50};
constexpr int kLooksPerRule = 5;

}  // namespace

GpuWatch::GpuWatch(boost::asio::io_context& loop, Parts parts)
    : parts_(std::move(parts)), timer_(loop) {
    wait();
}

void GpuWatch::wait() {
    const control::Controller& controller = parts_.controller;
    const auto rule =
        lifecycle::shortest_idle_time(controller.state().cluster, controller.policy());
    const base::Duration pause = rule.value_or(kLookEvery) / kLooksPerRule;
    timer_.expires_after(std::clamp(pause, kLookAtMostEvery, kLookEvery));
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        look();
        wait();
    });
}

// Readings are of the moment in which they were asked for, so that a job that began since has none.
void GpuWatch::look() {
    auto loads = std::make_shared<control::GpuLoads>();
    parts_.in_background(
        [&inventory = parts_.inventory, loads] {
            if (const auto read = inventory.read()) *loads = control::gpu_loads(*read);
        },
        [this, loads] {
            auto seen = watch_.hear(*loads, parts_.share_uses(), parts_.controller.state(),
                                    parts_.clock.now());
            if (!seen.empty()) parts_.controller.on_gpus_seen(std::move(seen));
        });
}

}  // namespace berth
