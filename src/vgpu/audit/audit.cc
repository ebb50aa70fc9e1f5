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

char answer[4096];

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

// Where it lies beside this library; nullptr where that is not known. Not before the loader's first
// search: until then an old one cannot be asked.
char* path_beside(const char* ours) {
    Dl_info self{};
    if (::dladdr(reinterpret_cast<void*>(&path_beside), &self) == 0) return nullptr;
    const int folder = static_cast<int>(file_of(self.dli_fname) - self.dli_fname);
    const int size = ::snprintf(answer, sizeof answer, "%.*s%s", folder, self.dli_fname, ours);
    return static_cast<std::size_t>(size) < sizeof answer ? answer : nullptr;
}

}  // namespace

extern "C" {
#pragma GCC visibility push(default)

unsigned int la_version(unsigned int loaders) {
    // Who is no tenant has nothing in front of its driver.
    if (::getenv("BERTH_VGPU_SOCKET") == nullptr) return 0;
    // An older loader takes no later version than its own. What is used here is in all of them.
    return loaders < LAV_CURRENT ? loaders : LAV_CURRENT;
}

char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int) {
    const char* ours = is_ours(cookie) ? nullptr : stand_in_for(name);
    char* const path = ours == nullptr ? nullptr : path_beside(ours);
    return path == nullptr ? const_cast<char*>(name) : path;
}

#pragma GCC visibility pop
}
