// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/streams.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace berth::cli {
namespace {

// Of the whole process, as standard output is.
int print_error = 0;

// The number of the error that kept it from being written, or 0.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

}  // namespace

void print(std::string_view text) {
    if (print_error == 0) print_error = write_all(STDOUT_FILENO, text);
}

base::Status all_printed() {
    if (print_error == 0) return {};
    return base::fail(base::ErrorCode::Internal, std::string("cannot write to standard output: ") +
                                                     std::strerror(print_error));
}

void print_notice(std::string_view text) { write_all(STDERR_FILENO, text); }

}  // namespace berth::cli
