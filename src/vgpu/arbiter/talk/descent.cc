// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/descent.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

#include "vgpu/arbiter/talk/descriptor.h"
#include "vgpu/ledger/stay.h"

namespace berth::vgpu::arbiter {
namespace {

// A user that makes an endless line of processes must not keep the arbiter busy.
constexpr int kDepthMax = 256;

struct Relation {
    std::string name;
    pid_t parent = 0;  // 0: not known
};

// proc_pid_stat(5): PID (NAME) STATE PARENT ..., where NAME may have anything in it.
Relation relation_of(pid_t process) {
    const std::string path = "/proc/" + std::to_string(process) + "/stat";
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char bytes[256];
    const ssize_t size = file.is_open() ? ::read(file.get(), bytes, sizeof bytes) : -1;
    if (size <= 0) return {};
    const std::string_view text(bytes, static_cast<std::size_t>(size));
    const std::size_t begin = text.find('(');
    const std::size_t end = text.rfind(") ");
    if (begin == std::string_view::npos || end == std::string_view::npos) return {};
    Relation relation{std::string(text.substr(begin + 1, end - begin - 1))};
    const std::string_view parent = text.substr(std::min(end + 4, text.size()));
    std::from_chars(parent.data(), parent.data() + parent.size(), relation.parent);
    return relation;
}

}  // namespace

pid_t supervisor_above(pid_t process) {
    pid_t at = relation_of(process).parent;
    for (int depth = 0; at > 0; ++depth) {
        if (depth == kDepthMax) return process;
        const Relation relation = relation_of(at);
        if (relation.name == ledger::kSupervisorName) return at;
        at = relation.parent;
    }
    return 0;
}

}  // namespace berth::vgpu::arbiter
