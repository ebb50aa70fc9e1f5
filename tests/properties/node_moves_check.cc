// SPDX-License-Identifier: Apache-2.0
#include "node_moves_check.h"

#include <algorithm>

namespace berth::proof {
namespace {

class NodeMoves {
  public:
    explicit NodeMoves(const cluster::Cluster& before) : cluster_(before) {}

    void check(const model::NodeMove& move) {
        what_ = "I14: node " + move.node + " joins " + move.pool;
        expect_nothing_on(move.node);
        move.replaces.empty() ? check_stray(move) : check_spare(move);
        cluster::move_node(cluster_, move);
        if (pool_with(move.node) != move.pool) report(" and does not stand there");
    }

    std::vector<std::string> found;

  private:
    void report(const std::string& why) { found.push_back(what_ + why); }

    std::string pool_with(const std::string& node) const {
        return cluster_.pool(cluster_.nodes()[cluster_.find_node(node).index()].pool).name;
    }
    model::Node node_named(const std::string& name) const {
        return cluster_.description(cluster_.find_node(name));
    }

    void check_stray(const model::NodeMove& move) {
        const base::NodeId node = cluster_.find_node(move.node);
        if (cluster_.pool(cluster_.belongs_to(node)).name != move.pool) report(" uncalled-for");
        if (pool_with(move.node) == move.pool) report(" where it is");
    }

    void check_spare(const model::NodeMove& move) {
        expect_nothing_on(move.replaces);
        const model::Node node = node_named(move.node);
        const model::Node lost = node_named(move.replaces);
        if (node.health != model::NodeHealth::Ready) report(" and is not ready");
        if (lost.health == model::NodeHealth::Ready) report(" for one that is ready");
        if (pool_with(lost.name) != move.pool) report(" for one that stands elsewhere");
        const std::string& spares = cluster_.pool(cluster_.find_pool(move.pool)).spares;
        if (spares.empty() || spares != pool_with(node.name)) report(" and is no spare of it");
        const bool are_alike = lost.gpus == node.gpus && lost.gpu_model == node.gpu_model &&
                               lost.gpu_memory == node.gpu_memory;
        if (!are_alike) report(" for one that is not like it");
    }

    // Nothing runs there, leaves it or is promised it.
    void expect_nothing_on(const std::string& name) {
        const base::NodeId node = cluster_.find_node(name);
        for (const auto& [id, job] : cluster_.jobs()) {
            const auto is_there = [&](const model::TaskPlacement& task) {
                return task.node == node;
            };
            const bool is_placed =
                std::ranges::any_of(job.placed, is_there, &cluster::PlacedTask::place);
            const bool is_promised =
                job.reservation && std::ranges::any_of(job.reservation->tasks, is_there);
            if (is_placed || is_promised) {
                report(", but job " + std::to_string(id.value) + " is on " + name);
            }
        }
    }

    cluster::Cluster cluster_;
    std::string what_;
};

}  // namespace

std::vector<std::string> check_node_moves(const cluster::Cluster& before, const model::Plan& plan,
                                          model::TimePoint now) {
    if (plan.node_moves.empty()) return {};
    NodeMoves moves(before);
    for (const model::NodeMove& move : plan.node_moves) moves.check(move);
    model::Plan alone;
    alone.node_moves = plan.node_moves;
    alone.next_wakeup = now;
    if (!(plan == alone)) moves.found.push_back("I14: more is decided than which nodes move");
    return moves.found;
}

}  // namespace berth::proof
