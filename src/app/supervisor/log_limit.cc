// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/log_limit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/quantity.h"
#include "supervision/descriptor.h"

namespace berth::supervisor {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr std::int64_t kStatBlock = 512;

std::int64_t whole_blocks(std::int64_t bytes) { return bytes / kBlock * kBlock; }

// Over the last bytes that stay before the gap.
void write_marker(int file, std::int64_t end, std::int64_t gone, std::int64_t limit) {
    const std::string text = "\n[berth: " + std::to_string(gone >> 20) +
                             " MiB are cut out here: a log may take " +
                             base::format(base::Bytes{limit}) + "]\n";
    const auto size = static_cast<std::int64_t>(text.size());
    if (size > end) return;
    [[maybe_unused]] const ssize_t written = ::pwrite(file, text.data(), text.size(), end - size);
}

}  // namespace

void limit_log(const std::string& path, std::int64_t limit) {
    // Not for appending: the marker goes where it belongs.
    const supervision::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    struct stat about{};
    if (!file.is_open() || ::fstat(file.get(), &about) != 0) return;
    const std::int64_t on_disk = about.st_blocks * kStatBlock;
    const std::int64_t head = std::max(kBlock, whole_blocks(limit / 2));
    const std::int64_t tail = whole_blocks(about.st_size - limit / 2);
    if (on_disk <= limit || tail <= head) return;
    if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, head, tail - head) !=
        0) {
        if (::ftruncate(file.get(), head) != 0) return;
    }
    write_marker(file.get(), head, tail - head, limit);
}

}  // namespace berth::supervisor
