// SPDX-License-Identifier: Apache-2.0
//
// How does Berth come to a cluster, and leave it? Its objects are applied in order, or deleted in
// the opposite one; both may be done again at any time, also after half of it.
//
// Before anything is written the server is asked whether all may be that lies in no namespace of
// ours. Pods that run are left alone by both. Errors: Forbidden, with every object that the user
// may not write; Conflict, where Projects would be deleted that the user did not name; Unavailable
// and Timeout.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/install/objects.h"
#include "kube/install/session.h"

namespace berth::kube::install {

// A line for the user, of each object.
using Say = std::function<void(std::string_view line)>;

// Ends when the kinds are served.
base::Status install(Session& session, const InstallOptions& options, const Say& say);

// What becomes of Projects, Pools and the Policy, which people wrote.
enum class Declarations {
    Ask,     // an error where there are any
    Keep,    // with their kinds
    Delete,
};
// Ends when all is gone.
base::Status uninstall(Session& session, Declarations declarations, const Say& say);

}  // namespace berth::kube::install
