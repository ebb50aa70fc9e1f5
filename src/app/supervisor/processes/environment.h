// SPDX-License-Identifier: Apache-2.0
//
// Which environment does each task of the gang see? The user's, less the names that Berth decides,
// plus those: the GPUs it may use, its place in the gang under the names that torch.distributed and
// torchrun use, and where to save. docs/reference lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervision/order.h"

namespace berth::supervisor {

// `port` is where rank 0 may listen for the others.
std::vector<std::string> task_environment(const supervision::Order& order,
                                          const supervision::TaskOrder& task, int port);

// A port on which no process listens, below the range from which the system hands out its own; it
// follows from job and attempt, so that jobs started together do not choose the same.
int choose_port(const supervision::Order& order);

// The value of a name in an environment; empty when it is not set.
std::string_view value_of(const std::vector<std::string>& environment, std::string_view name);

}  // namespace berth::supervisor
