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

// What a container, or the pod as a whole, requests, and its limits; in thousandths.
struct Resources {
    Amounts requests;
    Amounts limits;
};

Resources read_resources(JsonReader& reader, MetaPools& pools) {
    Resources resources;
    each_field(reader, [&](std::string_view key) {
        if (key == "requests")
            return read_into(resources.requests, read_thousandths(reader, pools));
        if (key == "limits") return read_into(resources.limits, read_thousandths(reader, pools));
        return false;
    });
    return resources;
}

// Of each resource that `amounts` does not name as much as `others` says.
void complete(Amounts& amounts, const Amounts& others) {
    for (const Amount& other : others.all()) {
        const auto& all = amounts.all();
        if (std::ranges::find(all, other.resource, &Amount::resource) == all.end())
            amounts.set(other.resource, other.value);
    }
}

struct Container {
    Word name;
    Amounts requests;
    bool is_before = false;  // one of initContainers
    bool is_sidecar = false;
};

// What the Kubernetes scheduler counts of a pod: containers and sidecars run together; an init
// container beside the sidecars before it, before all others. In thousandths, so that the sum alone
// is rounded.
struct Requests {
    std::vector<Container> containers;
    Resources pod_level;  // spec.resources: stands for cpu and memory of all containers
    Amounts overhead;

    Amounts total() const {
        Amounts all;
        Amounts sidecars;
        Amounts most_at_start;
        for (const Container& container : containers) {
            if (!container.is_before || container.is_sidecar) all.add(container.requests);
            if (!container.is_before) continue;
            Amounts beside = sidecars;
            beside.add(container.requests);
            most_at_start.raise_to(beside);
            if (container.is_sidecar) sidecars = std::move(beside);
        }
        all.raise_to(most_at_start);
        complete(all, pod_level.limits);
        for (const Amount& amount : pod_level.requests.all())
            all.set(amount.resource, amount.value);
        all.add(overhead);
        return in_units(std::move(all));
    }
};

// Which pods of one node may not share, by a rule of the Kubernetes scheduler.
bool is_disk(std::string_view volume) {
    return volume == "awsElasticBlockStore" || volume == "gcePersistentDisk" || volume == "iscsi" ||
           volume == "rbd";
}

class SpecReader {
  public:
    SpecReader(JsonReader& reader, PodPools& pools, bool is_template = false)
        : reader_(reader), pools_(pools), is_template_(is_template) {}

    Requests read(Pod& pod) {
        each_field(reader_, [&](std::string_view key) {
            if (key == "nodeName") return read_into(pod.node, word());
            if (key == "schedulingGates") {
                read_gates(pod.is_gated);
                return true;
            }
            return take_scheduling(key) || take_requests(key) || take_node(key);
        });
        ask_.requests = requests_.total();
        std::ranges::sort(ask_.unsupported);
        const auto repeated = std::ranges::unique(ask_.unsupported);
        ask_.unsupported.erase(repeated.begin(), repeated.end());
        pod.ask = pools_.asks.keep(std::move(ask_));
        return std::move(requests_);
    }

  private:
    Word word() { return read_word(reader_, pools_.meta); }

    bool take_scheduling(std::string_view key) {
        if (key == "schedulerName") return read_into(ask_.scheduler, word());
        if (key == "priority") {
            ask_.priority = static_cast<std::int32_t>(reader_.read_int());
            return true;
        }
        if (key == "priorityClassName") return read_into(ask_.priority_class, word());
        if (key == "preemptionPolicy") {
            ask_.may_preempt = reader_.read_text() != "Never";
            return true;
        }
        if (key == "terminationGracePeriodSeconds")
            return read_into(ask_.grace_s, reader_.read_int());
        return false;
    }

    bool take_requests(std::string_view key) {
        if (key == "containers" || key == "initContainers") {
            const bool is_before = key == "initContainers";
            each_item(reader_, [&] { read_container().is_before = is_before; });
            return true;
        }
        if (key == "overhead") {
            requests_.overhead = read_thousandths(reader_, pools_.meta);
            return true;
        }
        if (key == "resources") {
            requests_.pod_level = read_resources(reader_, pools_.meta);
            if (!is_template_) requests_.pod_level.limits = {};
            return true;
        }
        if (key == "volumes") {
            read_volumes();
            return true;
        }
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
        if (key == "nodeSelector") {
            read_node_selector();
            return true;
        }
        if (key == "affinity") {
            read_affinity();
            return true;
        }
        if (key == "tolerations") {
            read_tolerations();
            return true;
        }
        if (key == "topologySpreadConstraints") {
            read_spread();
            return true;
        }
        return false;
    }

