// SPDX-License-Identifier: Apache-2.0
#include "scheduling/explain/kind_refusal.h"

#include <algorithm>
#include <vector>

namespace berth::scheduling {
namespace {

using model::Cause;

// The first term of each way to satisfy the filter that holds for none of the nodes, and so for all
// ways; nothing where some way could be satisfied by each term apart.
std::string lacking_labels(const cluster::Shape& shape, const std::vector<model::Node>& nodes) {
    const auto is_held = [&](const model::NodeTerm& term) {
        return std::ranges::any_of(nodes, [&](const model::Node& node) {
            return model::satisfies(node.name, node.labels, term);
        });
    };
    const auto first_lacking = [&](const std::vector<model::NodeTerm>& terms) {
        const auto found = std::ranges::find_if_not(terms, is_held);
        return found == terms.end() ? std::string() : format(*found);
    };
    if (auto lacking = first_lacking(model::terms_of(shape.labels, {})); !lacking.empty()) {
        return lacking;
    }
    std::string all;
    for (const model::NodeTerms& terms : shape.filter.any_of) {
        const std::string lacking = first_lacking(terms);
        if (lacking.empty()) return {};
        all += (all.empty() ? "" : " or ") + lacking;
    }
    return all;
}

}  // namespace

KindRefusal kind_refusal(const PoolView& view, ShapeId id) {
    const cluster::Shape& shape = view.cluster.shape(id);
    cluster::Shape anywhere = shape;  // where the GPUs are that it asks for
    anywhere.labels.clear();
    anywhere.filter = {};
    anywhere.tolerations = {model::Toleration{}};
    bool is_any_large_enough = false;
    std::vector<model::Node> with_gpus;
    for (std::size_t i = 0; i < view.cluster.nodes().size(); ++i) {
        const NodeId at{static_cast<NodeId::Rep>(i)};
        if (!view.has_for_good(at)) continue;
        model::Node node = view.cluster.description(at);
        if (!node.shares_lack.empty() && shape.shares() && cluster::is_of_kind(shape, node))
            return {Cause::SharesNotKept, node.shares_lack};
        is_any_large_enough |=
            node.gpus >= shape.request.gpus && model::share_of(shape.request, node).has_value();
        if (cluster::is_of_kind(anywhere, node)) with_gpus.push_back(std::move(node));
    }
    if (std::string lacking = lacking_labels(shape, with_gpus);
        !with_gpus.empty() && !lacking.empty()) {
        return {Cause::NoNodeWithLabel, std::move(lacking)};
    }
    for (const model::Node& node : with_gpus) {
        const model::Taint* taint = model::not_tolerated(node.taints, shape.tolerations);
        const bool is_labelled = cluster::carries(node.labels, shape.labels) &&
                                 model::satisfies(node.name, node.labels, shape.filter);
        if (is_labelled && taint != nullptr) {
            return {Cause::TaintNotTolerated, format(*taint)};
        }
    }
    const bool asks_for_kind =
        !shape.gpu_model.empty() || !shape.labels.empty() || !shape.filter.any_of.empty();
    return {asks_for_kind && is_any_large_enough ? Cause::NoNodeOfKind : Cause::NeverFitsNode};
}

}  // namespace berth::scheduling
