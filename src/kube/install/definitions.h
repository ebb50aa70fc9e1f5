// SPDX-License-Identifier: Apache-2.0
//
// What is a Project, a Pool and a Policy to the API server? Their CustomResourceDefinitions
// (berth.dev/v1alpha1, of the whole cluster): names, schema, and the columns of kubectl get.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "kube/install/schema.h"

namespace berth::kube::install {

inline constexpr std::string_view kGroup = "berth.dev";
inline constexpr std::string_view kVersion = "v1alpha1";

struct DeclaredNames {
    DeclaredKind kind;
    std::string_view name;      // Project
    std::string_view singular;  // project
    std::string_view plural;    // projects
};
std::span<const DeclaredNames> declared_kinds();

// The whole object, as JSON.
std::string definition(const DeclaredNames& names);

}  // namespace berth::kube::install
