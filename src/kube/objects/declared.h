// SPDX-License-Identifier: Apache-2.0
//
// What did people declare on the cluster? Projects, Pools and the Policy (berth.dev/v1alpha1), as
// the core has them.
//
// The API server refuses what is wrong by the schema. What was let through all the same (by an
// older schema, or with a setting that this program does not know) is no failure of the reader,
// which would stop the whole list: the object has a `problem` in words, and its spec counts as
// empty. Whether names refer to something, only the reader of all objects can tell.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/text/json_reader.h"
#include "kube/objects/meta.h"
#include "model/node/node.h"
#include "model/policy/policy_settings.h"
#include "model/project.h"

namespace berth::kube::objects {

// Of the one Policy.
inline constexpr std::string_view kPolicyName = "default";

struct Declared {
    Meta meta;
    std::int64_t generation = 0;  // counts changes of the spec, not of the status
    // "spec.quota: wanted a number of GPUs ..., found true"; empty: nothing is wrong.
    std::string problem;
};

struct DeclaredProject : Declared {
    // `order` is its creation in milliseconds, as the API server writes it: to the second. Of two
    // of one second the lesser name is older.
    model::Project project;
    std::vector<std::string> namespaces;
};

struct DeclaredPool : Declared {
    model::Pool pool;  // the order of declaration is that of meta.created, then the name
};

struct DeclaredPolicy : Declared {
    std::string profile;  // "berth", "classic"
    model::Levels levels;
    model::PolicyChanges settings;
    // Settings of former releases that it names, and what holds instead: they are passed over.
    std::string note;
};

// Without metadata they fail the reader.
DeclaredProject read_project(codec::JsonReader& reader, MetaPools& pools);
DeclaredPool read_pool(codec::JsonReader& reader, MetaPools& pools);
DeclaredPolicy read_policy(codec::JsonReader& reader, MetaPools& pools);

}  // namespace berth::kube::objects
