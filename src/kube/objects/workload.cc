// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/workload.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <string>

#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

using Part = Workload::Part;

// More than any gang may have; sums of some of them are no problem.
constexpr std::int64_t kPodsMost = 1'000'000;

std::int32_t count_of(std::int64_t number) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(number, 0, kPodsMost));
}

std::int32_t read_count(codec::JsonReader& reader) { return count_of(reader.read_int()); }

// "1,3-5" is four.
std::int32_t count_indexes(std::string_view text) {
    std::int64_t count = 0;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        std::int32_t first = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
        std::int32_t last = first;
        if (end != part.data() + part.size())
            std::from_chars(end + 1, part.data() + part.size(), last);
        if (error == std::errc{})
            count += std::max(std::int64_t{last} - first + 1, std::int64_t{1});
    }
    return count_of(count);
}

void read_pods_of(codec::JsonReader& reader, PodPools& pools, Part& part) {
    PodTemplate made = read_template(reader, pools);
    part.ask = std::move(made.ask);
    part.labels = std::move(made.labels);
}

// --- conditions, which several kinds have

// What a condition that is true says of the end.
using Ends = std::map<std::string_view, Workload::End>;

void read_condition(codec::JsonReader& reader, const Ends& ends, Workload& workload) {
    std::string type;
    bool is_true = false;
    std::optional<base::TimePoint> since;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") return read_into(type, reader.read_text());
        if (key == "status") return read_into(is_true, reader.read_text() == "True");
        if (key == "lastTransitionTime") return read_into(since, read_time(reader));
        return false;
    });
    if (!is_true) return;
    if (const auto end = ends.find(type); end != ends.end()) workload.end = end->second;
    if (type == "Suspended") workload.suspended_since = since;
}

void read_conditions(codec::JsonReader& reader, const Ends& ends, Workload& workload) {
    each_item(reader, [&] { read_condition(reader, ends, workload); });
}

// --- Job (batch/v1)

// How far it is, which decides how many pods it still has at once.
struct Progress {
    std::int32_t parallelism = 1;
    std::optional<std::int32_t> completions;
    std::int32_t succeeded = 0;
    std::int32_t failed_indexes = 0;  // that are not tried again

    // Without a number of completions one pod that has succeeded is enough.
    bool has_its_last_pods() const { return !completions && succeeded > 0; }
    std::int32_t pods_at_first() const {
        return std::max(std::min(parallelism, completions.value_or(parallelism)), 0);
    }
    std::int32_t pods_at_once() const {
        if (has_its_last_pods()) return 0;
        if (!completions) return parallelism;
        const std::int64_t done = std::int64_t{succeeded} + failed_indexes;
        return count_of(std::min<std::int64_t>(parallelism, *completions - done));
    }
};

// The spec of a Job, also in the template of a JobSet.
void read_job_spec(codec::JsonReader& reader, PodPools& pools, Workload& job, Progress& progress,
                   Part& part) {
    each_field(reader, [&](std::string_view key) {
        if (key == "parallelism") return read_into(progress.parallelism, read_count(reader));
        if (key == "completions") return read_into(progress.completions, read_count(reader));
        if (key == "suspend") return read_into(job.is_suspended, reader.read_bool());
        if (key == "template") {
            read_pods_of(reader, pools, part);
            return true;
        }
        if (key == "managedBy") {
            job.is_managed_elsewhere = reader.read_text() != "kubernetes.io/job-controller";
            return true;
        }
        return false;
    });
}

void read_job_status(codec::JsonReader& reader, Workload& job, Progress& progress) {
    static const Ends kEnds{{"Complete", Workload::End::Complete},
                            {"Failed", Workload::End::Failed}};
    each_field(reader, [&](std::string_view key) {
        if (key == "succeeded") return read_into(progress.succeeded, read_count(reader));
        if (key == "failedIndexes")
            return read_into(progress.failed_indexes, count_indexes(reader.read_text()));
        if (key != "conditions") return false;
        read_conditions(reader, kEnds, job);
        return true;
    });
}

