// SPDX-License-Identifier: Apache-2.0
//
// For tests: random values of every type of the model, with strings that hold any bytes at all;
// events: random_event.h.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "model/event.h"
#include "model/launch.h"
#include "model/record.h"

namespace berth::codec {

enum class Amounts { Any, Sensible };  // Sensible: not negative, below 2^50
class RandomModel {
  public:
    explicit RandomModel(std::uint64_t seed, Amounts amounts = Amounts::Any)
        : rng_(seed), amounts_(amounts) {}

    model::LaunchSpec launch() {
        model::LaunchSpec launch;
        launch.command = texts(), launch.environment = texts(), launch.workdir = text();
        launch.checkpoint_dir = text(), launch.user = text(), launch.terminal = flag();
        launch.pause = {text(), maybe(duration())}, launch.attached = flag();
        return launch;
    }
    model::JobRecord record() {
        model::JobRecord record;
        record.id = job(), record.spec = spec(), record.is_parted = flag();
        record.user = text(), record.command = text(), record.detail = text();
        record.state = state(0), record.hold_rule = rule(), record.parked_since = maybe(time());
        record.held = flag(), record.created = time(), record.waiting_since = time();
        record.first_start = maybe(time()), record.last_start = maybe(time());
        record.last_checkpoint = maybe(time()), record.finished = maybe(time());
        record.attempts = small(), record.pauses = small(), record.exit_code = small();
        record.attained_gpu_ms = large(), record.lost_gpu_ms = large(), record.settled = time();
        record.tasks = placements(), record.hold = placements(), record.frozen = placements();
        record.releasing = ranks(), record.losses = small(), record.started_tasks = small();
        record.hold_deadline = maybe(time()), record.stale_since = maybe(time());
        record.pause_way = {{}, text(), text()}, record.incarnation = small();
        const auto frozen = maybe(model::Frozen{{large()}, duration()});
        const auto order = maybe(model::OrderReceipt{{}, small(), large(), small(), large(), {}});
        record.last_pause =
            maybe(model::PauseReceipt{time(), rule(), job(), text(), cost(), time(), maybe(time()),
                                      flag(), flag(), frozen, text(), order});
        return record;
    }
    model::GpuProfile profile() {
        return {large(), large(), model::MilliGpu{large()}, {large()}, {large()}, {large()}};
    }
    model::Snapshot snapshot() {
        model::Snapshot all;
        all.sequence = large(), all.time = time(), all.last_job = job();
        all.levels = texts(), all.policy[text()] = text(), all.incarnations = texts();
        for (std::int64_t i = rng_.between(0, 3); i > 0; --i) {
            all.pools.push_back({text(), labels(), {{text(), large()}}, text()});
            all.nodes.push_back(node()), all.jobs.push_back(record());
            all.places.push_back({text(), text(), flag()}), all.projects.push_back(project());
            all.waste.push_back({text(), large(), large()});
            all.use.push_back(
                {text(), text(), {large()}, time(), time(), large(), {large(), large()}});
            all.profiles.push_back({text(), text(), text(), small(), time(), profile(), flag()});
        }
        return all;
    }
    // Any bytes but NUL.
    std::string text() {
        std::string text;
        for (std::int64_t i = rng_.between(0, 6); i > 0; --i) {
            switch (rng_.between(0, 4)) {
                case 0: text += static_cast<char>(rng_.between(1, 255)); break;
                case 1: text += "\"\\/\n\t\x01\x7f"[rng_.index(7)]; break;
                case 2: text += "\xf0\x9f\x9a\x80\\udc80é"; break;
                case 3: text += "\xed\xb2\x80\xc0\xaf\xf4\x90"; break;  // looks like Unicode only
                default: text += "name-" + std::to_string(rng_.between(0, 99));
            }
        }
        return text;
    }
    model::JobSpec spec() {
        model::JobSpec spec;
        spec.name = text(), spec.project = text(), spec.gpu_model = text();
        spec.kind = model::JobKind(rng_.between(0, 2)), spec.preemptible = flag();
        spec.priority = small(), spec.tasks_min = small(), spec.tasks_max = small();
        spec.elastic = static_cast<model::Elastic>(rng_.between(0, 1)), spec.pools = texts();
        spec.request = {small(), {large()}, {large()}, {large()}, {}, {}},
        spec.stale_grace = maybe(duration()), spec.pause_grace = maybe(duration());
        if (flag()) spec.request.cpu = model::MilliCpu{large()}, spec.request.memory = {large()};
        spec.request.resources = resources();
        spec.node_labels = labels(), spec.node_filter = filter(), spec.tolerations = tolerations(),
        spec.topology = {text(), text(), {}};
        if (flag()) spec.topology.groups = {{text(), small(), small(), text()}};
        if (flag()) spec.companions = {companion(), companion()};
        spec.placement = model::Placement(rng_.between(0, 2));
        spec.tensor_skew_ppm = maybe(large()), spec.min_run = maybe(duration());
        spec.restart_cost = duration(), spec.preemption_delay = maybe(duration()),
        spec.expected_runtime = maybe(duration()), spec.park_after = maybe(duration()),
        spec.may_share = flag(), spec.packed = maybe(model::GpuPart{{large()}, {large()}});
        return spec;
    }
    model::Companion companion() {
        const model::TaskRequest request{.gpus = 0, .cpu = {{large()}}, .resources = resources()};
        return {text(), small(), request, labels(), filter(), tolerations()};
    }
    std::vector<model::TaskPlacement> placements() {
        std::vector<model::TaskPlacement> tasks;
        for (std::int64_t i = rng_.between(0, 3); i > 0; --i) {
            const auto node = static_cast<std::uint32_t>(rng_.next() >> rng_.between(32, 63));
            tasks.push_back({small(), {node}, rng_.next(), {large()}, {large()}, {large()}});
            tasks.back().gpu_memory = {large()}, tasks.back().memory_share = {large()};
        }
        return tasks;
    }
    model::Node node() {
        model::Node node;
        node.name = text(), node.gpu_model = text(), node.gpus = small();
        node.gpu_memory = {large()}, node.gpu_reserved = {large()}, node.gpu_context = {large()};
        if (flag()) node.cpu = model::MilliCpu{large()}, node.memory = model::Bytes{large()};
        node.labels = labels(), node.topology = labels(), node.shares_lack = text();
        node.gpu_links = {ranks(), ranks(), ranks(), texts()}, node.taints = taints();
        node.others = others(), node.resources = resources();
        node.health = static_cast<model::NodeHealth>(rng_.between(0, 2));
        return node;
    }
    model::Project project() {
        const auto wait = [&] { return maybe(duration()); };
        model::Project project{text(), text(), large(), rights(), {},
                               wait(), wait(), wait(),  {},       {}};
        project.job_order = maybe(static_cast<model::JobOrder>(rng_.between(0, 2)));
        project.job_tail = maybe(small());
        if (flag()) project.pools[text()] = rights();
        return project;
    }

