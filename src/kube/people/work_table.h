// SPDX-License-Identifier: Apache-2.0
//
// What does berth kube ls show? One row a gang, in the columns of berth ls.
#pragma once

#include <span>
#include <string>

#include "cli/terminal/table.h"
#include "kube/people/work.h"

namespace berth::kube::people {

enum class Namespaces { One, Many };

cli::Table work_table(std::span<const Work> works, Namespaces namespaces, base::TimePoint now);

// What kubectl berth why takes: job/train, or ml/job/train.
std::string name_in(const Work& work, Namespaces namespaces);

}  // namespace berth::kube::people
