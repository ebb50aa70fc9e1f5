// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/talk/status_lines.h"

#include <errno.h>
#include <unistd.h>

#include "supervision/status_file.h"

namespace berth::supervisor {

void StatusLines::add(std::string_view line) {
    unwritten_ += line;
    write_more();
    // A line as long as "running" of a large gang used up what was taken for the last one.
    (void)supervision::take_room(file_.get());
}

void StatusLines::write_more() {
    while (!unwritten_.empty()) {
        const ssize_t size = ::write(file_.get(), unwritten_.data(), unwritten_.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return;
        unwritten_.erase(0, static_cast<std::size_t>(size));
    }
}

}  // namespace berth::supervisor
