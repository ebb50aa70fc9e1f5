// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/probe/context.h"
#include "vgpu/probe/share.h"
#include "vgpu/probe/users.h"

using namespace berth;

namespace {

constexpr const char* kUsage =
    "usage: berth-gpu-probe share BYTES GPU LIBRARY...\n"
    "       berth-gpu-probe users LIBRARY GPU...\n"
    "       berth-gpu-probe context LIBRARY GPU\n"
    "\n"
    "Asks the driver's libraries for the berth server. `share`, in the environment of a job that\n"
    "shares a GPU: prints \"ready\" when both libraries show no more than BYTES of that GPU and\n"
    "each LIBRARY loads, else \"unable\" and why. `users`: who holds what of these GPUs, by the\n"
    "management library LIBRARY, once a second until its standard input ends. `context`: prints\n"
    "\"ready\" and the bytes that a context takes of GPU, the first that this process sees.\n";

int misused() {
    std::fputs(kUsage, stderr);
    return 2;
}

int prove(const std::vector<std::string>& words) {
    vgpu::probe::Expected expected;
    const char* const end = words[1].data() + words[1].size();
    const auto read = std::from_chars(words[1].data(), end, expected.limit);
    if (read.ec != std::errc{} || read.ptr != end) return misused();
    expected.gpu = words[2];
    expected.files.assign(words.begin() + 3, words.end());
    const std::string why = vgpu::probe::why_no_share(expected);
    if (why.empty()) return std::puts("ready") >= 0 ? 0 : 1;
    std::printf("unable %s\n", why.c_str());
    return 1;
}

int measure_context(const std::string& nvml, const std::string& gpu) {
    const auto bytes = vgpu::probe::context_bytes(nvml, gpu);
    const std::string line =
        bytes ? "ready " + std::to_string(bytes->value) : "unable " + bytes.error().message;
    return std::puts(line.c_str()) >= 0 && bytes ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> words(values + 1, values + count);
    if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    if (words.size() >= 3 && words[0] == "share") return prove(words);
    if (words.size() == 3 && words[0] == "context") return measure_context(words[1], words[2]);
    if (words.size() < 3 || words[0] != "users") return misused();
    vgpu::probe::tell_users(words[1], {words.begin() + 2, words.end()});
    return 0;
}
