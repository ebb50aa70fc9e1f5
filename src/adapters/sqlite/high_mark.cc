// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/high_mark.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <sstream>
#include <system_error>

#include "adapters/sqlite/data_lock.h"

namespace berth::adapters::sqlite {
namespace {

constexpr std::size_t kIncarnationMax = 64;
// Of one length, so that a new line covers the old one whole.
constexpr std::size_t kLineSize = 128;

std::string path_in(const std::string& directory) { return directory + "/high"; }

tl::unexpected<base::Error> mark_unavailable(const std::string& what, const std::string& path) {
    return base::fail(base::ErrorCode::Unavailable,
                      what + " \"" + path + "\": " + std::generic_category().message(errno));
}

std::string line_of(const HighMark& mark) {
    std::string line = mark.is_restored ? "restored " : "high ";
    line += mark.incarnation.empty() ? "-" : mark.incarnation;
    line += ' ' + std::to_string(mark.sequence) + ' ' + std::to_string(mark.last_job.value);
    line.resize(kLineSize - 1, ' ');
    return line + '\n';
}

std::optional<HighMark> parse(const std::string& line) {
    std::istringstream words(line);
    std::string kind;
    HighMark mark;
    if (!(words >> kind >> mark.incarnation >> mark.sequence >> mark.last_job.value)) return {};
    if (kind != "high" && kind != "restored") return {};
    if (mark.sequence < 0 || mark.last_job.value < 0) return {};
    if (mark.incarnation.size() > kIncarnationMax) return {};
    if (mark.incarnation == "-") mark.incarnation.clear();
    mark.is_restored = kind == "restored";
    return mark;
}

}  // namespace

base::Result<std::optional<HighMark>> HighMarkFile::read(const std::string& directory) {
    const std::string path = path_in(directory);
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) return std::optional<HighMark>{};
    if (file < 0) return mark_unavailable("cannot open", path);
    std::array<char, kLineSize> text{};
    const ssize_t size = ::pread(file, text.data(), text.size(), 0);
    ::close(file);
    if (size < 0) return mark_unavailable("cannot read", path);
    // A machine that stopped may have kept its name alone: that says nothing.
    if (size == 0) return std::optional<HighMark>{};
    const auto mark = parse(std::string(text.data(), static_cast<std::size_t>(size)));
    if (mark) return mark;
    return base::fail(base::ErrorCode::Conflict,
                      "\"" + path +
                          "\" does not say how far the log has come; restore a backup (berth "
                          "restore FILE), or remove it and go on from this log (berth up "
                          "--accept-older-log)");
}

base::Result<HighMarkFile> HighMarkFile::make(const std::string& directory, const HighMark& mark) {
    const std::string path = path_in(directory);
    // A whole one is written over: that takes no room.
    HighMarkFile made(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    struct stat there{};
    const bool is_whole = made.file_ >= 0 && ::fstat(made.file_, &there) == 0 &&
                          there.st_size == static_cast<off_t>(kLineSize);
    if (!is_whole) return make_new(directory, mark);
    if (!made.write(mark)) return mark_unavailable("cannot write", path);
    return made;
}

// Under its name it is seen whole or not at all.
base::Result<HighMarkFile> HighMarkFile::make_new(const std::string& directory,
                                                  const HighMark& mark) {
    const std::string path = path_in(directory);
    const std::string fresh = path + ".new";
    HighMarkFile made(
        ::open(fresh.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (made.file_ < 0) return mark_unavailable("cannot make", fresh);
    if (!made.write(mark) || ::rename(fresh.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(fresh.c_str());
        errno = error;
        return mark_unavailable("cannot write", path);
    }
    BERTH_TRY_VOID(sync_directory(directory));
    return made;
}

bool HighMarkFile::write(const HighMark& mark) {
    const std::string line = line_of(mark);
    const ssize_t size = ::pwrite(file_, line.data(), line.size(), 0);
    if (size >= 0 && size < std::ssize(line)) errno = ENOSPC;
    return size == std::ssize(line) && ::fsync(file_) == 0;
}

void HighMarkFile::put(const HighMark& mark) {
    const std::string line = line_of(mark);
    [[maybe_unused]] const ssize_t size = ::pwrite(file_, line.data(), line.size(), 0);
}

void HighMarkFile::sync() { ::fdatasync(file_); }

HighMarkFile::~HighMarkFile() {
    if (file_ >= 0) ::close(file_);
}

}  // namespace berth::adapters::sqlite
