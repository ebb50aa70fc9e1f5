// SPDX-License-Identifier: Apache-2.0
#include "kube/client/writes.h"

#include <doctest/doctest.h>

using namespace berth::kube::client;

namespace {

const PodName kPod{"ml", "train-0", "7c9e6679-7425-40de-944b-e07fc1f90ae7"};

Outcome done(std::string body) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::Done;
    outcome.body = std::move(body);
    return outcome;
}

}  // namespace

TEST_CASE("a bind carries the pod's uid and its annotations, and a time at the server") {
    const Request request = bind(kPod, "n7", {{"berth.dev/gpus", "GPU-1,GPU-2"}});
    CHECK(request.method == Method::Post);
    CHECK(request.target == "/api/v1/namespaces/ml/pods/train-0/binding?timeout=4s");
    CHECK(request.body ==
          R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"train-0","namespace":"ml",)"
          R"("uid":"7c9e6679-7425-40de-944b-e07fc1f90ae7","annotations":)"
          R"({"berth.dev/gpus":"GPU-1,GPU-2"}},)"
          R"("target":{"apiVersion":"v1","kind":"Node","name":"n7"}})");
}

TEST_CASE("a name is no way out of its path") {
    const Request request = read_pod({"a/b", "../x?y", ""});
    CHECK(request.target == "/api/v1/namespaces/a%2Fb/pods/..%2Fx%3Fy");
}

TEST_CASE("a patch carries uid and resourceVersion beside its fields") {
    const ObjectName job{"/apis/batch/v1/namespaces/ml/jobs/train", "u", "17"};
    CHECK(merge_patch(job, R"({"spec":{"suspend":true}})", {{"berth.dev/last-pause", "x"}}).body ==
          R"({"metadata":{"uid":"u","resourceVersion":"17","annotations":)"
          R"({"berth.dev/last-pause":"x"}},"spec":{"suspend":true}})");
    CHECK(merge_patch(job, "{}", {}).body == R"({"metadata":{"uid":"u","resourceVersion":"17"}})");
}

TEST_CASE("one finalizer is taken, whatever others there are") {
    const Request request = take_finalizer(kPod, "a/b");
    CHECK(request.content_type == "application/strategic-merge-patch+json");
    CHECK(request.body == R"({"metadata":{"uid":"7c9e6679-7425-40de-944b-e07fc1f90ae7",)"
                          R"("$deleteFromPrimitiveList/finalizers":["a/b"]}})");
}

TEST_CASE("deletions carry the pod's uid, with a budget or without") {
    CHECK(remove_pod(kPod, "18", 0).body ==
          R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"uid":)"
          R"("7c9e6679-7425-40de-944b-e07fc1f90ae7","resourceVersion":"18"},)"
          R"("gracePeriodSeconds":0})");
    CHECK(remove_within_budget(kPod).target ==
          "/api/v1/namespaces/ml/pods/train-0/eviction?timeout=4s");
    CHECK(remove_within_budget(kPod).body.find(kPod.uid) != std::string::npos);
}

TEST_CASE("an object is applied as berth, over other managers; a try writes nothing") {
    const Request done = apply("/api/v1/namespaces/berth-system", "{}", Apply::Do);
    CHECK(done.method == Method::Patch);
    CHECK(done.content_type == "application/apply-patch+yaml");
    CHECK(done.target ==
          "/api/v1/namespaces/berth-system?timeout=4s&fieldManager=berth&force=true"
          "&fieldValidation=Strict");
    CHECK(done.body == "{}");
    CHECK(apply("/x", "{}", Apply::Try).target.ends_with("&dryRun=All"));
}

TEST_CASE("an object is removed with what belongs to it, and only the one that is meant") {
    CHECK(remove_object({"/x", "", ""}).body ==
          R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})");
    CHECK(remove_object({"/x", "u", "17"})
              .body.find(R"("preconditions":{"uid":"u","resourceVersion":"17"})") !=
          std::string::npos);
}

TEST_CASE("what became of a bind whose answer was lost") {
    const std::string meta = R"({"metadata":{"uid":")" + kPod.uid + R"("},)";
    CHECK(read_bind(done(meta + R"("spec":{"nodeName":"n7"}})"), kPod, "n7") == BindFate::Bound);
    CHECK(read_bind(done(meta + R"("spec":{"nodeName":"n8"}})"), kPod, "n7") ==
          BindFate::Elsewhere);
    CHECK(read_bind(done(meta + R"("spec":{}})"), kPod, "n7") == BindFate::NotBound);
    CHECK(read_bind(done(R"({"metadata":{"uid":"other"},"spec":{"nodeName":"n7"}})"), kPod, "n7") ==
          BindFate::Gone);
    CHECK(read_bind(done("{"), kPod, "n7") == BindFate::Unclear);
    Outcome outcome;
    CHECK(read_bind(outcome, kPod, "n7") == BindFate::Unclear);
    outcome.kind = Outcome::Kind::Refused;
    outcome.code = 404;
    CHECK(read_bind(outcome, kPod, "n7") == BindFate::Gone);
    outcome.code = 403;
    CHECK(read_bind(outcome, kPod, "n7") == BindFate::Unclear);
}

TEST_CASE("a Lease is created without a version, and written over the one that was read") {
    Lease lease;
    lease.name_space = "berth-system";
    lease.name = "berth";
    lease.holder = "a";
    CHECK(write_lease(lease).method == Method::Post);
    const auto read = parse_lease(R"({"metadata":{"name":"berth","namespace":"berth-system",
        "resourceVersion":"5","managedFields":[]},"spec":{"holderIdentity":"b",
        "leaseDurationSeconds":15,"renewTime":"2026-03-01T12:00:00.000000Z",
        "acquireTime":null,"leaseTransitions":3}})");
    REQUIRE(read);
    CHECK(read->holder == "b");
    CHECK(read->transitions == 3);
    const Request request = write_lease(*read);
    CHECK(request.method == Method::Put);
    CHECK(request.target ==
          "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth?timeout=4s");
    CHECK(request.body.find(R"("resourceVersion":"5")") != std::string::npos);
    CHECK_FALSE(parse_lease("{}"));
}
