// SPDX-License-Identifier: Apache-2.0
#include "supervision/mark.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>

#include "base/hash.h"
#include "supervision/descriptor.h"

namespace berth::supervision {

std::uint64_t mark_of(const AttemptName& name) {
    const std::string text = std::string(name.cluster) + '/' + std::to_string(name.job) + '.' +
                             std::to_string(name.attempt);
    constexpr std::uint64_t kTop = std::uint64_t{1} << 61;
    return (base::hash(text) & (kTop - 1)) | kTop;
}

// The hard limit stays: a supervisor below this one has a mark of its own to set.
void bear(std::uint64_t mark) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_LOCKS, &limit) != 0) return;
    limit.rlim_cur = mark;
    ::setrlimit(RLIMIT_LOCKS, &limit);
}

bool bears(pid_t pid, std::uint64_t mark) {
    const std::string path = "/proc/" + std::to_string(pid) + "/limits";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return false;
    char buffer[4096];
    const ssize_t size = ::read(file.get(), buffer, sizeof buffer);
    std::string_view text(buffer, size > 0 ? static_cast<std::size_t>(size) : 0);
    constexpr std::string_view kLine = "Max file locks";
    const std::size_t at = text.find(kLine);
    if (at == std::string_view::npos) return false;
    text.remove_prefix(at + kLine.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::uint64_t found = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    return error == std::errc{} && found == mark;
}

}  // namespace berth::supervision
