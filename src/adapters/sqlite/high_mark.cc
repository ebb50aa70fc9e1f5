// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/high_mark.h"

#include <fcntl.h>
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
    HighMarkFile made(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (made.file_ < 0) return mark_unavailable("cannot make", path);
    const std::string line = line_of(mark);
    const bool is_written =
        ::pwrite(made.file_, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size());
    if (!is_written || ::fsync(made.file_) != 0) return mark_unavailable("cannot write", path);
    BERTH_TRY_VOID(sync_directory(directory));
    return made;
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
