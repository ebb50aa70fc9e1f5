// SPDX-License-Identifier: Apache-2.0
//
// Says what the driver answers, for real_driver_test.py: the one that the loader finds by its name,
// which may be the library in front of it. No GPU is needed for any of it.
//
//   asker lookups NAMES   NAMES: a file of all names that may be an answer. Reads "name version
//                         flags" in each line and writes the answers of both forms of the look-up
//   asker tables          what cuGetExportTable gives for tables that NVIDIA's own libraries use
//   asker calls           what some functions answer before and after cuInit
//   asker each LIBRARY    what each function of a library answers that is called with nothing,
//   before
//                         any other; reads their names
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iostream>
#include <string>
#include <unordered_map>

#include "vgpu/abi/cuda.h"

namespace {

// A place that no driver gives.
void* const kUntouched = reinterpret_cast<void*>(1);

void* open_by_name() {
    void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) return library;
    std::fprintf(stderr, "asker: %s\n", ::dlerror());
    std::exit(2);
}

template <class Function>
Function* named(void* library, const char* name) {
    auto* const found = reinterpret_cast<Function*>(::dlsym(library, name));
    if (found != nullptr) return found;
    std::fprintf(stderr, "asker: the driver exports no %s\n", name);
    std::exit(2);
}

// Which function is it? By the addresses of exports, of the library and of the driver behind it.
class Names {
  public:
    Names(void* library, const char* file) {
        const char* behind = std::getenv("BERTH_VGPU_DRIVER");
        void* real = behind == nullptr ? library : ::dlopen(behind, RTLD_NOW | RTLD_LOCAL);
        std::ifstream lines(file);
        for (std::string name; std::getline(lines, name);) {
            if (void* address = ::dlsym(real, name.c_str())) known_[address] = name;
            void* address = ::dlsym(library, name.c_str());
            if (address != nullptr && library != real) known_[address] = name + " hook";
        }
    }

    std::string of(void* address) const {
        if (address == nullptr) return "null";
        if (address == kUntouched) return "untouched";
        const auto found = known_.find(address);
        return found == known_.end() ? "unknown" : found->second;
    }

  private:
    std::unordered_map<void*, std::string> known_;
};

int look_up_all(const char* file) {
    void* library = open_by_name();
    const Names names(library, file);
    auto* const first = named<decltype(cuGetProcAddress)>(library, "cuGetProcAddress");
    auto* const second = named<decltype(cuGetProcAddress_v2)>(library, "cuGetProcAddress_v2");
    std::string name;
    int version = 0;
    cuuint64_t flags = 0;
    while (std::cin >> name >> version >> flags) {
        const char* symbol = name == "(none)" ? "" : name.c_str();
        void* one = kUntouched;
        void* other = kUntouched;
        auto status = static_cast<CUdriverProcAddressQueryResult>(77);
        const int result = first(symbol, &one, version, flags);
        const int result_2 = second(symbol, &other, version, flags, &status);
        std::printf("%s %d %llu: %d %s, %d %d %s\n", name.c_str(), version,
                    static_cast<unsigned long long>(flags), result, names.of(one).c_str(), result_2,
                    static_cast<int>(status), names.of(other).c_str());
    }
    return 0;
}

// As NVIDIA's runtime and its tools ask for them.
using TableId = std::array<unsigned char, 16>;
constexpr TableId kTables[] = {
    {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d,
     0xf9},
    {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a,
     0x66},
    {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95,
     0x93},
    {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec,
     0xdc},
    {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
};

int show_tables() {
    void* library = open_by_name();
    auto* const ask = named<CUresult(const void**, const TableId*)>(library, "cuGetExportTable");
    for (const TableId& id : kTables) {
        const void* table = kUntouched;
        const int result = ask(&table, &id);
        Dl_info home{};
        const bool is_there = result == CUDA_SUCCESS && ::dladdr(table, &home) != 0;
        const auto offset = reinterpret_cast<std::uintptr_t>(table) -
                            reinterpret_cast<std::uintptr_t>(home.dli_fbase);
        std::printf("%02x%02x: %d at %llx\n", id[0], id[1], result,
                    is_there ? static_cast<unsigned long long>(offset) : 0);
    }
    return 0;
}

int call_some() {
    void* library = open_by_name();
    for (const char* when : {"before", "after"}) {
        int number = -1;
        const char* text = "nothing";
        std::printf("%s cuInit: version %d", when,
                    named<decltype(cuDriverGetVersion)>(library, "cuDriverGetVersion")(&number));
        std::printf(" %d", number);
        std::printf(", count %d",
                    named<decltype(cuDeviceGetCount)>(library, "cuDeviceGetCount")(&number));
        std::printf(", name %d", named<decltype(cuGetErrorName)>(library, "cuGetErrorName")(
                                     CUDA_ERROR_OUT_OF_MEMORY, &text));
        CUdeviceptr pointer = 0;
        std::printf(" %s, alloc %d\n", text,
                    named<decltype(cuMemAlloc_v2)>(library, "cuMemAlloc_v2")(&pointer, 4096));
        if (std::strcmp(when, "before") == 0)
            std::printf("cuInit: %d\n", named<decltype(cuInit)>(library, "cuInit")(0));
    }
    return 0;
}

int call_each(const char* file) {
    using Function = int(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    void* library = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    for (std::string name; library != nullptr && std::cin >> name;) {
        auto* const function = named<Function>(library, name.c_str());
        std::fflush(stdout);
        // A process of its own: some crash.
        const pid_t child = ::fork();
        if (child == 0) {
            ::alarm(30);
            std::printf("%s: %d\n", name.c_str(),
                        function(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                 nullptr, nullptr, nullptr));
            std::fflush(stdout);
            ::_exit(0);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) std::printf("%s: signal %d\n", name.c_str(), WTERMSIG(status));
    }
    return library == nullptr ? 2 : 0;
}

}  // namespace

int main(int count, char** words) {
    const std::string asked = count > 1 ? words[1] : "";
    if (asked == "lookups" && count == 3) return look_up_all(words[2]);
    if (asked == "tables") return show_tables();
    if (asked == "calls") return call_some();
    if (asked == "each" && count == 3) return call_each(words[2]);
    std::fprintf(stderr, "asker: wanted lookups NAMES, tables, calls or each LIBRARY\n");
    return 2;
}
