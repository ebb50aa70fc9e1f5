// SPDX-License-Identifier: Apache-2.0
//
// What is a command called when people read of it? As they would type it, on one short line; and
// as a job name when they gave none.
#pragma once

#include <span>
#include <string>

namespace berth::control {

// {"python", "train.py", "--name", "a b"} -> python train.py --name 'a b'; `sh -c SCRIPT` is shown
// as SCRIPT. Control characters become spaces; at most 200 bytes.
std::string command_text(std::span<const std::string> command);

// {"python", "src/train.py"} -> "train"; {"/usr/bin/true"} -> "true".
std::string name_from(std::span<const std::string> command);

}  // namespace berth::control
