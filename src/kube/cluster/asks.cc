// SPDX-License-Identifier: Apache-2.0
#include "kube/cluster/asks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kube/cluster/node_of.h"
#include "model/limits.h"

namespace berth::kube::cluster {
namespace {

using objects::PodAsk;
using objects::Requirement;

std::string_view field_of(objects::Unsupported field) {
    switch (field) {
        case objects::Unsupported::PodAffinity: return "required podAffinity";
        case objects::Unsupported::PodAntiAffinity: return "required podAntiAffinity";
        case objects::Unsupported::TopologySpread: return "topologySpreadConstraints";
        case objects::Unsupported::HostPort: return "hostPort";
        case objects::Unsupported::VolumeClaim: return "a persistentVolumeClaim";
        case objects::Unsupported::Disk: return "a disk as a volume";
        case objects::Unsupported::ResourceClaim: return "resourceClaims";
    }
    return "";
}

std::optional<model::NodeOperator> operator_of(objects::Operator op) {
    switch (op) {
        case objects::Operator::In: return model::NodeOperator::In;
        case objects::Operator::NotIn: return model::NodeOperator::NotIn;
        case objects::Operator::Exists: return model::NodeOperator::Exists;
        case objects::Operator::DoesNotExist: return model::NodeOperator::DoesNotExist;
        case objects::Operator::Gt: return model::NodeOperator::Gt;
        case objects::Operator::Lt: return model::NodeOperator::Lt;
        case objects::Operator::Unknown: break;
    }
    return {};
}

base::Result<model::NodeTerm> term_of(const Requirement& requirement) {
    const bool is_name = requirement.on == Requirement::On::Field;
    if (is_name && *requirement.key != "metadata.name") {
        return base::invalid("nodeAffinity: wanted metadata.name in matchFields, found " +
                             model::in_quotes(*requirement.key));
    }
    const auto op = operator_of(requirement.op);
    if (!op) return base::invalid("nodeAffinity: an operator that Berth does not know");
    model::NodeTerm term{is_name ? model::kNodeNameKey : *requirement.key, *op, {}};
    for (const objects::Word& value : requirement.values) term.values.push_back(*value);
    return term;
}

base::Result<model::NodeFilter> filter_of(const PodAsk& ask) {
    model::NodeFilter filter;
    std::string why;
    for (const objects::NodeTerm& alternative : ask.node_terms) {
        model::NodeTerms terms;
        for (const Requirement& requirement : alternative) {
            BERTH_TRY(term, term_of(requirement));
            terms.push_back(std::move(term));
        }
        // No node satisfies an empty term, or one with Gt of what is no number: others may do.
        if (const auto sound = model::check(model::NodeFilter{{terms}}); !sound) {
            why = sound.error().message;
        } else {
            filter.any_of.push_back(std::move(terms));
        }
    }
    if (filter.any_of.empty() && !ask.node_terms.empty())
        return base::invalid("nodeAffinity: no node satisfies it: " + why);
    return filter;
}

model::Toleration toleration_of(const objects::Toleration& said) {
    model::Toleration toleration{*said.key};
    if (!said.is_exists) toleration.value = *said.value;
    for (std::size_t at = 0; at < model::kTaintEffectNames.size(); ++at) {
        if (*said.effect == model::kTaintEffectNames[at])
            toleration.effect = static_cast<model::TaintEffect>(at);
    }
    return toleration;
}

}  // namespace

base::Result<model::JobSpec> spec_of(const PodAsk& ask) {
    if (!ask.unsupported.empty()) {
        return base::invalid(std::string(field_of(ask.unsupported.front())) +
                             " is not supported; leave it out, or let another scheduler place it");
    }
    model::JobSpec spec;
    spec.request.gpus = static_cast<int>(
        std::min<std::int64_t>(ask.requests.of(kGpuResource), model::kGpusPerNodeMax + 1));
    spec.request.cpu = ask.requests.cpu();
    spec.request.memory = ask.requests.memory();
    spec.request.resources = resources_of(ask.requests);
    for (const objects::Label& label : ask.node_selector)
        spec.node_labels[*label.key] = *label.value;
    BERTH_TRY(filter, filter_of(ask));
    spec.node_filter = std::move(filter);
    for (const objects::Toleration& said : ask.tolerations)
        spec.tolerations.push_back(toleration_of(said));
    if (!ask.priority_class->empty())
        spec.priority = std::clamp(ask.priority, -model::kPriorityMax, model::kPriorityMax);
    spec.preemptible = spec.priority < model::kNotPreemptibleFrom;
    BERTH_TRY_VOID(model::check_limits(spec));
    return spec;
}

objects::Amounts beside(const objects::Amounts& held, const model::TaskRequest& asked) {
    objects::Amounts more;
    for (const objects::Amount& amount : held.all()) {
        std::int64_t of_it = amount.value;
        if (*amount.resource == "cpu") of_it = asked.cpu.value_or(base::MilliCpu{0}).value;
        if (*amount.resource == "memory") of_it = asked.memory.value_or(base::Bytes{0}).value;
        if (amount.value != of_it) more.set(amount.resource, amount.value - of_it);
    }
    return more;
}

}  // namespace berth::kube::cluster
