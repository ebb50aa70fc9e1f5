// SPDX-License-Identifier: Apache-2.0
//
// What does `berth-trainer` do? It runs steps of a fixed length, each of which lowers a noisy loss,
// and prints some of them. On SIGTERM it saves the last whole step under $BERTH_CHECKPOINT_DIR and
// ends with 0; started again it says "resumed at step N" and does step N+1 next. The loss of a run
// that was paused is bit for bit that of one that was not.
//   --steps N              in all (200)
//   --step-time TIME       of each (100ms)
//   --checkpoint-every K   also save after every K-th step (0 = only when asked to stop)
//   --print-every K        print every K-th step (0 = some twenty of them)
//   --seed S               of the noise (1)
#pragma once

#include <string>
#include <vector>

namespace berth::trainer {

// The arguments after the name of the program. Answers the exit code: 0 done or saved, 1 could not
// save or resume, 124 bad usage, 130 ended by SIGINT (saved as well).
int run_trainer(const std::vector<std::string>& arguments);

}  // namespace berth::trainer
