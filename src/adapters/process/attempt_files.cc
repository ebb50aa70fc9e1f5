// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/attempt_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "supervision/order.h"
#include "supervision/shortage.h"

namespace berth::process {
namespace {

using supervision::Descriptor;

constexpr std::int64_t kJobsPerDirectory = 1000;

std::string directory_of(const std::string& jobs_dir, model::JobId job) {
    return jobs_dir + '/' + std::to_string(job.value - job.value % kJobsPerDirectory);
}

std::string read_all(const Descriptor& file) {
    std::string text;
    char buffer[4096];
    while (true) {
        const ssize_t size =
            ::pread(file.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()));
        if (size <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(size));
    }
}

base::Duration age_of(const Descriptor& file) {
    struct stat about{};
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    if (::fstat(file.get(), &about) != 0) return {};
    const std::int64_t ms = (now.tv_sec - about.st_mtim.tv_sec) * 1000 +
                            (now.tv_nsec - about.st_mtim.tv_nsec) / 1'000'000;
    return base::Duration{std::max<std::int64_t>(0, ms)};
}

// Empty, it says nothing: its server died before it had written the first line.
bool is_foreign(const std::string& text, const std::string& log) {
    return !text.empty() && supervision::parse_status(text).log != log;
}

// All that lies there under the name of the attempt: its job may have an attempt of that number.
void move_aside(const std::string& jobs_dir, ports::AttemptId id, const std::string& log) {
    const std::string prefix = attempt_prefix(jobs_dir, id) + '.';
    const std::filesystem::path directory = directory_of(jobs_dir, id.job);
    const bool is_plain = !log.empty() && log.find_first_of("/.") == std::string::npos;
    const std::filesystem::path aside = directory / ("foreign-" + (is_plain ? log : "unknown"));
    std::error_code ignored;
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        if (entry.path().string().starts_with(prefix)) paths.push_back(entry.path());
    }
    std::filesystem::create_directory(aside, ignored);
    for (const auto& path : paths) std::filesystem::rename(path, aside / path.filename(), ignored);
}

tl::unexpected<base::Error> cannot_make(const std::string& path) {
    const int reason = errno;
    return base::fail(supervision::is_shortage(reason) ? base::ErrorCode::Exhausted
                                                       : base::ErrorCode::Unavailable,
                      "cannot make \"" + path + "\": " + ::strerror(reason));
}

Descriptor open_or_make(const std::string& path) {
    return Descriptor(
        ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
}

}  // namespace

std::string attempt_prefix(const std::string& jobs_dir, ports::AttemptId id) {
    return directory_of(jobs_dir, id.job) + '/' + std::to_string(id.job.value) + '.' +
           std::to_string(id.attempt);
}

std::string status_path(const std::string& jobs_dir, ports::AttemptId id) {
    return attempt_prefix(jobs_dir, id) + ".status";
}

std::string log_path(const std::string& jobs_dir, ports::AttemptId id, int task) {
    return supervision::log_path(attempt_prefix(jobs_dir, id), task);
}

std::string checkpoint_directory(const std::string& jobs_dir, model::JobId job) {
    return directory_of(jobs_dir, job) + '/' + std::to_string(job.value) + ".checkpoint";
}

base::Result<Descriptor> create_status(const std::string& jobs_dir,
                                       const ports::BegunAttempt& attempt) {
    const std::string path = status_path(jobs_dir, attempt.id);
    Descriptor file = open_or_make(path);
    if (!file.is_open() && errno == ENOENT) {  // the first of a thousand
        const int made = ::mkdir(directory_of(jobs_dir, attempt.id.job).c_str(), 0700);
        if (made == 0 || errno == EEXIST) file = open_or_make(path);
    }
    if (file.is_open() && is_foreign(read_all(file), attempt.log)) {
        move_aside(jobs_dir, attempt.id, supervision::parse_status(read_all(file)).log);
        file = open_or_make(path);
    }
    if (!file.is_open()) return cannot_make(path);
    // A locked file has a supervisor, one that says "starting" had one. Any other was left by a
    // server that died before it came to start anything, and is as good as new.
    const bool is_free = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    const std::string text = read_all(file);
    const supervision::StatusReading status = supervision::parse_status(text);
    if (!is_free || status.started || status.exit)
        return base::fail(base::ErrorCode::Exists,
                          "\"" + path + "\" is of an attempt begun before");
    const std::string line = attempt.log.empty() ? "" : supervision::log_line(attempt.log);
    const bool is_written = text == line || (::ftruncate(file.get(), 0) == 0 &&
                                             ::write(file.get(), line.data(), line.size()) ==
                                                 static_cast<ssize_t>(line.size()));
    if (!is_written) return cannot_make(path);
    BERTH_TRY_VOID(supervision::take_room(file.get()));
    return file;
}

AttemptState look_at(const std::string& jobs_dir, ports::AttemptId id) {
    const std::string path = status_path(jobs_dir, id);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file.is_open()) return {};
    // Taking the lock for a moment is harmless: no process takes it a second time.
    const bool is_supervised = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    const std::string text = read_all(file);
    return {!text.empty(), is_supervised, supervision::parse_status(text), age_of(file)};
}

AttemptState read_attempt(const std::string& jobs_dir, const ports::BegunAttempt& attempt) {
    AttemptState state = look_at(jobs_dir, attempt.id);
    if (!state.exists || state.status.log == attempt.log) return state;
    move_aside(jobs_dir, attempt.id, state.status.log);
    return {};
}

}  // namespace berth::process
