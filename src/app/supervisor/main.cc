// SPDX-License-Identifier: Apache-2.0
//
// berth-supervisor: runs one attempt of one job. Started by the server only, with three inherited
// files (supervision/order.h); not meant to be called by hand.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/supervisor/supervisor.h"

namespace {

using berth::supervision::Descriptor;

std::string read_order() {
    const Descriptor file(berth::supervision::kOrderDescriptor);
    struct stat about {};
    if (::fstat(file.get(), &about) != 0 || about.st_size <= 0) return {};
    std::string bytes(static_cast<std::size_t>(about.st_size), '\0');
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t size = ::pread(file.get(), bytes.data() + have, bytes.size() - have,
                                     static_cast<off_t>(have));
        if (size <= 0) return {};
        have += static_cast<std::size_t>(size);
    }
    return bytes;
}

}  // namespace

int main() {
    using namespace berth;
    if (::fcntl(supervision::kStatusDescriptor, F_SETFD, FD_CLOEXEC) != 0 ||
        ::fcntl(supervision::kChannelDescriptor, F_SETFD, FD_CLOEXEC) != 0) {
        ::fputs("berth-supervisor is started by the berth server, not by hand\n", stderr);
        return 124;
    }
    Descriptor status(supervision::kStatusDescriptor);
    Descriptor channel(supervision::kChannelDescriptor);
    std::optional<supervision::Order> order = supervision::unpack_order(read_order());
    if (!order) {
        const std::string line = supervision::exit_line(
            {126, 0, false, false, "the server and berth-supervisor are of different versions"});
        [[maybe_unused]] const ssize_t size = ::write(status.get(), line.data(), line.size());
        return 0;
    }
    supervisor::Supervisor(std::move(*order), std::move(status), std::move(channel)).run();
    // Nothing is worth the time of an orderly exit.
    ::_exit(0);
}
