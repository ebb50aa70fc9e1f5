// SPDX-License-Identifier: Apache-2.0
//
// In which project is a gang? In the one that its label berth.dev/project names; else in that of
// its namespace, which its own label names, or a Project that lists the namespace (the first by
// name).
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/meta.h"

namespace berth::kube::cluster {

inline constexpr std::string_view kProjectLabel = "berth.dev/project";

class Projects {
  public:
    // Null: the namespace is gone. True when its gangs may be in another project now.
    bool set_namespace(const std::string& name, const objects::Labels* labels);
    // The namespaces that a Project lists; none when it is gone.
    void set_listed(const std::string& project, const std::vector<std::string>& namespaces);

    // Empty: it is in none.
    std::string project_of(const objects::Meta& gang) const;

  private:
    std::map<std::string, std::string, std::less<>> labelled_;  // namespace -> project
    std::map<std::string, std::set<std::string>, std::less<>> listed_;  // namespace -> projects
};

}  // namespace berth::kube::cluster
