// SPDX-License-Identifier: Apache-2.0
#include "app/supervisor/output/log_limit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

#include "base/quantity.h"
#include "supervision/descriptor.h"

namespace berth::supervisor {
namespace {

constexpr std::int64_t kBlock = 4096;
constexpr std::int64_t kStatBlock = 512;

std::int64_t whole_blocks(std::int64_t bytes) { return bytes / kBlock * kBlock; }

std::string marker(std::int64_t gone, const LogLimit& limit) {
    const std::string why = limit.room == Room::Ample
                                ? "a log may take " + base::format(base::Bytes{limit.bytes})
                                : std::string("the disk is almost full");
    return "\n[berth: " + std::to_string(gone >> 20) + " MiB are cut out here: " + why + "]\n";
}

// Over the last bytes that stay before the gap.
void write_marker(int file, std::int64_t end, const std::string& text) {
    const auto size = static_cast<std::int64_t>(text.size());
    if (size > end) return;
    [[maybe_unused]] const ssize_t written = ::pwrite(file, text.data(), text.size(), end - size);
}

std::int64_t bytes_of(const struct statvfs& about, fsblkcnt_t blocks) {
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(about.f_frsize);
}

}  // namespace

LogLimit log_limit_at(const std::string& path, std::int64_t bytes) {
    constexpr std::int64_t kMebibyte = 1 << 20;
    struct statvfs about{};
    if (::statvfs(path.c_str(), &about) != 0) return {Room::Ample, bytes};
    const std::int64_t all = bytes_of(about, about.f_blocks);
    const std::int64_t free = bytes_of(about, about.f_bavail);
    const std::int64_t most = bytes > 0 ? bytes : all;
    if (free < std::min(all / 100, 256 * kMebibyte))
        return {Room::Gone, std::min({most, 2 * kBlock + all / 64, kMebibyte / 8})};
    // The first and the last mebibyte; less of a small disk.
    if (free < std::min(all / 20, 1024 * kMebibyte))
        return {Room::Low, std::min({most, 2 * kBlock + all / 16, 2 * kMebibyte})};
    return {Room::Ample, bytes};
}

void limit_log(const std::string& path, const LogLimit& limit) {
    if (limit.bytes <= 0) return;
    // Not for appending: the marker goes where it belongs.
    const supervision::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    struct stat about{};
    if (!file.is_open() || ::fstat(file.get(), &about) != 0) return;
    const std::int64_t on_disk = about.st_blocks * kStatBlock;
    const std::int64_t head = std::max(kBlock, whole_blocks(limit.bytes / 2));
    const std::int64_t tail = whole_blocks(about.st_size - limit.bytes / 2);
    if (on_disk <= limit.bytes || tail <= head) return;
    if (::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, head, tail - head) !=
        0) {
        if (::ftruncate(file.get(), head) != 0) return;
    }
    write_marker(file.get(), head, marker(tail - head, limit));
}

}  // namespace berth::supervisor
