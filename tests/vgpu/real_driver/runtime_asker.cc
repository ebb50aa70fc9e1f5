// SPDX-License-Identifier: Apache-2.0
//
// Starts NVIDIA's runtime library and says what it answers: runtime_asker LIBRARY. It looks up some
// 400 functions of the driver in its first call.
#include <dlfcn.h>

#include <cstdio>
#include <initializer_list>

int main(int count, char** words) {
    void* library = count == 2 ? ::dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr) {
        std::fprintf(stderr, "runtime_asker: %s\n", count == 2 ? ::dlerror() : "wanted LIBRARY");
        return 2;
    }
    const auto ask = [&](const char* name) {
        int number = -1;
        auto* const function = reinterpret_cast<int (*)(int*)>(::dlsym(library, name));
        if (function == nullptr) return std::printf("%s: none\n", name);
        const int result = function(&number);
        return std::printf("%s: %d, %d\n", name, result, number);
    };
    for (const char* name : {"cudaGetDeviceCount", "cudaDriverGetVersion", "cudaRuntimeGetVersion"})
        ask(name);
    return 0;
}
