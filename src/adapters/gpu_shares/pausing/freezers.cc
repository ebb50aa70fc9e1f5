// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/pausing/freezers.h"

#include "supervision/address.h"

namespace berth::gpu_shares {
namespace {

constexpr int kAnswerMs = 10'000;  // a driver that is loaded first takes seconds

}  // namespace

Freezers::Freezer& Freezers::living(const std::string& node, const Manner& manner) {
    Freezer& freezer = freezers_[node];
    if (freezer.child.is_living()) return freezer;
    freezer = {};
    ChildOrder order{{program_, "--socket", socket_of(node)}, manner.environment};
    order.words.insert(order.words.end(), manner.options.begin(), manner.options.end());
    auto started = Child::start(order);
    if (started) {
        freezer.child = std::move(*started);
    } else {
        freezer.said = tl::unexpected(started.error());
        freezer.has_answered = true;
    }
    return freezer;
}

void Freezers::start(const std::string& node, const Manner& manner) { living(node, manner); }

NodeAbility Freezers::ability(const std::string& node, const Manner& manner) {
    Freezer& freezer = living(node, manner);
    if (!freezer.has_answered) freezer.said = freezer.child.answer(kAnswerMs);
    freezer.has_answered = true;
    if (!freezer.said) return {freezer.said.error().message};
    return {"", "", "", *freezer.said == "moves", 0};
}

std::string Freezers::socket_of(const std::string& node) const {
    return runtime_ + '/' + supervision::freezer_socket(node);
}

}  // namespace berth::gpu_shares
