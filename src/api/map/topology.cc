// SPDX-License-Identifier: Apache-2.0
#include "api/map/topology.h"

#include <variant>

#include "base/hash.h"
#include "codec/text/json_writer.h"

namespace berth::api {
namespace {

// Names, each once, in the order in which they were met.
class Names {
  public:
    int position(const std::string& name) {
        if (name.empty()) return -1;
        const auto [found, is_new] = positions_.emplace(name, static_cast<int>(names_.size()));
        if (is_new) names_.push_back(name);
        return found->second;
    }
    const std::vector<std::string>& names() const { return names_; }

  private:
    std::unordered_map<std::string, int> positions_;
    std::vector<std::string> names_;
};

// The innermost group of nodes that the node is in, with those around it: "zone1/r7".
std::string rack_of(const model::Node& node, std::span<const std::string> levels) {
    std::string rack;
    for (const std::string& level : levels) {
        const auto found = node.topology.find(level);
        if (found == node.topology.end() || found->second.empty()) continue;
        if (!rack.empty()) rack += '/';
        rack += found->second;
    }
    return rack;
}

struct Columns {
    Names pools;
    Names racks;
    Names models;
    std::vector<std::string> names;
    std::vector<std::int64_t> gpus;
    std::vector<std::int64_t> pool;
    std::vector<std::int64_t> rack;
    std::vector<std::int64_t> model;
    std::vector<std::int64_t> memory;
};

void write(codec::JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
    json.key(name).begin_array();
    for (const std::string& text : texts) json.string(text);
    json.end_array();
}

void write(codec::JsonWriter& json, std::string_view name,
           const std::vector<std::int64_t>& numbers) {
    json.key(name).begin_array();
    for (const std::int64_t number : numbers) json.number(number);
    json.end_array();
}

std::string json_of(const Columns& columns) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    write(json, "pools", columns.pools.names());
    write(json, "racks", columns.racks.names());
    write(json, "models", columns.models.names());
    json.key("nodes").begin_object();
    write(json, "names", columns.names);
    write(json, "gpus", columns.gpus);
    write(json, "pool", columns.pool);
    write(json, "rack", columns.rack);
    write(json, "model", columns.model);
    write(json, "memory", columns.memory);
    json.end_object();
    json.end_object();
    return text;
}

}  // namespace

std::shared_ptr<const Topology> topology_of(const cluster::Cluster& cluster) {
    auto topology = std::make_shared<Topology>();
    Columns columns;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<base::NodeId::Rep>(i)});
        columns.names.push_back(node.name);
        columns.gpus.push_back(node.gpus);
        columns.pool.push_back(columns.pools.position(cluster.pool(cluster.nodes()[i].pool).name));
        columns.rack.push_back(columns.racks.position(rack_of(node, cluster.levels())));
        columns.model.push_back(columns.models.position(node.gpu_model));
        columns.memory.push_back(node.gpu_memory.value);
        topology->gpu_memory.push_back(node.gpu_memory);
        topology->nodes.emplace(node.name, i);
    }
    topology->json = json_of(columns);
    topology->etag = "\"" + std::to_string(base::hash(topology->json)) + "\"";
    return topology;
}

bool changes_topology(const model::EventBody& event) {
    return std::holds_alternative<model::NodeSet>(event) ||
           std::holds_alternative<model::NodeMoved>(event) ||
           std::holds_alternative<model::LevelsSet>(event) ||
           std::holds_alternative<model::PoolSet>(event) ||
           std::holds_alternative<model::PoolRemoved>(event);
}

}  // namespace berth::api