void read_job(codec::JsonReader& reader, PodPools& pools, Workload& job) {
    Progress progress;
    Part& part = job.parts.emplace_back();
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(job.meta, read_meta(reader, pools.meta));
        if (key == "spec") {
            read_job_spec(reader, pools, job, progress, part);
            return true;
        }
        if (key != "status") return false;
        read_job_status(reader, job, progress);
        return true;
    });
    part.pods = progress.pods_at_once();
    job.pods_done = progress.pods_at_first() - part.pods;
    job.has_its_last_pods = progress.has_its_last_pods();
    job.is_scaled_to_zero = progress.parallelism == 0;
}

// --- JobSet (jobset.x-k8s.io/v1alpha2)

struct ReplicatedJob {
    std::string name;
    std::int32_t replicas = 1;
    std::int32_t pods = 1;  // of each
    Part part;
};

ReplicatedJob read_replicated_job(codec::JsonReader& reader, PodPools& pools) {
    ReplicatedJob made;
    Workload ignored;
    Progress progress;
    each_field(reader, [&](std::string_view key) {
        if (key == "name") return read_into(made.name, reader.read_text());
        if (key == "replicas") return read_into(made.replicas, read_count(reader));
        if (key != "template") return false;
        each_field(reader, [&](std::string_view inner) {
            if (inner != "spec") return false;
            read_job_spec(reader, pools, ignored, progress, made.part);
            return true;
        });
        return true;
    });
    made.pods = progress.pods_at_once();
    return made;
}

// name -> how many of its Jobs have succeeded
void read_replicated_status(codec::JsonReader& reader, std::map<std::string, std::int32_t>& done) {
    std::string name;
    std::int32_t succeeded = 0;
    each_field(reader, [&](std::string_view key) {
        if (key == "name") return read_into(name, reader.read_text());
        return key == "succeeded" && read_into(succeeded, read_count(reader));
    });
    done[name] = succeeded;
}

void read_job_set(codec::JsonReader& reader, PodPools& pools, Workload& set) {
    static const Ends kEnds{{"Completed", Workload::End::Complete},
                            {"Failed", Workload::End::Failed}};
    std::vector<ReplicatedJob> jobs;
    std::map<std::string, std::int32_t> done;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(set.meta, read_meta(reader, pools.meta));
        if (key == "spec") {
            each_field(reader, [&](std::string_view inner) {
                if (inner == "suspend") return read_into(set.is_suspended, reader.read_bool());
                if (inner == "managedBy") {
                    set.is_managed_elsewhere =
                        reader.read_text() != "jobset.sigs.k8s.io/jobset-controller";
                    return true;
                }
                if (inner != "replicatedJobs") return false;
                each_item(reader, [&] { jobs.push_back(read_replicated_job(reader, pools)); });
                return true;
            });
            return true;
        }
        if (key != "status") return false;
        each_field(reader, [&](std::string_view inner) {
            if (inner == "conditions") {
                read_conditions(reader, kEnds, set);
                return true;
            }
            if (inner != "replicatedJobsStatus") return false;
            each_item(reader, [&] { read_replicated_status(reader, done); });
            return true;
        });
        return true;
    });
    for (ReplicatedJob& job : jobs) {
        const std::int64_t left = std::max(job.replicas - done[job.name], 0);
        job.part.pods = count_of(left * job.pods);
        job.part.name = job.name;
        set.parts.push_back(std::move(job.part));
    }
}

// --- Ray (ray.io/v1)

Part read_ray_group(codec::JsonReader& reader, PodPools& pools, bool is_head) {
    Part part;
    part.name = is_head ? "head" : "worker";
    std::int64_t replicas = is_head ? 1 : 0;
    std::int64_t hosts = 1;  // pods of each replica
    bool is_suspended = false;
    each_field(reader, [&](std::string_view key) {
        if (key == "template") {
            read_pods_of(reader, pools, part);
            return true;
        }
        if (is_head) return false;
        if (key == "replicas") return read_into(replicas, read_count(reader));
        if (key == "numOfHosts") return read_into(hosts, read_count(reader));
        return key == "suspend" && read_into(is_suspended, reader.read_bool());
    });
    part.pods = is_suspended ? 0 : count_of(replicas * hosts);
    return part;
}

