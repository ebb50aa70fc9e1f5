// SPDX-License-Identifier: Apache-2.0
#include "kube/people/names.h"

#include <doctest/doctest.h>

#include <vector>

using namespace berth;
using namespace berth::kube::people;
using kube::objects::WorkloadKind;

namespace {

Asked asked(const std::vector<std::string>& words) {
    const auto read = parse_asked(words);
    REQUIRE_MESSAGE(read.has_value(), words.front());
    return *read;
}

}  // namespace

TEST_CASE("a Job or pod is named as kubectl names it, and as ls shows it") {
    CHECK_FALSE(asked({"train"}).kind);
    CHECK(asked({"train"}).name == "train");
    for (const char* word : {"job/train", "jobs/train", "job.batch/train", "jobs.batch/train"})
        CHECK(asked({word}).kind == Kind{WorkloadKind::Job});
    for (const char* word : {"pod/train", "pods/train", "po/train"})
        CHECK(asked({word}).kind == kPod);
    for (const char* word : {"rayjob/train", "rayjobs.ray.io/train"})
        CHECK(asked({word}).kind == Kind{WorkloadKind::RayJob});
    CHECK(asked({"job", "train"}).kind == Kind{WorkloadKind::Job});
    CHECK(asked({"job", "train"}).name == "train");
    CHECK(asked({"ml/train"}).name_space == "ml");
    const Asked whole = asked({"ml/job/train"});
    CHECK(whole.name_space == "ml");
    CHECK(whole.kind == Kind{WorkloadKind::Job});
    CHECK(whole.name == "train");
    CHECK(asked({"job/train"}).name_space.empty());
}

TEST_CASE("what names no Job or pod is refused with what was wanted") {
    const std::vector<std::vector<std::string>> wrong{
        {""}, {"job/"}, {"/train"}, {"a/b/c/d"}, {"ml/deployment/x"}, {"train", "test"}};
    for (const auto& words : wrong) {
        const auto read = parse_asked(words);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().message.starts_with("wanted job/NAME, pod/NAME or NAME, found \""));
    }
}
