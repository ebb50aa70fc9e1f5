// SPDX-License-Identifier: Apache-2.0
//
// Do all companions of a gang run where its tasks do, each with what it asks, and none where they
// do not? Plays random lives: companions [--seeds N]
#include "model/job/companions.h"

#include <bit>
#include <charconv>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "companion_lines.h"
#include "contested_script.h"
#include "random_script.h"
#include "scenario/render.h"
#include "scenario/stage.h"

namespace {

using namespace berth;

constexpr int kEvents = 30;
constexpr int kFailuresShown = 5;

// What each companion takes, by the words of its kind alone.
std::string wrong_place(const lifecycle::State& state, const model::JobRecord& record,
                        const model::TaskPlacement& task) {
    const model::Companion* kind = model::companion_of(record.spec, task.task);
    if (kind == nullptr) return "rank " + std::to_string(task.task) + " is of no group";
    const model::Node node = state.cluster.description(task.node);
    const int gpus = std::popcount(task.gpu_mask);
    if (gpus != kind->request.gpus) return "has " + std::to_string(gpus) + " GPUs";
    if (gpus > 0 && task.share != kind->request.share)
        return "has " + base::format(task.share) + " of each GPU";
    const base::PoolId pool = state.cluster.job(record.id).pool;
    if (gpus > 0 && state.cluster.nodes()[task.node.index()].pool != pool)
        return "has GPUs of another pool";
    // What those with GPUs do not name is a part of the node.
    const bool is_named = gpus == 0 || kind->request.cpu;
    const model::MilliCpu cpu = kind->request.cpu.value_or(model::MilliCpu{0});
    if (node.cpu && is_named && task.cpu != cpu)
        return "takes " + base::format(task.cpu) + " cores";
    return {};
}

std::string wrong_job(const lifecycle::State& state, const model::JobRecord& record) {
    int tasks = 0;
    std::map<int, int> companions;
    for (const model::TaskPlacement& task : record.tasks) {
        if (task.task < record.spec.tasks_max) {
            ++tasks;
            continue;
        }
        ++companions[task.task];
        const std::string wrong = wrong_place(state, record, task);
        if (!wrong.empty()) return "a companion " + wrong;
    }
    const int all = tasks > 0 ? model::companions(record.spec) : 0;
    if (std::cmp_equal(companions.size(), all)) return {};
    return std::to_string(tasks) + " tasks beside " + std::to_string(companions.size()) +
           " companions";
}

// No node runs more companions and tasks together than it has cores or takes pods.
std::string wrong_node(const lifecycle::State& state, base::NodeId id) {
    const model::Node node = state.cluster.description(id);
    std::int64_t cpu = node.others.cpu.value;
    std::int64_t pods = 0;
    for (const auto& [job, record] : state.jobs) {
        for (const model::TaskPlacement& task : record.tasks) {
            cpu += task.node == id ? task.cpu.value : 0;
            pods += task.node == id ? 1 : 0;
        }
    }
    if (node.cpu && node.others.cpu.value == 0 && cpu > node.cpu->value) return "too few cores";
    const auto limit = node.resources.find(model::kPodsResource);
    const bool is_full = limit != node.resources.end() && pods > limit->second;
    return is_full ? "too many pods" : "";
}

// What is wrong; empty when nothing is.
std::string wrong(const lifecycle::State& state) {
    for (const auto& [id, record] : state.jobs) {
        const std::string found = wrong_job(state, record);
        if (!found.empty()) return scenario::name_of(state, id) + ": " + found;
    }
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        const base::NodeId id{static_cast<base::NodeId::Rep>(i)};
        const std::string found = wrong_node(state, id);
        if (!found.empty()) return state.cluster.node_name(id) + ": " + found;
    }
    return {};
}

struct Life {
    std::string lines;
    std::string failure;
    int with_companions = 0;  // jobs that have some were seen to run so often
    int with_two_gpu_requests = 0;  // of them
};

Life live(std::uint64_t seed) {
    base::Rng rng(seed);
    const proof::Setting setting = proof::any_setting(rng);
    scenario::Stage stage;
    Life life;
    const auto play = [&](const std::string& line) {
        life.lines += line + "\n";
        const auto printed = stage.play(scenario::parse_script(line)->commands.front());
        if (!printed) return;  // it cannot happen as things stand
        for (const std::string& said : *printed) {
            if (said.starts_with("BROKEN")) life.failure = said;
        }
    };
    for (const std::string& line : setting.fixed) play(line);
    for (const std::string& line : proof::random_host_nodes(rng, setting.pools)) play(line);
    for (const std::string& line : setting.shuffled) play(proof::with_companions(rng, line));
    play("shares");
    proof::Course course;
    for (int i = 0; i < kEvents && life.failure.empty(); ++i) {
        if (i % 2 == 0) play("decide");
        const auto event = proof::random_event(rng, setting, stage.state(), course);
        play(proof::with_companions(rng, event));
        if (life.failure.empty()) life.failure = wrong(stage.state());
        for (const auto& [id, record] : stage.state().jobs) {
            const bool runs = !record.tasks.empty();
            life.with_companions += runs && !record.spec.companions.empty();
            life.with_two_gpu_requests += runs && model::has_two_gpu_requests(record.spec);
        }
    }
    return life;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 2000;
    if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
        const std::string_view count = argv[2];
        std::from_chars(count.data(), count.data() + count.size(), seeds);
    }
    int failed = 0;
    std::int64_t ran = 0;
    std::int64_t ran_with_gpus = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Life life = live(seed);
        ran += life.with_companions;
        ran_with_gpus += life.with_two_gpu_requests;
        if (life.failure.empty() || ++failed > kFailuresShown) continue;
        std::cout << "seed " << seed << ": " << life.failure << '\n' << life.lines << '\n';
    }
    std::cout << seeds << " seeds, companions were seen to run " << ran << " times, "
              << ran_with_gpus << " times with GPUs, " << failed << " failed\n";
    return failed == 0 && ran_with_gpus > 0 ? 0 : 1;
}
