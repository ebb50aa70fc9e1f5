// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/programs/first_line.h"

#include <poll.h>
#include <unistd.h>

namespace berth::gpu_shares {

std::string first_line(int file, int patience_ms) {
    std::string line;
    pollfd wait = {file, POLLIN, 0};
    for (char letter = 0; ::poll(&wait, 1, patience_ms) > 0 && ::read(file, &letter, 1) == 1;) {
        if (letter == '\n') return line;
        line += letter;
    }
    return {};
}

}  // namespace berth::gpu_shares
