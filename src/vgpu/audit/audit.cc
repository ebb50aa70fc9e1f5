// SPDX-License-Identifier: Apache-2.0
//
// The strict way to be in front of the driver: an auditor of the dynamic loader (LD_AUDIT, see
// rtld-audit(7)). A library that asks the loader for the driver or its management library gets
// ours, which lie beside this one. That holds for any name or path, with RTLD_DEEPBIND, and by name
// in a namespace of its own. Only our two get what they ask for: they load what is behind them.
// About a path for a new namespace the loader asks no auditor.
//
// It lives in a namespace of its own with a C library of its own, so it uses little of that.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {

struct Stand {
    const char* driver;  // the begin of its file name
    const char* ours;
};
constexpr Stand kStands[] = {{"libcuda.so", "libberth-cuda.so"},
                             {"libnvidia-ml.so", "libberth-nvml.so"}};

char folder[4096];  // with a slash at the end; empty: not known
char answer[4096 + 64];

const char* file_of(const char* path) {
    const char* slash = ::strrchr(path, '/');
    return slash == nullptr ? path : slash + 1;
}

// "libcuda.so", "libcuda.so.1", "libcuda.so.580.65": not "libcuda.so2".
const char* stand_in_for(const char* path) {
    const char* file = file_of(path);
    for (const Stand& stand : kStands) {
        const std::size_t size = ::strlen(stand.driver);
        if (::strncmp(file, stand.driver, size) != 0) continue;
        if (file[size] == 0 || file[size] == '.') return stand.ours;
    }
    return nullptr;
}

bool is_ours(const uintptr_t* cookie) {
    const auto* map = reinterpret_cast<const link_map*>(*cookie);
    if (map == nullptr || map->l_name == nullptr) return false;
    for (const Stand& stand : kStands)
        if (::strcmp(file_of(map->l_name), stand.ours) == 0) return true;
    return false;
}

void find_folder() {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<void*>(&find_folder), &self) == 0) return;
    const std::size_t size = static_cast<std::size_t>(file_of(self.dli_fname) - self.dli_fname);
    if (size >= sizeof folder) return;
    ::memcpy(folder, self.dli_fname, size);
    folder[size] = 0;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

unsigned int la_version(unsigned int) {
    // Who is no tenant has nothing in front of its driver.
    if (::getenv("BERTH_VGPU_SOCKET") == nullptr) return 0;
    find_folder();
    return LAV_CURRENT;
}

char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int) {
    const char* ours = folder[0] == 0 || is_ours(cookie) ? nullptr : stand_in_for(name);
    if (ours == nullptr) return const_cast<char*>(name);
    ::snprintf(answer, sizeof answer, "%s%s", folder, ours);
    return answer;
}

#pragma GCC visibility pop
}