    void note(Unsupported what) { ask_.unsupported.push_back(what); }

    void read_gates(bool& is_gated) {
        each_item(reader_, [&] {
            is_gated = true;
            reader_.skip();
        });
    }

    // The server writes into a pod, and not into a template, that what has a limit alone is
    // requested as much of.
    Container& read_container() {
        Container container;
        each_field(reader_, [&](std::string_view key) {
            if (key == "name") return read_into(container.name, word());
            if (key == "resources") {
                Resources resources = read_resources(reader_, pools_.meta);
                container.requests = std::move(resources.requests);
                if (is_template_) complete(container.requests, resources.limits);
                return true;
            }
            if (key == "restartPolicy") {
                container.is_sidecar = reader_.read_text() == "Always";
                return true;
            }
            if (key == "ports") {
                read_ports();
                return true;
            }
            return false;
        });
        return requests_.containers.emplace_back(std::move(container));
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
                if (key == "persistentVolumeClaim" || key == "ephemeral")
                    note(Unsupported::VolumeClaim);
                if (is_disk(key)) note(Unsupported::Disk);
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
            if (key == "nodeAffinity") {
                read_node_affinity();
                return true;
            }
            if (key == "podAffinity") {
                read_pod_affinity(Unsupported::PodAffinity);
                return true;
            }
            if (key == "podAntiAffinity") {
                read_pod_affinity(Unsupported::PodAntiAffinity);
                return true;
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
                term.push_back(read_requirement(reader_, pools_.meta));
                if (!is_label) term.back().on = Requirement::On::Field;
            });
            return true;
        });
        return term;
    }

    void read_tolerations() {
        each_item(reader_, [&] {
            Toleration toleration;
            bool is_known = true;
            each_field(reader_, [&](std::string_view key) {
                if (key == "key") return read_into(toleration.key, word());
                if (key == "operator") {
                    const std::string_view op = reader_.read_text();
                    toleration.is_exists = op == "Exists";
                    is_known = toleration.is_exists || op == "Equal" || op.empty();
                    return true;
                }
                if (key == "value") return read_into(toleration.value, word());
                if (key == "effect") return read_into(toleration.effect, word());
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
    Requests requests_;
};

Phase read_phase(JsonReader& reader) {
    const std::string_view text = reader.read_text();
    if (text == "Running") return Phase::Running;
    if (text == "Succeeded") return Phase::Succeeded;
    if (text == "Failed") return Phase::Failed;
    return text == "Pending" ? Phase::Pending : Phase::Unknown;
}

// What the kubelet says of a container: the most of what it has allocated and what runs.
struct Report {
    Word container;
    Amounts requests;
};

struct PodStatus {
    std::vector<Report> reports;
    // Of spec.resources what runs, and, where that is said, what was allocated.
    Amounts pod_level;
    Amounts pod_allocated;
    bool is_resize_infeasible = false;
};

void read_condition(JsonReader& reader, MetaPools& pools, Pod& pod, PodStatus& status) {
    bool is_scheduled = false;
    bool is_resize = false;
    bool is_false = false;
    Word reason;
    std::optional<base::TimePoint> since;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") {
            const std::string_view type = reader.read_text();
            is_scheduled = type == "PodScheduled";
            is_resize = type == "PodResizePending";
            return true;
        }
        if (key == "status") return read_into(is_false, reader.read_text() == "False");
        if (key == "reason") return read_into(reason, read_word(reader, pools));
        if (key == "lastTransitionTime") return read_into(since, read_time(reader));
        return false;
    });
    if (is_resize) status.is_resize_infeasible = *reason == "Infeasible";
    if (!is_scheduled) return;
    pod.scheduled_since = since;
    pod.unscheduled_reason = is_false ? reason : Word{};
}

Report read_report(JsonReader& reader, MetaPools& pools) {
    Report report;
    each_field(reader, [&](std::string_view key) {
        if (key == "name") return read_into(report.container, read_word(reader, pools));
        if (key == "allocatedResources") {
            report.requests.raise_to(read_thousandths(reader, pools));
            return true;
        }
        if (key == "resources") {
            report.requests.raise_to(read_resources(reader, pools).requests);
            return true;
        }
        return false;
    });
    return report;
}

// Of what a pod can say for all of its containers.
Amounts of_pod_level(const Amounts& all) {
    Amounts some;
    for (const Amount& amount : all.all()) {
        const std::string& name = *amount.resource;
        if (name == "cpu" || name == "memory" || name.starts_with("hugepages-"))
            some.set(amount.resource, amount.value);
    }
    return some;
}

PodStatus read_status(JsonReader& reader, MetaPools& pools, Pod& pod) {
    PodStatus status;
    each_field(reader, [&](std::string_view key) {
        if (key == "phase") return read_into(pod.phase, read_phase(reader));
        if (key == "nominatedNodeName")
            return read_into(pod.nominated_node, read_word(reader, pools));
        if (key == "conditions") {
            each_item(reader, [&] { read_condition(reader, pools, pod, status); });
            return true;
        }
        if (key == "resources") {
            status.pod_level = of_pod_level(read_resources(reader, pools).requests);
            return true;
        }
        if (key == "allocatedResources") {
            status.pod_allocated = of_pod_level(read_thousandths(reader, pools));
            return true;
        }
        if (key == "containerStatuses" || key == "initContainerStatuses") {
            each_item(reader, [&] { status.reports.push_back(read_report(reader, pools)); });
            return true;
        }
        return false;
    });
    return status;
}

// A container, or a pod, that is resized takes the most of what it requests, was allocated and has,
// until its kubelet is done; what its node cannot give it never will.
Amounts held(Requests requests, const PodStatus& status) {
    for (Container& container : requests.containers) {
        const auto report = std::ranges::find(status.reports, container.name, &Report::container);
        if (report == status.reports.end()) continue;
        if (status.is_resize_infeasible) container.requests = {};
        container.requests.raise_to(report->requests);
    }
    Amounts& pod_level = requests.pod_level.requests;
    if (!pod_level.all().empty() && !status.pod_level.all().empty()) {
        if (status.is_resize_infeasible) pod_level = {};
        pod_level.raise_to(status.pod_level);
        pod_level.raise_to(status.pod_allocated);
    }
    return requests.total();
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
    Requests requests;
    PodStatus status;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(pod.meta, read_meta(reader, pools.meta));
        if (key == "spec") return read_into(requests, SpecReader(reader, pools).read(pod));
        if (key == "status") return read_into(status, read_status(reader, pools.meta, pod));
        return false;
    });
    if (!pod.meta.uid) reader.fail("wanted a pod with metadata");
    if (status.reports.empty() && status.pod_level.all().empty()) return pod;
    Amounts now = held(std::move(requests), status);
    if (now != pod.ask->requests) pod.resized = pools.amounts.keep(std::move(now));
    return pod;
}

PodTemplate read_template(codec::JsonReader& reader, PodPools& pools) {
    Pod pod;
    PodTemplate made;
    each_field(reader, [&](std::string_view key) {
        if (key == "spec") {
            SpecReader(reader, pools, true).read(pod);
            return true;
        }
        if (key != "metadata") return false;
        each_field(reader, [&](std::string_view inner) {
            return inner == "labels" && read_into(made.labels, read_labels(reader, pools.meta));
        });
        return true;
    });
    made.ask = pod.ask;
    return made;
}

Requirement read_requirement(codec::JsonReader& reader, MetaPools& pools) {
    Requirement requirement;
    each_field(reader, [&](std::string_view key) {
        if (key == "key") return read_into(requirement.key, read_word(reader, pools));
        if (key == "operator") return read_into(requirement.op, read_operator(reader));
        if (key != "values") return false;
        each_item(reader, [&] { requirement.values.push_back(read_word(reader, pools)); });
        return true;
    });
    return requirement;
}

}  // namespace berth::kube::objects
