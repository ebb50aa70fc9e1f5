// SPDX-License-Identifier: Apache-2.0
#include "vgpu/behind/behind.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

void berth_vgpu_in_front() {}

namespace berth::vgpu::behind {
namespace {

// Where the loader's own list does not lead: Debian's multiarch folder, others' lib64, container
// runtimes, WSL.
constexpr const char* kFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                    "/usr/lib/aarch64-linux-gnu",
                                    "/usr/lib64",
                                    "/usr/lib",
                                    "/usr/local/nvidia/lib64",
                                    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu",
                                    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu",
                                    "/run/opengl-driver/lib",
                                    "/usr/lib/wsl/lib"};

constexpr std::size_t kPathBytes = 4096;

__attribute__((format(printf, 2, 3))) void say(Opened& opened, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    ::vsnprintf(opened.reason, sizeof opened.reason, format, arguments);
    va_end(arguments);
}

void open_file(const char* folder, const char* file, const Wanted& wanted, Opened& opened) {
    char path[kPathBytes];
    const int size = ::snprintf(path, sizeof path, "%s/./%s", folder, file);
    if (size < 0 || static_cast<std::size_t>(size) >= sizeof path || ::access(path, R_OK) != 0)
        return;
    void* library = ::dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        const char* why = ::dlerror();
        say(opened, "%s", why == nullptr ? path : why);
    } else if (::dlsym(library, "berth_vgpu_in_front") != nullptr) {
        say(opened, "%s/%s is this library, in the place of the driver; %s says where that is",
            folder, file, wanted.variable);
        ::dlclose(library);
    } else {
        opened.library = library;
    }
}

void open_chosen(const char* path, const Wanted& wanted, Opened& opened) {
    const char* slash = ::strrchr(path, '/');
    char folder[kPathBytes];
    const std::size_t size = static_cast<std::size_t>(slash - path);
    if (size >= sizeof folder) return;
    ::memcpy(folder, path, size);
    folder[size] = 0;
    open_file(folder, slash + 1, wanted, opened);
    if (opened.library == nullptr && opened.reason[0] == 0)
        say(opened, "%s=%s cannot be read", wanted.variable, path);
}

// The folders in which the loader looks for what this program opens by name.
void look_as_loader(const Wanted& wanted, Opened& opened) {
    void* program = ::dlopen(nullptr, RTLD_NOW);
    Dl_serinfo count{};
    if (program == nullptr || ::dlinfo(program, RTLD_DI_SERINFOSIZE, &count) != 0) return;
    void* memory = ::malloc(count.dls_size);
    if (memory == nullptr) return;
    auto* list = new (memory) Dl_serinfo{};
    list->dls_size = count.dls_size;
    list->dls_cnt = count.dls_cnt;
    if (::dlinfo(program, RTLD_DI_SERINFO, list) == 0) {
        for (unsigned int index = 0; index < list->dls_cnt && opened.library == nullptr; ++index)
            open_file(list->dls_serpath[index].dls_name, wanted.file, wanted, opened);
    }
    ::free(memory);
}

}  // namespace

Opened open_behind(const Wanted& wanted) {
    Opened opened;
    const char* chosen = ::getenv(wanted.variable);
    if (chosen != nullptr && chosen[0] == '/') {
        open_chosen(chosen, wanted, opened);
        return opened;
    }
    if (chosen != nullptr) {
        say(opened, "%s=%s is not an absolute path; give one or unset it", wanted.variable, chosen);
        return opened;
    }
    look_as_loader(wanted, opened);
    for (const char* folder : kFolders)
        if (opened.library == nullptr) open_file(folder, wanted.file, wanted, opened);
    return opened;
}

}  // namespace berth::vgpu::behind