  protected:
    bool flag() { return rng_.chance(1, 2); }
    int small() { return static_cast<int>(rng_.between(-3, 70)); }
    std::int64_t large() {
        if (amounts_ == Amounts::Sensible) return rng_.between(0, 1LL << 50);
        return flag() ? rng_.between(0, 9) : static_cast<std::int64_t>(rng_.next());
    }
    model::JobId job() { return {rng_.between(-1, 1'000'000)}; }
    model::TimePoint time() { return base::at_ms(flag() ? 0 : rng_.between(-9, 1LL << 42)); }
    model::Duration duration() { return model::Duration{rng_.between(0, 90'000)}; }
    model::Rule rule() { return static_cast<model::Rule>(rng_.between(0, 7)); }
    model::JobState state(int least) { return model::JobState(rng_.between(least, 8)); }
    model::PauseCost cost() { return {large(), large()}; }
    template <typename T>
    std::optional<T> maybe(T value) {
        return flag() ? std::optional<T>(value) : std::nullopt;
    }
    std::vector<std::string> texts() {
        std::vector<std::string> texts;
        for (std::int64_t i = rng_.between(0, 3); i > 0; --i) texts.push_back(text());
        return texts;
    }
    std::vector<int> ranks() { return std::vector<int>(rng_.index(4), small()); }
    model::Labels labels() {
        model::Labels labels;
        for (std::int64_t i = rng_.between(0, 3); i > 0; --i) labels[text()] = text();
        return labels;
    }
    model::OthersUse others() { return {{large()}, {large()}, small(), ranks(), resources()}; }
    model::Resources resources() {
        model::Resources resources;
        for (std::int64_t i = rng_.between(0, 2); i > 0; --i) resources[text()] = large();
        return resources;
    }
    model::NodeFilter filter() {
        model::NodeFilter filter;
        for (std::int64_t i = rng_.between(0, 2); i > 0; --i) {
            const auto is = static_cast<model::NodeOperator>(rng_.between(0, 5));
            filter.any_of.push_back({{text(), is, texts()}});
        }
        return filter;
    }
    model::TaintEffect effect() { return static_cast<model::TaintEffect>(rng_.between(0, 2)); }
    std::vector<model::Taint> taints() {
        return std::vector<model::Taint>(rng_.index(3), {text(), text(), effect()});
    }
    std::vector<model::Toleration> tolerations() {
        return std::vector<model::Toleration>(rng_.index(3),
                                              {text(), maybe(text()), maybe(effect())});
    }
    model::Entitlement rights() {
        model::Entitlement rights{maybe(model::MilliGpu{large()}), {large()}};
        rights.cpu_limit = maybe(model::MilliCpu{large()});
        rights.memory_limit = maybe(model::Bytes{large()});
        rights.weight = large(), rights.usage_ppm = large(), rights.priority = small();
        rights.kind = flag() ? model::QuotaKind::Fixed : model::QuotaKind::Guaranteed;
        return rights;
    }

    base::Rng rng_;
    Amounts amounts_;
};
}  // namespace berth::codec
