// SPDX-License-Identifier: Apache-2.0
//
// What does `berth up --demo` begin with? Three projects and a few jobs of the demo trainer.
#pragma once

#include <string>

#include "control/controller.h"

namespace berth::app {

// Queues them; the trainer is found beside `program`.
void submit_demo(control::Controller& controller, const std::string& program);

}  // namespace berth::app
