// SPDX-License-Identifier: Apache-2.0
#include "kube/install/objects.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>

#include "codec/text/json.h"

using namespace berth;
using namespace berth::kube::install;

namespace {

std::vector<std::string> titles() {
    std::vector<std::string> all;
    for (const Object& object : objects_of({})) all.push_back(object.title);
    return all;
}

}  // namespace

TEST_CASE("kinds come first and admission policies last, each once; no webhook is among them") {
    const std::vector<std::string> all = titles();
    CHECK(all.front() == "CustomResourceDefinition projects.berth.dev");
    CHECK(all.back() == "MutatingAdmissionPolicyBinding berth-scheduler-name");
    CHECK(std::set(all.begin(), all.end()).size() == all.size());
    for (const std::string& title : all) CHECK(title.find("Webhook") == std::string::npos);
}

TEST_CASE("each object has its path, our label and no finalizer") {
    std::set<std::string> paths;
    for (const Object& object : objects_of({.image = "example.org/berth:1"})) {
        CAPTURE(object.title);
        paths.insert(object.path);
        const auto value = codec::parse_json(object.json, "object");
        REQUIRE(value);
        const codec::Value* labels = value->find("metadata")->find("labels");
        REQUIRE(labels != nullptr);
        REQUIRE(labels->find(kPartOfLabel) != nullptr);
        CHECK(labels->find(kPartOfLabel)->text == kPartOf);
        CHECK(value->find("metadata")->find("finalizers") == nullptr);
        CHECK(object.json.find("IMAGE") == std::string::npos);
    }
    CHECK(paths.contains("/apis/apps/v1/namespaces/berth-system/deployments/berth-scheduler"));
    CHECK(paths.contains("/api/v1/namespaces/berth-system"));
    CHECK(paths.contains(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/projects.berth.dev"));
}

TEST_CASE("names in the manifest are those that the code goes by") {
    std::string all;
    for (const Object& object : objects_of({.image = "example.org/berth:1"})) all += object.json;
    for (const std::string_view name : {kNamespace, kSchedulerName, kIgnoreLabel, kReaderRole}) {
        CHECK(all.find("\"" + std::string(name) + "\"") != std::string::npos);
    }
    CHECK(all.find("'system:serviceaccount:" + std::string(kNamespace) + ":" +
                   std::string(kSchedulerName) + "'") != std::string::npos);
    CHECK(all.find("schedulerName: '" + std::string(kPodSchedulerName) + "'") != std::string::npos);
    CHECK(all.find("\"image\":\"example.org/berth:1\"") != std::string::npos);
}
