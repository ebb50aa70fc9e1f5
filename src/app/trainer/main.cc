// SPDX-License-Identifier: Apache-2.0
//
// The program berth-trainer: the demo's job.
#include "app/trainer/trainer.h"

int main(int argc, char** argv) {
    return berth::trainer::run_trainer(std::vector<std::string>(argv + 1, argv + argc));
}
