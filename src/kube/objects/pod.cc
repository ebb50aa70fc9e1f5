// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/pod.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kube/objects/amounts_reader.h"
#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

using codec::JsonReader;

Operator read_operator(JsonReader& reader) {
    static constexpr std::array<std::string_view, 6> kNames{"In",           "NotIn", "Exists",
                                                            "DoesNotExist", "Gt",    "Lt"};
    const auto found = std::ranges::find(kNames, reader.read_text());
    return static_cast<Operator>(found - kNames.begin());
}

// What a container requests. The server writes into a pod, and not into a template, that what has
// a limit alone is requested as much of.
Amounts read_requests(JsonReader& reader, MetaPools& pools, bool is_template) {
    Amounts requests;
    Amounts limits;
    each_field(reader, [&](std::string_view key) {
        if (key == "requests") return requests = read_amounts(reader, pools), true;
        if (key == "limits" && is_template) return limits = read_amounts(reader, pools), true;
        return false;
    });
    for (const Amount& limit : limits.all()) {
        const auto requested = std::ranges::find(requests.all(), limit.resource, &Amount::resource);
        if (requested == requests.all().end()) requests.set(limit.resource, limit.value);
    }
    return requests;
}

// Sums over the pod's containers by the rule of the Kubernetes scheduler: containers and sidecars
// run together; an init container beside the sidecars before it, before all others.
struct Sums {
    Amounts containers;
    Amounts sidecars;
    Amounts most_at_start;
    Amounts pod_level;  // spec.resources: stands for cpu and memory of all containers
    Amounts overhead;

    Amounts total() const {
        Amounts all = containers;
        all.add(sidecars);
        all.raise_to(most_at_start);
        for (const Amount& amount : pod_level.all()) all.set(amount.resource, amount.value);
        all.add(overhead);
        return all;
    }
};

class SpecReader {
  public:
    SpecReader(JsonReader& reader, PodPools& pools, bool is_template = false)
        : reader_(reader), pools_(pools), is_template_(is_template) {}

    void read(Pod& pod) {
        each_field(reader_, [&](std::string_view key) {
            if (key == "nodeName") return pod.node = word(), true;
            if (key == "schedulingGates") return read_gates(pod.is_gated), true;
            return take_scheduling(key) || take_requests(key) || take_node(key);
        });
        ask_.requests = sums_.total();
        std::ranges::sort(ask_.unsupported);
        const auto repeated = std::ranges::unique(ask_.unsupported);
        ask_.unsupported.erase(repeated.begin(), repeated.end());
        pod.ask = pools_.asks.keep(std::move(ask_));
    }

  private:
    Word word() { return read_word(reader_, pools_.meta); }

    bool take_scheduling(std::string_view key) {
        if (key == "schedulerName") return ask_.scheduler = word(), true;
        if (key == "priority") {
            ask_.priority = static_cast<std::int32_t>(reader_.read_int());
            return true;
        }
        if (key == "priorityClassName") return ask_.priority_class = word(), true;
        if (key == "preemptionPolicy") {
            ask_.may_preempt = reader_.read_text() != "Never";
            return true;
        }
        if (key == "terminationGracePeriodSeconds") return ask_.grace_s = reader_.read_int(), true;
        return false;
    }

    bool take_requests(std::string_view key) {
        if (key == "containers") return read_containers(), true;
        if (key == "initContainers") return read_init_containers(), true;
        if (key == "overhead") {
            sums_.overhead = read_amounts(reader_, pools_.meta);
            return true;
        }
        if (key == "resources") {
            sums_.pod_level = read_requests(reader_, pools_.meta, is_template_);
            return true;
        }
        if (key == "volumes") return read_volumes(), true;
        if (key == "resourceClaims") {
            each_item(reader_, [&] {
                note(Unsupported::ResourceClaim);
                reader_.skip();
            });
            return true;
        }
        return false;
    }

    bool take_node(std::string_view key) {
        if (key == "nodeSelector") return read_node_selector(), true;
        if (key == "affinity") return read_affinity(), true;
        if (key == "tolerations") return read_tolerations(), true;
        if (key == "topologySpreadConstraints") return read_spread(), true;
        return false;
    }

    void note(Unsupported what) { ask_.unsupported.push_back(what); }

    void read_gates(bool& is_gated) {
        each_item(reader_, [&] {
            is_gated = true;
            reader_.skip();
        });
    }

