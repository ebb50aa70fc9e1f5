// SPDX-License-Identifier: Apache-2.0
#include "kube/people/read.h"

#include <algorithm>

#include "codec/words/timestamp.h"
#include "kube/objects/walk.h"

namespace berth::kube::people {
namespace {

using codec::JsonReader;
using objects::each_field;
using objects::each_item;
using objects::read_into;

// A condition of a status.
struct Condition {
    std::string type;
    bool is_true = false;
    bool is_false = false;
    std::string reason;
    std::string message;
    std::optional<base::TimePoint> since;
};

Condition read_condition_of(JsonReader& reader) {
    Condition condition;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") return read_into(condition.type, reader.read_text());
        if (key == "status") {
            const std::string_view status = reader.read_text();
            condition.is_true = status == "True";
            condition.is_false = status == "False";
            return true;
        }
        if (key == "reason") return read_into(condition.reason, reader.read_text());
        if (key == "message") return read_into(condition.message, reader.read_string());
        if (key == "lastTransitionTime")
            return read_into(condition.since, objects::read_time(reader));
        return false;
    });
    return condition;
}

std::optional<base::TimePoint> read_container_end(JsonReader& reader) {
    std::optional<base::TimePoint> end;
    each_field(reader, [&](std::string_view key) {
        if (key != "state") return false;
        each_field(reader, [&](std::string_view state) {
            if (state != "terminated") return false;
            each_field(reader, [&](std::string_view field) {
                if (field != "finishedAt") return false;
                return read_into(end, objects::read_time(reader));
            });
            return true;
        });
        return true;
    });
    return end;
}

void read_gates(JsonReader& reader, ReadPod& pod) {
    each_item(reader, [&] {
        each_field(reader, [&](std::string_view key) {
            if (key != "name") return false;
            pod.gates.emplace_back(reader.read_text());
            return true;
        });
    });
}

void read_pod_status(JsonReader& reader, ReadPod& pod) {
    each_field(reader, [&](std::string_view key) {
        if (key == "conditions") {
            each_item(reader, [&] {
                Condition condition = read_condition_of(reader);
                if (condition.type != "PodScheduled" || !condition.is_false) return;
                pod.reason = std::move(condition.reason);
                pod.message = std::move(condition.message);
            });
            return true;
        }
        if (key != "containerStatuses") return false;
        each_item(reader, [&] {
            const auto end = read_container_end(reader);
            if (end && (!pod.ended || *pod.ended < *end)) pod.ended = end;
        });
        return true;
    });
}

ReadPod read_pod_whole(JsonReader& reader, Read& read) {
    JsonReader again = reader;
    ReadPod pod;
    static_cast<objects::Pod&>(pod) = objects::read_pod(reader, read.pools);
    each_field(again, [&](std::string_view key) {
        if (key == "status") {
            read_pod_status(again, pod);
            return true;
        }
        if (key != "spec") return false;
        each_field(again, [&](std::string_view field) {
            if (field != "schedulingGates") return false;
            read_gates(again, pod);
            return true;
        });
        return true;
    });
    return pod;
}

ReadWorkload read_workload_whole(JsonReader& reader, Read& read, objects::WorkloadKind kind) {
    JsonReader again = reader;
    ReadWorkload job;
    static_cast<objects::Workload&>(job) = objects::read_workload(kind, reader, read.pools);
    each_field(again, [&](std::string_view key) {
        if (key != "status") return false;
        each_field(again, [&](std::string_view field) {
            if (field == "active") return read_into(job.active, again.read_int());
            if (field != "conditions") return false;
            each_item(again, [&] {
                Condition condition = read_condition_of(again);
                if (!condition.is_true) return;
                const bool is_end = condition.type == "Complete" || condition.type == "Completed" ||
                                    condition.type == "Failed";
                if (!is_end) return;
                job.ended = condition.since;
                if (condition.type == "Failed") job.ending = std::move(condition.message);
            });
            return true;
        });
        return true;
    });
    return job;
}

// As the scheduler writes them: at most three digits behind the point; -1 for no bound.
std::optional<base::MilliGpu> read_gpus(JsonReader& reader) {
    const auto thousandths = objects::parse_quantity(reader.read_number_text());
    if (!thousandths) return {};
    return *thousandths < 0 ? model::kUnlimited : base::MilliGpu{*thousandths};
}

bool read_use(JsonReader& reader, std::string_view key, Use& use) {
    if (key == "quota") return read_into(use.quota, read_gpus(reader));
    if (key == "fairShare") return read_into(use.fair_share, read_gpus(reader));
    if (key == "used") return read_into(use.used, read_gpus(reader));
    if (key == "over") return read_into(use.over, read_gpus(reader));
    if (key == "waiting") return read_into(use.waiting, reader.read_int());
    return false;
}

ReadProject read_project_whole(JsonReader& reader, Read& read) {
    JsonReader again = reader;
    ReadProject project;
    static_cast<objects::DeclaredProject&>(project) =
        objects::read_project(reader, read.pools.meta);
    each_field(again, [&](std::string_view key) {
        if (key != "status") return false;
        each_field(again, [&](std::string_view field) {
            if (field != "pools") return read_use(again, field, project.use);
            each_field(again, [&](std::string_view pool) {
                Use& use = project.pools[std::string(pool)];
                each_field(again,
                           [&](std::string_view number) { return read_use(again, number, use); });
                return true;
            });
            return true;
        });
        return true;
    });
    return project;
}

// A list has items; what has none is one object.
template <typename ReadOne>
base::Result<std::string> add_all(std::string_view answer, std::string_view what, ReadOne read) {
    std::string more;
    bool is_list = false;
    JsonReader reader(answer, JsonReader::Zero::Replaced);
    JsonReader whole(answer);
    each_field(reader, [&](std::string_view key) {
        if (key == "items") {
            is_list = true;
            each_item(reader, [&] { read(reader); });
            return true;
        }
        if (key != "metadata") return false;
        each_field(reader, [&](std::string_view field) {
            return field == "continue" && read_into(more, reader.read_text());
        });
        return true;
    });
    if (!is_list && !reader.is_failed()) read(whole);
    const JsonReader& failed = reader.is_failed() ? reader : whole;
    if (!failed.is_failed()) return more;
    return base::fail(
        base::ErrorCode::Unavailable,
        std::string(what) + ": the server's answer cannot be read: " + failed.error());
}

}  // namespace

base::Result<std::string> add_pods(Read& read, std::string_view answer) {
    return add_all(answer, "pods",
                   [&](JsonReader& reader) { read.pods.push_back(read_pod_whole(reader, read)); });
}

base::Result<std::string> add_workloads(Read& read, objects::WorkloadKind kind,
                                        std::string_view answer) {
    return add_all(answer, std::string(objects::traits(kind).plural), [&](JsonReader& reader) {
        read.workloads.push_back(read_workload_whole(reader, read, kind));
    });
}

base::Result<std::string> add_namespaces(Read& read, std::string_view answer) {
    return add_all(answer, "namespaces", [&](JsonReader& reader) {
        read.namespaces.push_back(objects::read_object_meta(reader, read.pools.meta));
    });
}

base::Result<std::string> add_projects(Read& read, std::string_view answer) {
    return add_all(answer, "projects", [&](JsonReader& reader) {
        read.projects.push_back(read_project_whole(reader, read));
    });
}

base::Result<std::string> add_pools(Read& read, std::string_view answer) {
    return add_all(answer, "pools", [&](JsonReader& reader) {
        read.pool_names.insert(objects::read_object_meta(reader, read.pools.meta).name);
    });
}

}  // namespace berth::kube::people
