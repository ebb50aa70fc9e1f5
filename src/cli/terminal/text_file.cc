// SPDX-License-Identifier: Apache-2.0
#include "cli/terminal/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace berth::cli {
namespace {

base::Result<std::string> read_all(int file, const std::string& name) {
    std::string text;
    char buffer[64 * 1024];
    for (;;) {
        const ssize_t count = ::read(file, buffer, sizeof(buffer));
        if (count == 0) return text;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return base::invalid(name + ": " + std::strerror(errno));
        text.append(buffer, static_cast<std::size_t>(count));
        if (text.size() > kTextFileMax) return base::invalid(name + ": larger than 256 MiB");
    }
}

}  // namespace

base::Result<std::string> read_text_file(const std::string& path) {
    if (path == "-") return read_all(STDIN_FILENO, "standard input");
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        const auto code = errno == ENOENT ? base::ErrorCode::NotFound : base::ErrorCode::Invalid;
        return base::fail(code, path + ": " + std::strerror(errno));
    }
    auto text = read_all(file, path);
    ::close(file);
    return text;
}

base::Status write_text_file(const std::string& path, const std::string& text) {
    const std::string fresh = path + ".new";
    std::FILE* file = std::fopen(fresh.c_str(), "we");
    const bool is_written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool is_closed = file && std::fclose(file) == 0;
    if (is_written && is_closed && std::rename(fresh.c_str(), path.c_str()) == 0) return {};
    const std::string reason = std::strerror(errno);
    std::remove(fresh.c_str());
    return base::fail(base::ErrorCode::Unavailable, "cannot write " + path + ": " + reason);
}

}  // namespace berth::cli
