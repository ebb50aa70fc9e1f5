// SPDX-License-Identifier: Apache-2.0
//
// What the files of an attempt tell while it runs: how large its logs are, whether it says that its
// work is saved, and whether it is writing a checkpoint this moment.
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <filesystem>

#include "app/supervisor/output/log_limit.h"
#include "app/supervisor/supervisor.h"

namespace berth::supervisor {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t nanoseconds(const timespec& time) {
    return time.tv_sec * 1'000 * kNsPerMs + time.tv_nsec;
}

// When the file was changed last; 0 when it is not there.
std::int64_t changed_ns(const char* path) {
    struct stat about{};
    return ::stat(path, &about) == 0 ? nanoseconds(about.st_mtim) : 0;
}

}  // namespace

void Supervisor::look_around() {
    limit_logs();
    look_deadline_ = monotonic_ms() + (has_ample_room_ ? kLookEveryMs : kLookOftenMs);
    if (listening_.is_open() && !listening_.is_there()) {
        listening_.close();
        listen();
    }
    const std::int64_t saved_at = changed_ns(order_.saved_file.c_str());
    if (saved_at == saved_at_ns_) return;
    saved_at_ns_ = saved_at;
    tell(Role::Server, supervision::FrameType::Saved, {});
}

// Whether anything in its checkpoint directory changed in the last seconds.
bool Supervisor::keeps_writing() const {
    constexpr std::int64_t kRecentNs = 3'000 * kNsPerMs;
    constexpr int kFilesMax = 10'000;
    timespec time{};
    ::clock_gettime(CLOCK_REALTIME, &time);
    const std::int64_t recent = nanoseconds(time) - kRecentNs;
    namespace fs = std::filesystem;
    std::error_code error;
    fs::recursive_directory_iterator entry(order_.checkpoint_dir, error);
    for (int count = 0; !error && entry != fs::end(entry) && count < kFilesMax; ++count) {
        if (changed_ns(entry->path().c_str()) >= recent) return true;
        entry.increment(error);
    }
    return false;
}

void Supervisor::limit_logs() {
    if (order_.tasks.empty()) return;
    const LogLimit limit = log_limit_at(
        supervision::log_path(order_.file_prefix, order_.tasks.front().rank), order_.log_limit);
    has_ample_room_ = limit.room == Room::Ample;
    relay_.keep_logs(limit.room != Room::Gone);
    for (const supervision::TaskOrder& task : order_.tasks)
        limit_log(supervision::log_path(order_.file_prefix, task.rank), limit);
}

}  // namespace berth::supervisor
