// SPDX-License-Identifier: Apache-2.0
//
// Does a gang with two GPU requests start where all of it fits, and only there? Small empty
// clusters are searched exhaustively: companion_places SEEDS MISSED_AT_MOST
// Where kinds compete places may be missed (scheduling/place/companions.h), but not often: how many
// is a figure that may only fall.
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "base/rng.h"
#include "random_words.h"
#include "scenario/stage.h"

namespace {

using namespace berth;

constexpr int kShown = 5;  // clusters

struct Node {
    int gpus = 0;
    std::string model;
};

// Tasks that ask the same, of any model where none is said.
struct Part {
    int tasks = 1;
    int gpus = 1;
    std::string model;
};

struct World {
    std::vector<Node> nodes;
    std::vector<Part> parts;  // the tasks of the job, then its companions
};

std::string any_model(base::Rng& rng) { return proof::pick(rng, {"A", "B", "", ""}); }

World any_world(base::Rng& rng) {
    World world;
    for (std::int64_t i = rng.between(2, 4); i > 0; --i) {
        world.nodes.push_back({static_cast<int>(rng.between(1, 6)), rng.chance(1, 2) ? "A" : "B"});
    }
    for (std::int64_t i = rng.between(2, 3); i > 0; --i) {
        world.parts.push_back({static_cast<int>(rng.between(1, 3)),
                               static_cast<int>(rng.between(1, 4)), any_model(rng)});
    }
    return world;
}

// Whether the parts from `part` on fit, `placed` tasks of the first being placed.
bool fits(World& world, std::size_t part, int placed) {
    if (part == world.parts.size()) return true;
    const Part& asks = world.parts[part];
    if (placed == asks.tasks) return fits(world, part + 1, 0);
    return std::ranges::any_of(world.nodes, [&](Node& node) {
        const bool has_room =
            node.gpus >= asks.gpus && (asks.model.empty() || asks.model == node.model);
        if (!has_room) return false;
        node.gpus -= asks.gpus;
        const bool does = fits(world, part, placed + 1);
        node.gpus += asks.gpus;
        return does;
    });
}

std::vector<std::string> lines_of(const World& world) {
    std::vector<std::string> lines;
    for (const Node& node : world.nodes) {
        lines.push_back("node n" + std::to_string(lines.size()) +
                        " gpus=" + std::to_string(node.gpus) + " model=" + node.model);
    }
    lines.emplace_back("project a quota=100");
    std::string job = "submit a/gang";
    for (std::size_t at = 0; at < world.parts.size(); ++at) {
        const Part& part = world.parts[at];
        const std::string of = at == 0 ? " " : " companion.c" + std::to_string(at) + ".";
        job += of + (at == 0 ? "tasks=" : "count=") + std::to_string(part.tasks) + of +
               "gpus=" + std::to_string(part.gpus);
        if (!part.model.empty()) job += of + "model=" + part.model;
    }
    lines.push_back(job);
    lines.emplace_back("decide");
    return lines;
}

bool starts(const std::vector<std::string>& lines) {
    scenario::Stage stage;
    bool has_started = false;
    for (const std::string& line : lines) {
        const auto printed = stage.play(scenario::parse_script(line)->commands.front());
        for (const std::string& said : *printed) has_started |= said.starts_with("start ");
    }
    return has_started;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const int seeds = std::stoi(argv[1]);
    const int missed_at_most = std::stoi(argv[2]);
    int fitting = 0;
    int missed = 0;
    int wrong = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
        base::Rng rng(static_cast<std::uint64_t>(seed));
        World world = any_world(rng);
        const std::vector<std::string> lines = lines_of(world);
        const bool does_fit = fits(world, 0, 0);
        const bool does_start = starts(lines);
        fitting += does_fit ? 1 : 0;
        missed += does_fit && !does_start ? 1 : 0;
        wrong += does_start && !does_fit ? 1 : 0;
        if (does_fit == does_start || missed + wrong > kShown) continue;
        for (const std::string& line : lines) std::cout << line << '\n';
    }
    std::cout << seeds << " seeds: " << fitting << " fit, " << missed << " of them were missed, "
              << wrong << " started that do not fit\n";
    return wrong == 0 && missed <= missed_at_most && fitting > 0 ? 0 : 1;
}
