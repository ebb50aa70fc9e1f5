// SPDX-License-Identifier: Apache-2.0
//
// Are groups placed whenever they can be? Plays random machine rooms:
//   group_search [--seeds N]
// On each a gang of up to five groups is held against a search over all ways to give them domains:
// it starts exactly when there is one, and then every group is in one domain of its level.
#include <array>
#include <charconv>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "group_rule.h"
#include "scenario/render.h"
#include "scenario/stage.h"
#include "scheduling/decide.h"

namespace {

using namespace berth;

constexpr int kFailuresShown = 5;

// As the lines of the room say it.
std::optional<std::string> domain_of(const cluster::Cluster& cluster, base::NodeId node,
                                     const std::string& level) {
    const model::Node description = cluster.description(node);
    if (level.empty()) return "";
    if (level == model::kNodeLevel) return description.name;
    const auto named = [&](const std::string& of) {
        const auto found = description.topology.find(of);
        return found == description.topology.end() ? "" : found->second;
    };
    if (named(level).empty()) return {};
    return level == "rack" ? named("block") + ">" + named("rack") : named(level);
}

std::string random_groups(base::Rng& rng, int tasks_max) {
    constexpr std::array kLevels{"", "@node", "@rack", "@block"};
    const auto with_level = [&](const std::string& group) {
        return group + kLevels.at(rng.index(kLevels.size()));
    };
    const std::int64_t groups = rng.between(2, 5);
    if (rng.chance(1, 5)) {  // of which some start together
        const std::string least = std::to_string(rng.between(1, groups - 1));
        return with_level(least + ".." + std::to_string(groups) + "x" +
                          std::to_string(rng.between(1, tasks_max)));
    }
    std::string text;
    for (int i = 0; i < groups; ++i) {
        text += i > 0 ? "," : "";
        text += with_level(std::to_string(rng.between(1, tasks_max)));
    }
    return text;
}

std::string random_room(base::Rng& rng) {
    std::string lines;
    const std::int64_t nodes = rng.between(2, 12);
    for (int i = 0; i < nodes; ++i) {
        lines += "node n" + std::to_string(i) + " gpus=" + std::to_string(rng.between(1, 5));
        if (!rng.chance(1, 12)) lines += " topology.rack=r" + std::to_string(rng.between(1, 3));
        if (!rng.chance(1, 6)) lines += " topology.block=b" + std::to_string(rng.between(1, 2));
        lines += "\n";
    }
    lines += "project a\nsubmit a/gang groups=" + random_groups(rng, nodes > 6 ? 6 : 4);
    return lines + (rng.chance(1, 4) ? " gpus=2\n" : "\n");
}

struct Counts {
    int placed = 0;
    int refused = 0;
};

// What is wrong; empty when nothing is.
std::string judge(const std::string& room, Counts& counts) {
    scenario::Stage stage;
    const auto script = scenario::parse_script(room + "shares\n");
    for (const auto& command : script->commands) (void)stage.play(command);
    lifecycle::State state = stage.state();
    const cluster::Cluster& cluster = state.cluster;
    const cluster::Job& job = cluster.job({1});
    const int each = cluster.shape(job.shape).request.gpus;
    std::map<base::NodeId, std::int64_t> slots;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        slots[{static_cast<base::NodeId::Rep>(i)}] = cluster.nodes()[i].gpus / each;
    }
    const proof::DomainOf domain = [&](base::NodeId node, const std::string& level) {
        return domain_of(cluster, node, level);
    };
    const bool could = proof::groups_fit(cluster, job, slots, domain);
    const model::Plan plan = scheduling::decide(state.cluster, stage.policy(), stage.now());
    ++(could ? counts.placed : counts.refused);
    if (plan.starts.empty()) return could ? "it could start" : "";
    if (!could) return "it could not start";
    const auto groups = proof::groups_of(cluster, job);
    const int needed = proof::groups_needed(cluster, job);
    std::vector<std::set<std::optional<std::string>>> domains(groups.size());
    for (const model::TaskPlacement& task : plan.starts.front().tasks) {
        const std::size_t group = proof::group_of(groups, task.task);
        domains[group].insert(domain(task.node, groups[group].level));
    }
    for (const auto& of_group : domains) {
        if (of_group.empty() && needed < std::ssize(groups)) continue;
        if (of_group.size() != 1 || !of_group.begin()->has_value()) return "a group stands apart";
    }
    return "";
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 3000;
    if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
        const std::string_view count = argv[2];
        std::from_chars(count.data(), count.data() + count.size(), seeds);
    }
    int failed = 0;
    Counts counts;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        base::Rng rng(seed);
        const std::string room = random_room(rng);
        const std::string found = judge(room, counts);
        if (found.empty() || ++failed > kFailuresShown) continue;
        std::cout << "# seed " << seed << ": " << found << '\n' << room << '\n';
    }
    std::cout << seeds << " seeds, " << counts.placed << " placed, " << counts.refused
              << " refused, " << failed << " failed\n";
    return failed == 0 ? 0 : 1;
}
