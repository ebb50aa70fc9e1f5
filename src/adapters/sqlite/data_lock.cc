// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/data_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "runtime/folder.h"

namespace berth::adapters::sqlite {
namespace {

tl::unexpected<base::Error> unavailable(const std::string& what, const std::string& path) {
    const bool is_full = errno == ENOSPC || errno == EDQUOT;
    return base::fail(is_full ? base::ErrorCode::Exhausted : base::ErrorCode::Unavailable,
                      what + " \"" + path + "\": " + std::generic_category().message(errno));
}

std::string holder_of(int file) {
    std::array<char, 32> text{};
    const ssize_t size = ::pread(file, text.data(), text.size() - 1, 0);
    std::string pid(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return pid.empty() ? "unknown" : pid;
}

// A process that was killed and not yet waited for holds nothing any more.
bool is_running(const std::string& pid) {
    std::ifstream file("/proc/" + pid + "/stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(") ");
    return name_end != std::string::npos && stat[name_end + 2] != 'Z';
}

// Whether the lock could be had. When its holder was killed just now, a child that it had begun to
// start may keep it open for a moment longer, until it becomes the program that it is to be.
bool lock_soon(int file, int named_in) {
    constexpr int kTries = 400;
    constexpr timespec kPause{0, 5'000'000};
    for (int tries = 0; tries < kTries; ++tries) {
        if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
        if (errno != EWOULDBLOCK) return false;
        if (is_running(holder_of(named_in))) break;
        ::nanosleep(&kPause, nullptr);
    }
    errno = EWOULDBLOCK;
    return false;
}

}  // namespace

base::Result<DataLock> DataLock::take(const std::string& directory) {
    BERTH_TRY_VOID(runtime::Folder::make_data_folder(directory));
    const std::string path = directory + "/lock";
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) return unavailable("cannot open", path);
    DataLock lock(file);
    lock.directory_ = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock.directory_ < 0) return unavailable("cannot open", directory);
    const bool has_file = lock_soon(file, file);
    // Some file systems lock no directories: the file is what there is.
    const bool has_both = has_file && (lock_soon(lock.directory_, file) || errno != EWOULDBLOCK);
    if (!has_both) {
        if (errno != EWOULDBLOCK) return unavailable("cannot lock", path);
        return base::fail(base::ErrorCode::Conflict,
                          "data directory \"" + directory +
                              "\" is in use by another server (process " + holder_of(file) +
                              "); stop that one or choose another directory");
    }
    // The file keeps its block, so that a full disk does not stand in the way.
    const std::string pid = std::to_string(::getpid()) + "\n";
    const auto size = static_cast<ssize_t>(pid.size());
    if (::pwrite(file, pid.data(), pid.size(), 0) != size || ::ftruncate(file, size) != 0) {
        return unavailable("cannot write", path);
    }
    return lock;
}

DataLock::~DataLock() {
    for (const int held : {file_, directory_})
        if (held >= 0) ::close(held);
}

base::Status sync_directory(const std::string& directory) {
    const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return unavailable("cannot open", directory);
    const int result = ::fsync(file);
    const int error = errno;
    ::close(file);
    errno = error;
    if (result != 0) return unavailable("cannot write", directory);
    return {};
}

}  // namespace berth::adapters::sqlite
