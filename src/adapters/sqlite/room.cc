// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/room.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>

namespace berth::adapters::sqlite {
namespace {

constexpr std::int64_t kMebibyte = 1 << 20;
constexpr std::int64_t kReserveMax = 64 * kMebibyte;
constexpr std::int64_t kReservePart = 8;  // of a small file system
constexpr std::int64_t kWantedMax = 64 * kMebibyte;
constexpr std::int64_t kWantedPart = 32;

std::int64_t size_of(const struct statvfs& about, fsblkcnt_t blocks) {
    return static_cast<std::int64_t>(blocks) * static_cast<std::int64_t>(about.f_frsize);
}

}  // namespace

ports::Room room_of(const std::string& directory) {
    struct statvfs about{};
    if (::statvfs(directory.c_str(), &about) != 0) return {};
    const std::int64_t wanted = size_of(about, about.f_blocks) / kWantedPart;
    return {directory, base::Bytes{size_of(about, about.f_bavail)},
            base::Bytes{std::min(kWantedMax, wanted)},
            about.f_files == 0 ? ports::kFilesWanted : static_cast<std::int64_t>(about.f_favail)};
}

base::Bytes reserve_of(const std::string& directory) {
    struct statvfs about{};
    if (::statvfs(directory.c_str(), &about) != 0) return base::Bytes{0};
    return base::Bytes{std::min(kReserveMax, size_of(about, about.f_blocks) / kReservePart)};
}

void keep_reserve(const std::string& file, base::Bytes bytes) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    if (bytes.value > 0) [[maybe_unused]]
        const int kept = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, bytes.value);
    ::close(descriptor);
}

void give_up_reserve(const std::string& file) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    struct stat about{};
    if (::fstat(descriptor, &about) == 0) [[maybe_unused]]
        const int cut = ::ftruncate(descriptor, about.st_size);
    ::close(descriptor);
}

}  // namespace berth::adapters::sqlite
