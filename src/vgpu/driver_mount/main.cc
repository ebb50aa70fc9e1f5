// SPDX-License-Identifier: Apache-2.0
//
// berth-driver-mount --keep DIR [--cuda FILE] [--nvml FILE] -- COMMAND...
//
// The strongest way to be in front of the driver: COMMAND runs in a mount namespace of its own in
// which our libraries lie in the place of the driver's files. Whatever path leads there leads to
// ours; the real files are to be found in DIR, where only our libraries look. FILE is a file of the
// driver where it is not in one of the usual places.
//
// Root needs no more than that. Others get a user namespace of their own, in which they stay who
// they are, where the kernel lets them have one.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/loading/program.h"

namespace {

namespace fs = std::filesystem;

constexpr const char* kPlaces[] = {"/usr/lib/x86_64-linux-gnu/",
                                   "/usr/lib/aarch64-linux-gnu/",
                                   "/usr/lib64/",
                                   "/usr/lib/",
                                   "/usr/local/nvidia/lib64/",
                                   "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/",
                                   "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/",
                                   "/run/opengl-driver/lib/",
                                   "/usr/lib/wsl/lib/"};

[[noreturn]] void fail(const std::string& what) {
    std::fprintf(stderr, "berth-driver-mount: %s\n", what.c_str());
    ::exit(126);
}

[[noreturn]] void fail_with_reason(const std::string& what) {
    fail(what + ": " + ::strerror(errno));
}

struct Wish {
    std::string keep;
    std::string cuda;
    std::string nvml;
    std::vector<char*> command;
};

Wish read_arguments(int count, char** words) {
    Wish wish;
    int at = 1;
    for (; at + 1 < count && std::string_view(words[at]) != "--"; at += 2) {
        const std::string_view name = words[at];
        std::string* value = name == "--keep"   ? &wish.keep
                             : name == "--cuda" ? &wish.cuda
                             : name == "--nvml" ? &wish.nvml
                                                : nullptr;
        if (value == nullptr) fail("there is no " + std::string(name) + "; see --keep DIR");
        *value = words[at + 1];
    }
    for (++at; at < count; ++at) wish.command.push_back(words[at]);
    if (wish.keep.empty() || wish.command.empty())
        fail("wanted --keep DIR [--cuda FILE] [--nvml FILE] -- COMMAND...");
    wish.command.push_back(nullptr);
    return wish;
}

void write_map(const char* path, const std::string& text) {
    const int file = ::open(path, O_WRONLY | O_CLOEXEC);
    const auto size = static_cast<ssize_t>(text.size());
    if (file < 0 || ::write(file, text.data(), text.size()) != size) fail_with_reason(path);
    ::close(file);
}

void enter_namespaces() {
    const uid_t user = ::getuid();
    const gid_t group = ::getgid();
    const bool is_root = ::geteuid() == 0;
    if (::unshare(is_root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0)
        fail_with_reason("cannot have a mount namespace");
    if (!is_root) {
        const auto same = [](auto id) {
            return std::to_string(id) + " " + std::to_string(id) + " 1";
        };
        write_map("/proc/self/setgroups", "deny");
        write_map("/proc/self/uid_map", same(user));
        write_map("/proc/self/gid_map", same(group));
    }
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        fail_with_reason("cannot keep mounts to itself");
}

// The file itself, not a link to it; empty when it is not there.
std::string file_of(const std::string& chosen, const std::string& name) {
    std::error_code none;
    if (!chosen.empty()) return fs::canonical(chosen, none).string();
    for (const char* place : kPlaces) {
        const fs::path found = fs::canonical(place + name, none);
        if (!none) return found.string();
    }
    return {};
}

void bind(const std::string& file, const std::string& place) {
    if (::mount(file.c_str(), place.c_str(), nullptr, MS_BIND, nullptr) != 0)
        fail_with_reason("cannot put " + file + " in the place of " + place);
}

struct Stand {
    std::string driver;
    std::string ours;
    std::string keep;
    const char* variable;  // says where the real one is
};

void stand_in(const Stand& stand) {
    const int file = ::open(stand.keep.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) fail_with_reason(stand.keep);
    ::close(file);
    bind(stand.driver, stand.keep);
    bind(stand.ours, stand.driver);
    ::setenv(stand.variable, stand.keep.c_str(), 1);
}

}  // namespace

int main(int count, char** words) {
    const Wish wish = read_arguments(count, words);
    const fs::path lib = fs::canonical("/proc/self/exe").parent_path().parent_path() / "lib";
    std::error_code gone;
    const std::string workdir = fs::current_path(gone).string();
    const char* path = ::getenv("PATH");
    const std::string unfit = berth::vgpu::loading::why_not_loadable(
        {wish.command.front(), path == nullptr ? "" : path, workdir});
    if (!unfit.empty()) fail(unfit);
    const std::string cuda = file_of(wish.cuda, "libcuda.so.1");
    const std::string nvml = file_of(wish.nvml, "libnvidia-ml.so.1");
    if (cuda.empty()) fail("no libcuda.so.1 is to be found; say where with --cuda");
    std::error_code ignored;
    fs::create_directories(wish.keep, ignored);
    enter_namespaces();
    stand_in({cuda, (lib / "libberth-cuda.so").string(), wish.keep + "/libcuda.so.1",
              "BERTH_VGPU_DRIVER"});
    if (!nvml.empty())
        stand_in({nvml, (lib / "libberth-nvml.so").string(), wish.keep + "/libnvidia-ml.so.1",
                  "BERTH_VGPU_NVML"});
    ::execvp(wish.command[0], wish.command.data());
    fail_with_reason(std::string("cannot run ") + wish.command[0]);
}
