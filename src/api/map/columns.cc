// SPDX-License-Identifier: Apache-2.0
#include "api/map/columns.h"

#include <utility>

#include "codec/text/json_writer.h"
#include "overview/sentences.h"

namespace berth::api {
namespace {

using model::GpuUse;
using overview::GpuPart;
using overview::SharedPart;

constexpr std::size_t kHeaderSteps = 4;
constexpr std::uint16_t kNoProject = 65535;

void put(std::string& out, std::uint64_t number, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i) & 0xff);
}

std::uint32_t job_of(const GpuPart& part) {
    return part.job.is_valid() ? static_cast<std::uint32_t>(part.job.value) : 0;
}

std::uint16_t project_of(const GpuPart& part) {
    const bool is_known = part.job.is_valid() && part.project.index() < kNoProject;
    return is_known ? static_cast<std::uint16_t>(part.project.index()) : kNoProject;
}

void put_jobs(std::string& out, const std::vector<GpuPart>& gpus) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        std::uint32_t before = 0;
        for (const GpuPart& part : gpus) {
            const std::uint32_t job = job_of(part);
            out += static_cast<char>((job - before) >> shift & 0xff);
            before = job;
        }
    }
}

base::MilliGpu idle_of(const MapScene& scene, const Activity& activity) {
    base::MilliGpu idle{0};
    std::vector<bool> is_shared(scene.map.gpus.size());
    const auto add = [&](const GpuPart& part, std::size_t gpu) {
        const bool is_idle = activity.measured(part.use, gpu) == GpuUse::AllocatedIdle;
        if (is_idle) idle += part.amount;
    };
    for (const SharedPart& each : scene.map.shared) {
        is_shared[each.gpu] = true;
        add(each.part, each.gpu);
    }
    for (std::size_t gpu = 0; gpu < scene.map.gpus.size(); ++gpu) {
        if (!is_shared[gpu]) add(scene.map.gpus[gpu], gpu);
    }
    return idle;
}

template <typename Texts>
void write(codec::JsonWriter& json, std::string_view name, const Texts& texts) {
    json.key(name).begin_array();
    for (const auto& text : texts) json.string(text);
    json.end_array();
}

std::string header_of(const MapScene& scene, const Activity& activity) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("topology").string(scene.topology->etag);
    json.key("gpus").number(std::ssize(scene.map.gpus));
    json.key("nodes").number(std::ssize(scene.nodes));
    json.key("shared").number(std::ssize(scene.map.shared));
    write(json, "projects", scene.projects);
    write(json, "uses", model::kGpuUseNames);
    write(json, "sentences", overview::map_sentences(scene.counts, idle_of(scene, activity)));
    json.key("simulated").boolean(scene.is_simulated);
    json.end_object();
    text.append((kHeaderSteps - text.size() % kHeaderSteps) % kHeaderSteps, ' ');
    return text;
}

NodeCondition condition_of(const lifecycle::State& state, std::size_t node) {
    switch (state.cluster.nodes()[node].health) {
        case model::NodeHealth::Drained: return NodeCondition::Drained;
        case model::NodeHealth::Down: return NodeCondition::Down;
        case model::NodeHealth::Ready: break;
    }
    return state.cluster.nodes()[node].is_ready ? NodeCondition::Ready : NodeCondition::Leaving;
}

}  // namespace

MapScene scene_of(const lifecycle::State& state, std::shared_ptr<const Topology> topology,
                  base::TimePoint now) {
    MapScene scene;
    scene.topology = std::move(topology);
    scene.map = overview::gpu_map_of(state);
    scene.counts = overview::gpu_counts_of(state);
    scene.now = now;
    for (const auto& each : state.cluster.projects()) scene.projects.push_back(each.project.name);
    for (std::size_t i = 0; i < state.cluster.nodes().size(); ++i) {
        scene.nodes.push_back(condition_of(state, i));
    }
    return scene;
}

std::string map_columns(const MapScene& scene, const Activity& activity) {
    const std::vector<GpuPart>& gpus = scene.map.gpus;
    const std::vector<SharedPart>& shared = scene.map.shared;
    const std::string header = header_of(scene, activity);
    std::string out;
    out.reserve(4 + header.size() + gpus.size() * 9 + shared.size() * 13 + scene.nodes.size());
    put(out, header.size(), 4);
    out += header;
    for (const SharedPart& each : shared) put(out, each.gpu, 4);
    for (const SharedPart& each : shared) put(out, job_of(each.part), 4);
    for (const GpuPart& part : gpus) put(out, project_of(part), 2);
    for (const SharedPart& each : shared) put(out, project_of(each.part), 2);
    for (const SharedPart& each : shared) {
        put(out, static_cast<std::uint64_t>(each.part.amount.value), 2);
    }
    put_jobs(out, gpus);
    const auto use = [&](const GpuPart& part, std::size_t gpu) {
        put(out, static_cast<std::uint64_t>(activity.measured(part.use, gpu)), 1);
    };
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) use(gpus[gpu], gpu);
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) put(out, activity.busy(gpu), 1);
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) put(out, activity.memory(gpu), 1);
    for (const SharedPart& each : shared) use(each.part, each.gpu);
    for (const NodeCondition node : scene.nodes) put(out, static_cast<std::uint64_t>(node), 1);
    return out;
}

}  // namespace berth::api