    struct Container {
        Amounts requests;
        bool is_sidecar = false;
    };
    Container read_container() {
        Container container;
        each_field(reader_, [&](std::string_view key) {
            if (key == "resources") {
                container.requests = read_requests(reader_, pools_.meta, is_template_);
                return true;
            }
            if (key == "restartPolicy") {
                container.is_sidecar = reader_.read_text() == "Always";
                return true;
            }
            if (key == "ports") return read_ports(), true;
            return false;
        });
        return container;
    }

    void read_containers() {
        each_item(reader_, [&] { sums_.containers.add(read_container().requests); });
    }

    void read_init_containers() {
        each_item(reader_, [&] {
            Container container = read_container();
            if (container.is_sidecar) return sums_.sidecars.add(container.requests);
            container.requests.add(sums_.sidecars);
            sums_.most_at_start.raise_to(container.requests);
        });
    }

    void read_ports() {
        each_item(reader_, [&] {
            each_field(reader_, [&](std::string_view key) {
                if (key != "hostPort") return false;
                if (reader_.read_int() != 0) note(Unsupported::HostPort);
                return true;
            });
        });
    }

    void read_volumes() {
        each_item(reader_, [&] {
            each_field(reader_, [&](std::string_view key) {
                if (key == "persistentVolumeClaim" || key == "ephemeral") {
                    note(Unsupported::VolumeClaim);
                }
                return false;
            });
        });
    }

    void read_node_selector() {
        each_field(reader_, [&](std::string_view key) {
            Label label;
            label.key = pools_.meta.words.keep(key);
            label.value = word();
            ask_.node_selector.push_back(std::move(label));
            return true;
        });
    }

    void read_affinity() {
        each_field(reader_, [&](std::string_view key) {
            if (key == "nodeAffinity") return read_node_affinity(), true;
            if (key == "podAffinity") return read_pod_affinity(Unsupported::PodAffinity), true;
            if (key == "podAntiAffinity") {
                return read_pod_affinity(Unsupported::PodAntiAffinity), true;
            }
            return false;
        });
    }

    void read_pod_affinity(Unsupported what) {
        each_field(reader_, [&](std::string_view key) {
            if (key != "requiredDuringSchedulingIgnoredDuringExecution") return false;
            each_item(reader_, [&] {
                note(what);
                reader_.skip();
            });
            return true;
        });
    }

    void read_node_affinity() {
        each_field(reader_, [&](std::string_view key) {
            if (key != "requiredDuringSchedulingIgnoredDuringExecution") return false;
            each_field(reader_, [&](std::string_view name) {
                if (name != "nodeSelectorTerms") return false;
                each_item(reader_, [&] { ask_.node_terms.push_back(read_term()); });
                return true;
            });
            return true;
        });
    }

    NodeTerm read_term() {
        NodeTerm term;
        each_field(reader_, [&](std::string_view key) {
            const bool is_label = key == "matchExpressions";
            if (!is_label && key != "matchFields") return false;
            each_item(reader_, [&] {
                term.push_back(
                    read_requirement(is_label ? Requirement::On::Label : Requirement::On::Field));
            });
            return true;
        });
        return term;
    }

    Requirement read_requirement(Requirement::On on) {
        Requirement requirement;
        requirement.on = on;
        each_field(reader_, [&](std::string_view key) {
            if (key == "key") return requirement.key = word(), true;
            if (key == "operator") return requirement.op = read_operator(reader_), true;
            if (key == "values") {
                each_item(reader_, [&] { requirement.values.push_back(word()); });
                return true;
            }
            return false;
        });
        return requirement;
    }

    void read_tolerations() {
        each_item(reader_, [&] {
            Toleration toleration;
            bool is_known = true;
            each_field(reader_, [&](std::string_view key) {
                if (key == "key") return toleration.key = word(), true;
                if (key == "operator") {
                    const std::string_view op = reader_.read_text();
                    toleration.is_exists = op == "Exists";
                    is_known = toleration.is_exists || op == "Equal" || op.empty();
                    return true;
                }
                if (key == "value") return toleration.value = word(), true;
                if (key == "effect") return toleration.effect = word(), true;
                return false;
            });
            // tolerationSeconds says how long it stays, which is not the scheduler's business.
            if (is_known) ask_.tolerations.push_back(std::move(toleration));
        });
    }

