// SPDX-License-Identifier: Apache-2.0
//
// What must every Store do? One suite for all of them: call check_store() in a TEST_CASE with a
// way to open a store. Called again, it must open the same data, as a server that restarts does.
#pragma once

#include <functional>
#include <memory>

#include "ports/store.h"

namespace berth::tests {

void check_store(const std::function<std::unique_ptr<ports::Store>()>& open);

}  // namespace berth::tests
