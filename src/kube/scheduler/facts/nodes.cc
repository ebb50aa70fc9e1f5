// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/facts/nodes.h"

#include <algorithm>
#include <utility>

#include "model/limits.h"

namespace berth::kube::scheduler {
namespace {

// Anybody may ask for anything.
constexpr std::size_t kAskedMax = 4'096;

}  // namespace

void Nodes::take(const objects::Node* before, const objects::Node* now) {
    const std::string& name = (now != nullptr ? now : before)->meta.name;
    changed_.insert(name);
    if (now == nullptr) {
        nodes_.erase(name);
        return;
    }
    for (const objects::Amount& amount : now->allocatable->all()) {
        if (asked_.contains(*amount.resource)) count(*amount.resource);
    }
    nodes_[name] = *now;
}

void Nodes::take_ask(const objects::PodAsk& ask) {
    for (const objects::Amount& amount : ask.requests.all()) {
        const std::string& name = *amount.resource;
        if (cluster::has_a_field(name) || asked_.size() == kAskedMax) continue;
        if (asked_.insert(name).second && is_offered(name)) count(name);
    }
}

bool Nodes::is_offered(const std::string& resource) const {
    return std::ranges::any_of(
        nodes_, [&](const auto& each) { return each.second.allocatable->of(resource) > 0; });
}

// The core has room for a few names. A gang that asks for one more waits for a node that has it,
// and its reason says so.
bool Nodes::count(const std::string& resource) {
    if (counted_.size() == model::kResourcesMax || !counted_.insert(resource).second) return false;
    for (const auto& [name, node] : nodes_) changed_.insert(name);
    return true;
}

void Nodes::set_levels(const model::Levels& levels) {
    if (levels_ == levels) return;
    levels_ = levels;
    for (const auto& [name, node] : nodes_) changed_.insert(name);
}

const std::map<std::string, model::Node>& Nodes::tell_all() {
    changed_.clear();
    reported_.clear();
    for (const auto& [name, node] : nodes_) {
        model::Node now = node_now(node);
        const base::Status sound = model::check_limits(now);
        refused_("node " + name, sound);
        if (sound) reported_[name] = std::move(now);
    }
    return reported_;
}

bool Nodes::tell(control::Controller& controller) {
    bool may_help = false;
    for (const std::string& name : strangers_.take_changed()) changed_.insert(name);
    for (const std::string& name : std::exchange(changed_, {})) {
        const auto found = nodes_.find(name);
        const auto reported = reported_.find(name);
        waiting_.erase(name);
        if (found == nodes_.end() && reported == reported_.end()) continue;
        model::Node now = found != nodes_.end() ? node_now(found->second) : reported->second;
        if (found == nodes_.end()) now.health = model::NodeHealth::Down;
        if (reported != reported_.end() && reported->second == now) continue;
        may_help = true;
        const auto take_answer = [this, name, now](const base::Status& done) {
            refused_("node " + name, done);
            if (done) {
                reported_[name] = now;
            } else {
                waiting_.insert(name);
            }
        };
        model::Node before = reported != reported_.end() ? reported->second : model::Node{};
        before.others = now.others;
        if (before == now) {
            controller.record(model::NodeUsedByOthers{name, now.others},
                              std::string(control::kMachine), take_answer);
        } else {
            controller.set_node(now, std::string(control::kMachine), take_answer);
        }
    }
    return may_help;
}

// With what others use of it; a GPU that it offers no more, but had, is as good as theirs.
model::Node Nodes::node_now(const objects::Node& node) const {
    model::Node now = cluster::node_of(node, counted_);
    std::erase_if(now.topology, [&](const auto& each) {
        return std::ranges::find(levels_, each.first) == levels_.end();
    });
    const objects::Amounts& others = strangers_.on(now.name);
    // What pods were resized by to less is room beyond what the node has, as the core counts.
    now.cpu->value += std::max<std::int64_t>(-others.cpu().value, 0);
    now.memory->value += std::max<std::int64_t>(-others.memory().value, 0);
    now.others.cpu.value = std::max<std::int64_t>(others.cpu().value, 0);
    now.others.memory.value = std::max<std::int64_t>(others.memory().value, 0);
    now.others.resources = cluster::resources_of(others, counted_);
    const int pods = strangers_.pods_on(now.name);
    if (pods > 0) now.others.resources[model::kPodsResource] = pods;
    std::erase_if(now.others.resources,
                  [&](const auto& each) { return !now.resources.contains(each.first); });
    std::int64_t gone = others.of(cluster::kGpuResource);
    const auto reported = reported_.find(now.name);
    if (reported != reported_.end() && reported->second.gpus > now.gpus) {
        gone += reported->second.gpus - now.gpus;
        now.gpus = reported->second.gpus;
    }
    now.others.gpus = static_cast<int>(std::min<std::int64_t>(gone, now.gpus));
    return now;
}

}  // namespace berth::kube::scheduler