    void read_spread() {
        each_item(reader_, [&] {
            bool is_required = true;
            each_field(reader_, [&](std::string_view key) {
                if (key != "whenUnsatisfiable") return false;
                is_required = reader_.read_text() != "ScheduleAnyway";
                return true;
            });
            if (is_required) note(Unsupported::TopologySpread);
        });
    }

    JsonReader& reader_;
    PodPools& pools_;
    bool is_template_;
    PodAsk ask_;
    Sums sums_;
};

Phase read_phase(JsonReader& reader) {
    const std::string_view text = reader.read_text();
    if (text == "Running") return Phase::Running;
    if (text == "Succeeded") return Phase::Succeeded;
    if (text == "Failed") return Phase::Failed;
    return text == "Pending" ? Phase::Pending : Phase::Unknown;
}

void read_condition(JsonReader& reader, MetaPools& pools, Pod& pod) {
    bool is_scheduled = false;
    bool is_false = false;
    Word reason;
    std::optional<base::TimePoint> since;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") return is_scheduled = reader.read_text() == "PodScheduled", true;
        if (key == "status") return is_false = reader.read_text() == "False", true;
        if (key == "reason") return reason = read_word(reader, pools), true;
        if (key == "lastTransitionTime") return since = read_time(reader), true;
        return false;
    });
    if (!is_scheduled) return;
    pod.scheduled_since = since;
    pod.unscheduled_reason = is_false ? reason : Word{};
}

// What the kubelet has allocated to a running container: differs from its request after a resize.
void read_allocated(JsonReader& reader, MetaPools& pools, Amounts& allocated) {
    each_item(reader, [&] {
        each_field(reader, [&](std::string_view key) {
            if (key != "allocatedResources") return false;
            allocated.add(read_amounts(reader, pools));
            return true;
        });
    });
}

Amounts read_status(JsonReader& reader, MetaPools& pools, Pod& pod) {
    Amounts allocated;
    each_field(reader, [&](std::string_view key) {
        if (key == "phase") return pod.phase = read_phase(reader), true;
        if (key == "nominatedNodeName") return pod.nominated_node = read_word(reader, pools), true;
        if (key == "conditions") {
            each_item(reader, [&] { read_condition(reader, pools, pod); });
            return true;
        }
        if (key == "containerStatuses") return read_allocated(reader, pools, allocated), true;
        return false;
    });
    return allocated;
}

// Overhead, sidecars and what no kubelet reports are as requested.
void apply_resize(const Amounts& allocated, PodPools& pools, Pod& pod) {
    Amounts held = pod.ask->requests;
    for (const Amount& amount : allocated.all()) {
        const bool is_resizable = *amount.resource == "cpu" || *amount.resource == "memory";
        if (is_resizable) held.set(amount.resource, amount.value);
    }
    if (held != pod.ask->requests) pod.resized = pools.amounts.keep(std::move(held));
}

}  // namespace

std::size_t hash_of(const PodAsk& ask) {
    std::size_t hash = hash_of(ask.requests) * 31 + hash_of(ask.node_selector);
    hash = hash * 31 + std::hash<const void*>{}(ask.scheduler.identity());
    hash = hash * 31 + std::hash<const void*>{}(ask.priority_class.identity());
    for (const NodeTerm& term : ask.node_terms) {
        for (const Requirement& requirement : term) {
            hash = hash * 31 + std::hash<const void*>{}(requirement.key.identity());
            for (const Word& value : requirement.values) {
                hash = hash * 31 + std::hash<const void*>{}(value.identity());
            }
        }
    }
    return hash * 31 + ask.tolerations.size();
}

Pod read_pod(codec::JsonReader& reader, PodPools& pools) {
    Pod pod;
    Amounts allocated;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return pod.meta = read_meta(reader, pools.meta), true;
        if (key == "spec") return SpecReader(reader, pools).read(pod), true;
        if (key == "status") return allocated = read_status(reader, pools.meta, pod), true;
        return false;
    });
    if (!pod.meta.uid) reader.fail("wanted a pod with metadata");
    if (!allocated.all().empty()) apply_resize(allocated, pools, pod);
    return pod;
}

Interned<PodAsk> read_template(codec::JsonReader& reader, PodPools& pools) {
    Pod pod;
    each_field(reader, [&](std::string_view key) {
        return key == "spec" && (SpecReader(reader, pools, true).read(pod), true);
    });
    return pod.ask;
}

}  // namespace berth::kube::objects
