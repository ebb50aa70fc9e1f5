// SPDX-License-Identifier: Apache-2.0
#include "vgpu/loading/program.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace berth::vgpu::loading {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kOurMachine = EM_AARCH64;
#endif
constexpr int kScriptsMax = 4;           // that are interpreters of each other: as the kernel
constexpr std::size_t kFirstLine = 256;  // of a script: as the kernel
constexpr int kHeadersMax = 256;
constexpr const char* kElse = "; start one built for this machine's glibc, or ask for whole GPUs";

class File {
  public:
    // Whatever it is, opening it does not wait.
    explicit File(const std::string& path)
        : file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
    ~File() {
        if (file_ >= 0) ::close(file_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    // As much as there is, of `size`.
    std::string text(std::uint64_t at, std::size_t size) const {
        std::string bytes(size, '\0');
        const ssize_t got = ::pread(file_, bytes.data(), size, static_cast<off_t>(at));
        bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
        return bytes;
    }
    template <class Header>
    bool read(std::uint64_t at, Header& header) const {
        return ::pread(file_, &header, sizeof header, static_cast<off_t>(at)) ==
               static_cast<ssize_t>(sizeof header);
    }

  private:
    int file_;
};

struct Needs {
    std::string loader;  // empty: none
    Elf64_Half machine = EM_NONE;
};

template <class Header, class Segment>
Needs needs_of(const File& file) {
    Header header{};
    if (!file.read(0, header)) return {};
    for (int index = 0; index < std::min<int>(header.e_phnum, kHeadersMax); ++index) {
        Segment segment{};
        const auto at = header.e_phoff + static_cast<std::uint64_t>(index) * sizeof segment;
        if (!file.read(at, segment)) return {};
        if (segment.p_type != PT_INTERP) continue;
        const std::string path = file.text(segment.p_offset, kFirstLine);
        return {path.substr(0, path.find('\0')), header.e_machine};
    }
    return {};
}

std::string absolute(std::string_view path, std::string_view workdir) {
    if (path.starts_with('/')) return std::string(path);
    return std::string(workdir) + '/' + std::string(path);
}

bool is_program(const std::string& path) {
    struct stat facts{};
    return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
}

// The first in the folders of PATH; empty when none has it.
std::string file_of(const Command& command) {
    if (command.name.find('/') != std::string_view::npos)
        return absolute(command.name, command.workdir);
    for (std::string_view rest = command.path; !command.name.empty();) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::string found =
            absolute(rest.substr(0, end), command.workdir) + '/' + std::string(command.name);
        if (is_program(found)) return found;
        if (end == rest.size()) break;
        rest.remove_prefix(end + 1);
    }
    return {};
}

// Of a script; empty when it is none.
std::string interpreter_of(const std::string& head) {
    if (!head.starts_with("#!")) return {};
    const std::size_t begin = head.find_first_not_of(" \t", 2);
    if (begin == std::string::npos) return {};
    return head.substr(begin, head.find_first_of(" \t\n", begin) - begin);
}

std::string judge(const std::string& path, const Needs& needs, bool is_32_bit) {
    if (needs.loader.empty()) return {};
    const std::string program = '"' + path + '"';
    const std::string without =
        " would run without this job's share of its GPUs" + std::string(kElse);
    if (is_32_bit) return program + " is a 32-bit program and" + without;
    if (needs.machine != kOurMachine) return program + " is of another processor and" + without;
    const std::string_view file =
        std::string_view(needs.loader).substr(needs.loader.rfind('/') + 1);
    if (!file.starts_with("ld-musl-")) return {};
    return program + " is linked with musl (" + needs.loader +
           "), under which nothing keeps this job to its share of its GPUs" + kElse;
}

}  // namespace

std::string why_not_loadable(const Command& command) {
    std::string path = file_of(command);
    for (int scripts = 0; scripts <= kScriptsMax && !path.empty(); ++scripts) {
        const File file(path);
        const std::string head = file.text(0, kFirstLine);
        if (head.starts_with(std::string_view(ELFMAG, SELFMAG)) && head.size() > EI_CLASS) {
            const bool is_32_bit = head[EI_CLASS] == ELFCLASS32;
            return judge(path,
                         is_32_bit ? needs_of<Elf32_Ehdr, Elf32_Phdr>(file)
                                   : needs_of<Elf64_Ehdr, Elf64_Phdr>(file),
                         is_32_bit);
        }
        const std::string next = interpreter_of(head);
        path = next.empty() ? std::string() : absolute(next, command.workdir);
    }
    return {};
}

}  // namespace berth::vgpu::loading
