// SPDX-License-Identifier: Apache-2.0
#include "kube/people/asking.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "codec/words/words.h"
#include "kube/cluster/owners.h"
#include "kube/install/definitions.h"
#include "kube/install/objects.h"

namespace berth::kube::people {
namespace {

using cli::Failure;
using cli::Outcome;
using cli::Success;
using client::Method;
using install::Session;
using objects::Uid;

// The cluster's own role for those who look.
constexpr std::string_view kViewRole = "view";
constexpr std::string_view kPageSize = "limit=500";

std::string kinds_path() {
    return "/apis/" + std::string(install::kGroup) + "/" + std::string(install::kVersion);
}

// "/api/v1/namespaces/ml/pods", or "/api/v1/pods".
std::string path_of(std::string_view group, const std::string& name_space,
                    std::string_view plural) {
    std::string path(group);
    if (!name_space.empty()) path += "/namespaces/" + base::percent_encoded(name_space);
    return path + "/" + std::string(plural);
}
std::string pods_of(const std::string& name_space) {
    return path_of("/api/v1", name_space, "pods");
}
std::string all_of(objects::WorkloadKind kind, const std::string& name_space) {
    const objects::WorkloadTraits& its = objects::traits(kind);
    return path_of("/apis/" + std::string(its.group) + std::string(its.version), name_space,
                   its.plural);
}

bool is_missing(const client::Outcome& outcome) {
    return outcome.kind == client::Outcome::Kind::Refused && outcome.code == 404;
}

// The name behind `User "`, as the server says whose request it refused.
std::string user_in(const std::string& message) {
    constexpr std::string_view kBefore = "User \"";
    const std::size_t start = message.find(kBefore);
    if (start == std::string::npos) return "NAME";
    const std::size_t first = start + kBefore.size();
    return message.substr(first, message.find('"', first) - first);
}

// What an administrator does about it, and else who asks.
std::string grant(const std::string& message, const std::string& name_space,
                  std::string_view role) {
    const std::string user = user_in(message);
    const bool is_here = !name_space.empty();
    const std::string command =
        "kubectl create " + std::string(is_here ? "rolebinding " : "clusterrolebinding ") + user +
        "-" + std::string(role) + " --clusterrole " + std::string(role) + " --user " + user;
    const std::string for_one = is_here || role != kViewRole ? "" : "-n NAMESPACE; for all ";
    return for_one + "an administrator gives the right: " + command +
           (is_here ? " -n " + name_space : "");
}

Failure failure_of(const Session& session, const client::Outcome& outcome,
                   const std::string& name_space, std::string_view role = kViewRole) {
    if (outcome.code == 403)
        return {cli::kForbidden, outcome.message, grant(outcome.message, name_space, role)};
    if (outcome.code == 401)
        return {cli::kForbidden, session.server() + " does not know you: " + outcome.message, ""};
    return {cli::kServerUnreachable, session.server() + ": " + outcome.message, ""};
}

using Add = std::function<base::Result<std::string>(Read&, std::string_view)>;

// Page by page. `role`: the one that has the right.
Success add_list(Session& session, const std::string& path, const std::string& name_space,
                 const Add& add, Read& read, std::string_view role = kViewRole) {
    std::string more;
    do {
        std::string target = path + (path.find('?') == std::string::npos ? "?" : "&");
        target += kPageSize;
        if (!more.empty()) target += "&continue=" + base::percent_encoded(more);
        const client::Outcome answer = session.ask({Method::Get, target});
        if (!answer.is_done()) return tl::unexpected(failure_of(session, answer, name_space, role));
        auto next = add(read, answer.body);
        if (!next) return tl::unexpected(Failure::from(next.error()));
        more = std::move(*next);
    } while (!more.empty());
    return {};
}

// Whether it is there. Errors: it cannot be said.
Outcome<bool> add_one(Session& session, const std::string& path, const std::string& name_space,
                      const Add& add, Read& read) {
    const client::Outcome answer = session.ask({Method::Get, path});
    if (is_missing(answer)) return false;
    if (!answer.is_done()) return tl::unexpected(failure_of(session, answer, name_space));
    if (const auto added = add(read, answer.body); !added)
        return tl::unexpected(Failure::from(added.error()));
    return true;
}

// Everybody may read which kinds there are.
Success expect_installed(Session& session) {
    const client::Outcome kinds = session.ask({Method::Get, kinds_path()});
    if (is_missing(kinds)) {
        return cli::refuse(cli::kFailed, "Berth is not installed on " + session.server(),
                           "berth kube install");
    }
    if (kinds.code == 0) return tl::unexpected(failure_of(session, kinds, ""));
    return {};
}

void note_if_unread(const std::string& what, const Success& done, Read& read) {
    if (!done) read.unread.push_back(what + ": " + done.error().cause);
}

// Which project a namespace is in follows from its label, or from the Projects.
void read_projects(Session& session, Read& read) {
    note_if_unread(
        "Projects",
        add_list(session, kinds_path() + "/projects", "", add_projects, read, install::kReaderRole),
        read);
}

Success read_its_namespace(Session& session, const std::string& name, Read& read) {
    const auto found = add_one(session, "/api/v1/namespaces/" + base::percent_encoded(name), name,
                               add_namespaces, read);
    if (!found) {
        if (found.error().exit_code != cli::kForbidden) return tl::unexpected(found.error());
        note_if_unread("namespace " + name, tl::unexpected(found.error()), read);
    } else if (!*found) {
        return cli::refuse(cli::kNoSuchThing, "no namespace \"" + name + "\"",
                           "kubectl get namespaces");
    }
    return {};
}

Add add_to(objects::WorkloadKind kind) {
    return
        [kind](Read& read, std::string_view answer) { return add_workloads(read, kind, answer); };
}

// Of one kind, or of all that the server has.
Success add_workloads_of(Session& session, const std::string& name_space,
                         std::optional<objects::WorkloadKind> kind, Read& read) {
    for (const objects::WorkloadTraits& each : objects::kWorkloads) {
        if (kind && each.kind != *kind) continue;
        const std::string path = all_of(each.kind, name_space);
        if (each.kind != objects::WorkloadKind::Job) {
            const client::Outcome first = session.ask({Method::Get, path + "?limit=1"});
            if (is_missing(first)) continue;
        }
        const Success done = add_list(session, path, name_space, add_to(each.kind), read);
        if (each.kind == objects::WorkloadKind::Job || kind) BERTH_TRY_VOID(done);
        note_if_unread(std::string(each.plural), done, read);
    }
    return {};
}

Failure unknown(Session& session, const Asked& asked) {
    Read near;
    const std::string& name_space = asked.name_space;
    std::vector<std::string_view> names;
    const bool is_pod = asked.kind == kPod;
    const auto workload = asked.kind ? asked.kind->workload : std::nullopt;
    if (!is_pod && add_workloads_of(session, name_space, workload, near)) {
        for (const ReadWorkload& each : near.workloads) names.push_back(each.meta.name);
    }
    if ((!asked.kind || is_pod) &&
        add_list(session, pods_of(name_space), name_space, add_pods, near)) {
        for (const ReadPod& pod : near.pods) names.push_back(pod.meta.name);
    }
    const std::string_view what = !asked.kind ? "job or pod"
                                  : workload  ? objects::traits(*workload).word
                                              : "pod";
    return {cli::kNoSuchThing,
            "no " + std::string(what) + " \"" + asked.name + "\" in namespace \"" + name_space +
                "\"" + codec::did_you_mean(asked.name, names),
            "berth kube ls -n " + name_space};
}

// With its pods.
Outcome<bool> add_job(Session& session, const std::string& name_space, const std::string& name,
                      Read& read) {
    const std::string encoded = base::percent_encoded(name);
    auto found = add_one(session, all_of(objects::WorkloadKind::Job, name_space) + "/" + encoded,
                         name_space, add_to(objects::WorkloadKind::Job), read);
    if (!found || !*found) return found;
    const Success pods = add_list(
        session, pods_of(name_space) + "?labelSelector=batch.kubernetes.io%2Fjob-name%3D" + encoded,
        name_space, add_pods, read);
    if (!pods) return tl::unexpected(pods.error());
    return true;
}

// With its Job and all pods of that, where it has one and that may be read.
Outcome<bool> add_pod(Session& session, const Asked& asked, Read& read) {
    const std::string path = pods_of(asked.name_space) + "/" + base::percent_encoded(asked.name);
    Read alone;
    auto found = add_one(session, path, asked.name_space, add_pods, alone);
    if (!found || !*found) return found;
    const objects::Owner& owner = *alone.pods.front().meta.owner;
    if (*owner.kind == "Job") {
        const auto job = add_job(session, asked.name_space, owner.name, read);
        if (job && *job && read.workloads.front().meta.uid == owner.uid) return true;
    }
    read.workloads.clear();
    read.pods.clear();
    return add_one(session, path, asked.name_space, add_pods, read);
}

// Empty where it is not among them.
std::string name_in(const Read& read, const std::string& text) {
    const auto uid = Uid::parse(text);
    if (!uid) return {};
    for (const ReadWorkload& job : read.workloads) {
        if (job.meta.uid != *uid) continue;
        return *job.meta.name_space + "/" + std::string(objects::traits(job.kind).word) + "/" +
               job.meta.name;
    }
    for (const ReadPod& pod : read.pods) {
        if (pod.meta.uid == *uid) return *pod.meta.name_space + "/pod/" + pod.meta.name;
    }
    return {};
}

// Berth's pods and all workloads, of a namespace or of all.
Success add_work(Session& session, const std::string& name_space, Read& read) {
    const std::string ours =
        "?fieldSelector=spec.schedulerName%3D" + std::string(install::kPodSchedulerName);
    BERTH_TRY_VOID(add_list(session, pods_of(name_space) + ours, name_space, add_pods, read));
    return add_workloads_of(session, name_space, {}, read);
}

// The gang of a workload that is more than one Job: all that may be part of it is read.
Outcome<std::optional<Uid>> find_workload(Session& session, const Asked& asked, Read& read) {
    read.workloads.clear();
    read.pods.clear();
    BERTH_TRY_VOID(add_work(session, asked.name_space, read));
    cluster::Owners owners;
    for (const ReadWorkload& each : read.workloads) owners.set(each);
    for (const ReadWorkload& each : read.workloads) {
        const bool is_kind = !asked.kind || asked.kind->workload == each.kind;
        if (is_kind && each.meta.name == asked.name) return owners.top_of(each.meta.uid);
    }
    return std::optional<Uid>();
}

bool is_part(const objects::Workload& workload) {
    const auto* maker = objects::workload_that_is(*workload.meta.owner);
    return maker != nullptr && objects::traits(workload.kind).made_by == maker->kind;
}

Outcome<std::optional<Uid>> find_job(Session& session, const Asked& asked, Read& read) {
    BERTH_TRY(is_job, add_job(session, asked.name_space, asked.name, read));
    if (!is_job) return std::optional<Uid>();
    if (!is_part(read.workloads.front())) return std::optional(read.workloads.front().meta.uid);
    Asked again = asked;
    again.kind = Kind{objects::WorkloadKind::Job};
    return find_workload(session, again, read);
}

Outcome<std::optional<Uid>> find_pod(Session& session, const Asked& asked, Read& read) {
    BERTH_TRY(is_pod, add_pod(session, asked, read));
    if (!is_pod) return std::optional<Uid>();
    const bool is_jobs = !read.workloads.empty() && !is_part(read.workloads.front());
    if (is_jobs) return std::optional(read.workloads.front().meta.uid);
    const Uid pod = read.pods.front().meta.uid;
    if (objects::workload_that_is(*read.pods.front().meta.owner) != nullptr) {
        read.workloads.clear();
        read.pods.clear();
        BERTH_TRY_VOID(add_work(session, asked.name_space, read));
    }
    cluster::Owners owners;
    for (const ReadWorkload& each : read.workloads) owners.set(each);
    for (const ReadPod& each : read.pods) {
        if (each.meta.name == asked.name) return std::optional(owners.gang_of(each));
    }
    return std::optional(pod);
}

}  // namespace

Outcome<Uid> read_one(Session& session, const Asked& asked, Read& read) {
    BERTH_TRY_VOID(expect_installed(session));
    BERTH_TRY_VOID(read_its_namespace(session, asked.name_space, read));
    const bool may_be_job = !asked.kind || asked.kind->workload == objects::WorkloadKind::Job;
    std::optional<Uid> found;
    if (may_be_job) {
        BERTH_TRY(job, find_job(session, asked, read));
        found = job;
    }
    if (!found && (!asked.kind || *asked.kind == kPod)) {
        BERTH_TRY(pod, find_pod(session, asked, read));
        found = pod;
    }
    if (!found && asked.kind != kPod) {
        BERTH_TRY(workload, find_workload(session, asked, read));
        found = workload;
    }
    if (found) {
        read_projects(session, read);
        return *found;
    }
    return tl::unexpected(unknown(session, asked));
}

Success read_namespace(Session& session, const std::string& name_space, Read& read) {
    BERTH_TRY_VOID(expect_installed(session));
    if (!name_space.empty()) {
        BERTH_TRY_VOID(read_its_namespace(session, name_space, read));
    } else {
        BERTH_TRY_VOID(add_list(session, "/api/v1/namespaces", "", add_namespaces, read));
    }
    BERTH_TRY_VOID(add_work(session, name_space, read));
    read_projects(session, read);
    return {};
}

Success read_shares(Session& session, Read& read) {
    BERTH_TRY_VOID(expect_installed(session));
    BERTH_TRY_VOID(add_list(session, kinds_path() + "/projects", "", add_projects, read,
                            install::kReaderRole));
    return add_list(session, kinds_path() + "/pools", "", add_pools, read, install::kReaderRole);
}

std::string name_of_uid(Session& session, const std::string& uid, const std::string& near) {
    Read here;
    if (add_work(session, near, here)) {
        if (std::string name = name_in(here, uid); !name.empty()) return name;
    }
    Read all;
    if (!add_work(session, "", all)) return "a job of another namespace, or a deleted one";
    const std::string name = name_in(all, uid);
    return name.empty() ? "a deleted job" : name;
}

}  // namespace berth::kube::people
