// SPDX-License-Identifier: Apache-2.0
//
// A program that asks for the driver in one of many ways: opener WAY [PATH]. Says "ours" when it
// got the library that keeps shares, "the driver" when it got past it.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

void* open_in(const std::string& way, const char* path) {
    constexpr int kFlags = RTLD_NOW | RTLD_LOCAL;
    if (way == "soname") return ::dlopen("libcuda.so.1", kFlags);
    if (way == "plain") return ::dlopen("libcuda.so", kFlags);
    if (way == "path") return ::dlopen(path, kFlags);
    if (way == "deepbind") return ::dlopen("libcuda.so.1", kFlags | RTLD_DEEPBIND);
    if (way == "namespace") return ::dlmopen(LM_ID_NEWLM, "libcuda.so.1", kFlags);
    if (way == "namespace-path") return ::dlmopen(LM_ID_NEWLM, path, kFlags);
    if (way == "path-after-use") {
        // By then the library in front has loaded the driver by that path.
        int version = 0;
        void* first = ::dlopen("libcuda.so.1", kFlags);
        auto* const ask = reinterpret_cast<int (*)(int*)>(::dlsym(first, "cuDriverGetVersion"));
        if (ask == nullptr || ask(&version) != 0 || version == 0) return nullptr;
        return ::dlopen(path, kFlags);
    }
    return nullptr;
}

// Through it, the driver answers.
bool works(void* library) {
    int version = 0;
    auto* const ask = reinterpret_cast<int (*)(int*)>(::dlsym(library, "cuDriverGetVersion"));
    return ask != nullptr && ask(&version) == 0 && version > 0;
}

}  // namespace

int main(int count, char** words) {
    void* library = count > 1 ? open_in(words[1], count > 2 ? words[2] : "") : nullptr;
    if (library == nullptr) {
        std::printf("nothing: %s\n", ::dlerror());
    } else if (!works(library)) {
        std::printf("a library that does not work\n");
    } else {
        const bool is_ours = ::dlsym(library, "berth_vgpu_report") != nullptr;
        std::printf("%s\n", is_ours ? "ours" : "the driver");
    }
    return 0;
}
