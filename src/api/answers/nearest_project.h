// SPDX-License-Identifier: Apache-2.0
//
// Which project was probably meant by a name that no project has?
#pragma once

#include <string>

#include "cluster/cluster.h"

namespace berth::api {

// ", did you mean ..." for a project that does not exist, else nothing.
std::string nearest_project(const cluster::Cluster& cluster, const std::string& project);

}  // namespace berth::api
