// SPDX-License-Identifier: Apache-2.0
#include "supervision/address.h"

namespace berth::supervision {

std::string attempt_socket(std::int64_t job, int attempt) {
    return std::to_string(job) + '.' + std::to_string(attempt);
}

std::string freezer_socket(const std::string& node) { return "freezer-" + node; }

}  // namespace berth::supervision
