// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/job.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

namespace {

const std::string kJobMeta =
    R"("metadata": {"name": "train", "uid": "01234567-89ab-cdef-fedc-ba9876543210"})";

Job job_of(PodPools& pools, const std::string& rest) {
    const std::string text = "{" + kJobMeta + rest + "}";
    JsonReader reader(text);
    Job job = read_job(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return job;
}

}  // namespace

TEST_CASE("a Job: how many pods at once, suspended since when, and how far") {
    PodPools pools;
    const Job job = job_of(pools, R"(, "spec": {"parallelism": 4, "completions": 10,
        "suspend": true, "managedBy": "kubernetes.io/job-controller", "template": {"spec": {
            "containers": [{"resources": {"requests": {"cpu": "1"},
                                          "limits": {"cpu": "4", "nvidia.com/gpu": "2"}}}]}}},
        "status": {"succeeded": 3, "conditions": [
            {"type": "Suspended", "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"},
            {"type": "Failed", "status": "False"}]})");
    CHECK(job.parallelism == 4);
    CHECK(job.pods_wanted() == 4);
    CHECK(job.is_suspended);
    CHECK_FALSE(job.is_managed_elsewhere);
    CHECK(job.end == Job::End::None);
    CHECK(job.suspended_since.has_value());
    // As the server writes it into the pods: what has a limit alone is requested.
    CHECK(job.ask->requests.of("nvidia.com/gpu") == 2);
    CHECK(job.ask->requests.cpu() == berth::base::MilliCpu{1000});
}

TEST_CASE("a Job near its end has fewer pods than it may have at once") {
    PodPools pools;
    CHECK(job_of(pools, R"(, "spec": {"parallelism": 4, "completions": 10},
                            "status": {"succeeded": 8})")
              .pods_wanted() == 2);
    CHECK(job_of(pools, R"(, "spec": {"parallelism": 9, "completions": 9},
                            "status": {"succeeded": 1, "failedIndexes": "1,3-5"})")
              .pods_wanted() == 4);
    // Without completions it ends when one pod has.
    CHECK(job_of(pools, R"(, "spec": {"parallelism": 4, "completions": null},
                            "status": {"succeeded": 3})")
              .pods_wanted() == 4);
    CHECK(job_of(pools, "").pods_wanted() == 1);
}

TEST_CASE("a Job that has ended, and one that somebody else's controller runs") {
    PodPools pools;
    CHECK(job_of(pools, R"(, "status": {"conditions": [{"type": "Complete", "status": "True"}]})")
              .end == Job::End::Complete);
    CHECK(job_of(pools, R"(, "status": {"conditions": [{"type": "Failed", "status": "True"}]})")
              .end == Job::End::Failed);
    CHECK(job_of(pools, R"(, "spec": {"managedBy": "kueue.x-k8s.io/multikueue"})")
              .is_managed_elsewhere);
}
