// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/meta.h"

#include <doctest/doctest.h>

using namespace berth::kube::objects;
using berth::codec::JsonReader;

TEST_CASE("a uid is read and written as it is") {
    const std::string text = "01234567-89ab-cdef-fedc-ba9876543210";
    const auto uid = Uid::parse(text);
    REQUIRE(uid);
    CHECK(uid->high == 0x0123456789abcdefULL);
    CHECK(uid->low == 0xfedcba9876543210ULL);
    CHECK(format(*uid) == text);
    CHECK_FALSE(Uid::parse("01234567-89ab-cdef-fedc-ba987654321").has_value());
    CHECK_FALSE(Uid::parse("01234567x89ab-cdef-fedc-ba9876543210").has_value());
    CHECK_FALSE(Uid::parse("g1234567-89ab-cdef-fedc-ba9876543210").has_value());
}

TEST_CASE("metadata: what Berth uses is kept, managedFields and foreign annotations are not") {
    MetaPools pools;
    JsonReader reader(R"({"metadata": {
        "name": "train-0-x7k2p", "namespace": "vision", "resourceVersion": "4711",
        "uid": "01234567-89ab-cdef-fedc-ba9876543210",
        "creationTimestamp": "2026-03-01T12:00:00Z", "deletionTimestamp": null,
        "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:metadata": {}}}],
        "labels": {"app": "train", "batch.kubernetes.io/job-completion-index": "17",
                   "statefulset.kubernetes.io/pod-name": "train-0-x7k2p"},
        "annotations": {"berth.dev/gpus": "GPU-1", "kubectl.kubernetes.io/last-applied": "{}",
                        "gpu-fraction": "0.5"},
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "Other", "name": "no", "controller": false,
             "uid": "11111111-89ab-cdef-fedc-ba9876543210"},
            {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "controller": true,
             "uid": "22222222-89ab-cdef-fedc-ba9876543210"}]}})");
    const Meta meta = read_object_meta(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    CHECK(meta.name == "train-0-x7k2p");
    CHECK(*meta.name_space == "vision");
    CHECK(meta.version == "4711");
    CHECK(berth::base::to_ms(*meta.created) == 1'772'366'400'000);
    CHECK_FALSE(meta.deletion.has_value());
    CHECK(meta.index == 17);
    CHECK(meta.labels->size() == 1);
    CHECK(*find(*meta.labels, "app") == "train");
    CHECK(meta.annotations->size() == 2);
    CHECK(*find(*meta.annotations, "gpu-fraction") == "0.5");
    CHECK(find(*meta.annotations, "kubectl.kubernetes.io/last-applied") == nullptr);
    CHECK(*meta.owner->kind == "Job");
    CHECK(meta.owner->name == "train");
}

TEST_CASE("an object without uid or name is refused") {
    MetaPools pools;
    for (const char* text : {R"({"metadata": {"name": "a"}})", R"({"metadata": {"uid": "x"}})",
                             R"({"metadata": {"name": "a", "uid": "static-pod"}})", "{}", "[]"}) {
        CAPTURE(text);
        JsonReader reader(text);
        read_object_meta(reader, pools);
        CHECK(reader.is_failed());
    }
}
