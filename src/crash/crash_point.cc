// SPDX-License-Identifier: Apache-2.0
#include "crash/crash_point.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace berth::crash {
namespace {

struct Target {
    std::string name;  // empty = never
    long passage = 1;
};

Target read_target() {
    const char* text = std::getenv("BERTH_CRASH_AT");
    if (text == nullptr) return {};
    const char* colon = std::strrchr(text, ':');
    if (colon == nullptr) return {text, 1};
    return {std::string(text, colon), std::strtol(colon + 1, nullptr, 10)};
}

}  // namespace

void crash_point(const char* name) {
    static const Target target = read_target();
    if (target.name.empty()) [[likely]]
        return;
    if (target.name != name) return;
    static std::atomic<long> passages{0};
    if (++passages == target.passage) ::kill(::getpid(), SIGKILL);
}

}  // namespace berth::crash