// The spec of a RayCluster, also in a RayJob.
void read_ray_cluster_spec(codec::JsonReader& reader, PodPools& pools, Workload& cluster) {
    each_field(reader, [&](std::string_view key) {
        if (key == "suspend") return read_into(cluster.is_suspended, reader.read_bool());
        if (key == "headGroupSpec") {
            cluster.parts.push_back(read_ray_group(reader, pools, true));
            return true;
        }
        if (key != "workerGroupSpecs") return false;
        each_item(reader, [&] { cluster.parts.push_back(read_ray_group(reader, pools, false)); });
        return true;
    });
}

void read_ray_cluster(codec::JsonReader& reader, PodPools& pools, Workload& cluster) {
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(cluster.meta, read_meta(reader, pools.meta));
        if (key != "spec") return false;
        read_ray_cluster_spec(reader, pools, cluster);
        return true;
    });
}

void read_ray_job(codec::JsonReader& reader, PodPools& pools, Workload& job) {
    Workload cluster;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(job.meta, read_meta(reader, pools.meta));
        if (key == "spec") {
            each_field(reader, [&](std::string_view inner) {
                if (inner == "suspend") return read_into(job.is_suspended, reader.read_bool());
                if (inner != "rayClusterSpec") return false;
                read_ray_cluster_spec(reader, pools, cluster);
                return true;
            });
            return true;
        }
        if (key != "status") return false;
        each_field(reader, [&](std::string_view inner) {
            if (inner != "jobDeploymentStatus") return false;
            const std::string_view status = reader.read_text();
            if (status == "Complete") job.end = Workload::End::Complete;
            if (status == "Failed") job.end = Workload::End::Failed;
            return true;
        });
        return true;
    });
    job.parts = std::move(cluster.parts);
}

}  // namespace

const WorkloadTraits* workload_that_is(const Owner& owner) {
    const auto is_it = [&](const WorkloadTraits& each) {
        return *owner.kind == each.name && owner.api_version->starts_with(each.group);
    };
    const auto found = std::ranges::find_if(kWorkloads, is_it);
    return found == kWorkloads.end() ? nullptr : &*found;
}

std::int32_t Workload::pods_wanted() const {
    std::int64_t pods = 0;
    for (const Part& part : parts) pods += part.pods;
    return count_of(pods);
}

std::string list_path(const WorkloadTraits& kind) {
    return "/apis/" + std::string(kind.group) + std::string(kind.version) + "/" +
           std::string(kind.plural);
}

std::string Workload::path() const {
    const WorkloadTraits& its = traits(kind);
    return "/apis/" + std::string(its.group) + std::string(its.version) + "/namespaces/" +
           *meta.name_space + "/" + std::string(its.plural) + "/" + meta.name;
}

Workload read_workload(WorkloadKind kind, codec::JsonReader& reader, PodPools& pools) {
    Workload workload;
    workload.kind = kind;
    // One that is not as its kind should be must not keep the others of its list from being read.
    codec::JsonReader within = reader;
    switch (kind) {
        case WorkloadKind::Job: read_job(within, pools, workload); break;
        case WorkloadKind::JobSet: read_job_set(within, pools, workload); break;
        case WorkloadKind::RayCluster: read_ray_cluster(within, pools, workload); break;
        case WorkloadKind::RayJob: read_ray_job(within, pools, workload); break;
    }
    if (within.is_failed()) {
        workload.problem = within.error();
        workload.parts.clear();
        reader.pass_over();
    } else {
        reader = within;
    }
    if (!workload.meta.uid)
        reader.fail("wanted a " + std::string(traits(kind).name) + " with metadata");
    return workload;
}

}  // namespace berth::kube::objects
