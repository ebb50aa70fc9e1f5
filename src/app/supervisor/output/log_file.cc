// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/output/log_file.h"

#include <errno.h>
#include <unistd.h>

#include <string>

namespace berth::supervisor {

void LogFile::write(std::string_view bytes) {
    if (is_kept_ && dropped_ > 0) {
        const std::string marker = "\n[berth: " + std::to_string(dropped_) +
                                   " bytes are missing here: the disk was full]\n";
        if (put(marker) == marker.size()) dropped_ = 0;
    }
    const bool takes = is_kept_ && dropped_ == 0;
    const std::size_t taken = takes ? put(bytes) : 0;
    dropped_ += static_cast<std::int64_t>(bytes.size() - taken);
}

std::size_t LogFile::put(std::string_view bytes) {
    std::size_t taken = 0;
    while (taken < bytes.size()) {
        const ssize_t size = ::write(file_.get(), bytes.data() + taken, bytes.size() - taken);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        taken += static_cast<std::size_t>(size);
    }
    return taken;
}

}  // namespace berth::supervisor
