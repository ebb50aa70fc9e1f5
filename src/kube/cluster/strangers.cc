// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/strangers.h"

#include <utility>

namespace berth::kube::cluster {

void Strangers::set(const objects::Pod& pod) { put(pod.meta.uid, {*pod.node, pod.held()}); }

void Strangers::set_beside(const objects::Pod& pod, const objects::Amounts& amounts) {
    put(pod.meta.uid, {*pod.node, amounts, 0});
}

void Strangers::put(objects::Uid pod, Held held) {
    const auto known = held_.find(pod);
    if (known != held_.end() && known->second == held) return;
    clear(pod);
    count(held, +1);
    held_[pod] = std::move(held);
}

void Strangers::clear(objects::Uid pod) {
    const auto known = held_.find(pod);
    if (known == held_.end()) return;
    count(known->second, -1);
    held_.erase(known);
}

void Strangers::count(const Held& held, int sign) {
    Sum& sum = sums_[held.node];
    for (const objects::Amount& amount : held.amounts.all()) {
        const std::int64_t before = sum.amounts.of(*amount.resource);
        sum.amounts.set(amount.resource, before + sign * amount.value);
    }
    sum.pods += sign * held.pods;
    sum.entries += sign;
    changed_.insert(held.node);
    if (sum.entries == 0) sums_.erase(held.node);
}

const objects::Amounts& Strangers::on(const std::string& node) const {
    static const objects::Amounts kNothing;
    const auto found = sums_.find(node);
    return found == sums_.end() ? kNothing : found->second.amounts;
}

int Strangers::pods_on(const std::string& node) const {
    const auto found = sums_.find(node);
    return found == sums_.end() ? 0 : found->second.pods;
}

}  // namespace berth::kube::cluster
