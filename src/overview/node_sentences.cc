// SPDX-License-Identifier: Apache-2.0
#include "overview/node_sentences.h"

#include <set>
#include <string_view>

namespace berth::overview {
namespace {

constexpr std::size_t kNodesNamed = 3;

struct Nodes {
    std::vector<std::string> names;
    int gpus = 0;
    std::set<model::JobId> jobs;
};

std::string nodes_text(std::size_t many) {
    return std::to_string(many) + (many == 1 ? " node" : " nodes");
}

// "n2 is", "n2 and n5 are", "7 nodes are".
std::string subject(const Nodes& nodes) {
    const std::size_t many = nodes.names.size();
    if (many > kNodesNamed) return nodes_text(many) + " are";
    std::string text;
    for (std::size_t i = 0; i < many; ++i) {
        if (i > 0) text += i + 1 == many ? " and " : ", ";
        text += name_shown(nodes.names[i]);
    }
    return text + (many == 1 ? " is" : " are");
}

std::string all_ready(std::size_t nodes, int gpus) {
    if (nodes == 0) return "There is no node.";
    const std::string with = ", with " + base::format_gpus(base::gpus(gpus)) + ".";
    if (nodes == 1) return "The one node is ready" + with;
    return "All " + std::to_string(nodes) + " nodes are ready" + with;
}

std::string hit(const Nodes& down, const Nodes& drained) {
    std::set<model::JobId> jobs = down.jobs;
    jobs.insert(drained.jobs.begin(), drained.jobs.end());
    const std::string where =
        down.names.size() + drained.names.size() == 1 ? " on it." : " on them.";
    if (jobs.empty()) return "No job is" + where;
    const bool is_one = jobs.size() == 1;
    return std::to_string(jobs.size()) + (is_one ? " job is" : " jobs are") + " still" + where;
}

}  // namespace

std::vector<Sentence> node_sentences(const cluster::Cluster& cluster) {
    Nodes down;
    Nodes drained;
    int gpus = 0;
    const std::size_t many = cluster.nodes().size();
    for (std::size_t i = 0; i < many; ++i) {
        const model::NodeId id{static_cast<model::NodeId::Rep>(i)};
        const model::Node& node = cluster.description(id);
        gpus += node.gpus;
        if (node.health == model::NodeHealth::Ready) continue;
        Nodes& bad = node.health == model::NodeHealth::Down ? down : drained;
        bad.names.push_back(node.name);
        bad.gpus += node.gpus;
        bad.jobs.insert(cluster.jobs_on(id).begin(), cluster.jobs_on(id).end());
    }
    if (down.names.empty() && drained.names.empty()) {
        return {{About::NotReady, all_ready(many, gpus)}};
    }
    std::string text;
    if (!down.names.empty()) text += subject(down) + " down";
    if (!drained.names.empty()) {
        text += (text.empty() ? "" : ", ") + subject(drained) + " drained";
    }
    text += ": " + std::to_string(down.gpus + drained.gpus) + " of " +
            base::format_gpus(base::gpus(gpus)) + " take no new work.";
    return {{About::NotReady, text}, {About::NotReady, hit(down, drained)}};
}

}  // namespace berth::overview
