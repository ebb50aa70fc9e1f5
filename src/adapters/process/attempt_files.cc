// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/attempt_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "supervision/order.h"

namespace berth::process {
namespace {

using supervision::Descriptor;

constexpr std::int64_t kJobsPerDirectory = 1000;

std::string directory_of(const std::string& jobs_dir, model::JobId job) {
    return jobs_dir + '/' + std::to_string(job.value - job.value % kJobsPerDirectory);
}

std::string status_path(const std::string& jobs_dir, ports::AttemptId id) {
    return attempt_prefix(jobs_dir, id) + ".status";
}

Descriptor open_or_make(const std::string& path) {
    return Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
}

}  // namespace

std::string attempt_prefix(const std::string& jobs_dir, ports::AttemptId id) {
    return directory_of(jobs_dir, id.job) + '/' + std::to_string(id.job.value) + '.' +
           std::to_string(id.attempt);
}

std::string log_path(const std::string& jobs_dir, ports::AttemptId id, int task) {
    return supervision::log_path(attempt_prefix(jobs_dir, id), task);
}

std::string checkpoint_directory(const std::string& jobs_dir, model::JobId job) {
    return directory_of(jobs_dir, job) + '/' + std::to_string(job.value) + ".checkpoint";
}

base::Result<Descriptor> create_status(const std::string& jobs_dir, ports::AttemptId id) {
    const std::string path = status_path(jobs_dir, id);
    Descriptor file = open_or_make(path);
    if (!file.is_open() && errno == ENOENT) {  // the first of a thousand
        ::mkdir(directory_of(jobs_dir, id.job).c_str(), 0777);
        file = open_or_make(path);
    }
    if (!file.is_open())
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot make \"" + path + "\": " + ::strerror(errno));
    // A locked file has a supervisor, one with something in it had one. Empty and free, it was left
    // by a server that died before it came to start anything, and is as good as new.
    struct stat status{};
    const bool is_free = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if (!is_free || ::fstat(file.get(), &status) != 0 || status.st_size != 0)
        return base::fail(base::ErrorCode::Exists,
                          "\"" + path + "\" is of an attempt begun before");
    return file;
}

AttemptState read_attempt(const std::string& jobs_dir, ports::AttemptId id) {
    const std::string path = status_path(jobs_dir, id);
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return {};
    AttemptState state;
    state.exists = true;
    // Taking the lock for a moment is harmless: nobody wants it a second time.
    state.is_supervised = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    if (state.is_supervised) return state;
    std::string text;
    char buffer[4096];
    while (true) {
        const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
        if (size <= 0) break;
        text.append(buffer, static_cast<std::size_t>(size));
    }
    state.status = supervision::parse_status(text);
    return state;
}

}  // namespace berth::process
