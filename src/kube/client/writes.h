// SPDX-License-Identifier: Apache-2.0
//
// How is a decision written? Each as one request with what must still be true: the pod's uid, the
// owner's resourceVersion. The server refuses with 409 what is no longer so: read again, decide
// again, never force.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/transport/requests.h"

namespace berth::kube::client {

struct PodName {
    std::string name_space;
    std::string name;
    std::string uid;
};

using Annotations = std::vector<std::pair<std::string, std::string>>;

// Puts the pod on the node; the annotations are merged into the pod in the same write. The server
// does not ask whether the node exists, is ready or has room.
Request bind(const PodName& pod, std::string_view node, const Annotations& annotations);

// What has become of a bind whose answer was lost: asked by read_pod(), answered by read_bind().
enum class BindFate {
    Bound,      // to that node
    Elsewhere,  // to another one
    NotBound,
    Gone,     // the pod, or it is another one of that name
    Unclear,  // the question was not answered either
};
Request read_pod(const PodName& pod);
BindFate read_bind(const Outcome& read, const PodName& pod, std::string_view node);

// Why a pod waits, as the condition PodScheduled=False.
struct WaitReason {
    std::string reason;  // Unschedulable, QuotaExceeded
    std::string message;
    std::string since;  // the moment in RFC 3339
};
Request tell_wait(const PodName& pod, const WaitReason& why);

// An object as the server has it: for owners, Projects and the like.
struct ObjectName {
    std::string path;  // /apis/batch/v1/namespaces/ml/jobs/train
    std::string uid;
    std::string version;  // empty: whatever it is
};
// `fields` is a JSON object without "metadata": {"spec": {"suspend": true}}.
Request merge_patch(const ObjectName& object, std::string_view fields,
                    const Annotations& annotations);

// Server-side apply, as the manager "berth": the object becomes as `whole` (JSON) says, and is made
// where it is not there. What `whole` names is ours, also if another manager wrote it before; what
// it named the last time and does not any more goes; all else stays. Twice is the same as once.
enum class Apply {
    Try,  // all of it but the writing
    Do,
};
Request apply(const std::string& path, std::string whole, Apply how);

// With all that belongs to it, which the server takes away behind it.
Request remove_object(const ObjectName& object);

// grace_s: no value, as the pod says.
Request remove_pod(const PodName& pod, std::string_view version,
                   std::optional<std::int64_t> grace_s);
// Takes from the pod what keeps it from being gone before its owner has seen its end.
Request take_finalizer(const PodName& pod, std::string_view finalizer);
// An `Eviction`: a deletion that a PodDisruptionBudget may refuse (429). For another uid the server
// tries for as long as it may and then says nothing: unknown.
Request remove_within_budget(const PodName& pod);

// A moment as the server reads those of Leases and events: with microseconds and no others.
std::string micro_time(base::TimePoint time);

struct Lease {
    std::string name_space;
    std::string name;
    std::string version;  // empty: it is new
    std::string holder;
    std::int64_t duration_s = 15;
    std::string acquired;  // RFC 3339 with microseconds
    std::string renewed;
    std::int64_t transitions = 0;
};
Request read_lease(const Lease& lease);
Request write_lease(const Lease& lease);
// Errors: Invalid.
base::Result<Lease> parse_lease(std::string_view body);

}  // namespace berth::kube::client
