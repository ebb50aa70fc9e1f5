// SPDX-License-Identifier: Apache-2.0
#include "app/berth/serve.h"

#include <chrono>
#include <cstdio>
#include <thread>

namespace berth::app {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTriesMax = 10;
constexpr std::chrono::seconds kPause{1};
// A server that lived this long has a working log.
constexpr std::chrono::minutes kGoodRun{1};

}  // namespace

int serve(std::unique_ptr<Server> server, ServerOptions options) {
    options.port = server->port();
    for (int tries = 0;;) {
        const Clock::time_point begin = Clock::now();
        const int exit_code = server->run();
        server.reset();
        if (exit_code != kLogFailed) return exit_code;
        if (Clock::now() - begin > kGoodRun) tries = 0;
        while (!server) {
            if (++tries > kTriesMax) return exit_code;
            std::this_thread::sleep_for(kPause);
            auto again = Server::open(options);
            if (again) {
                server = std::move(*again);
            } else {
                std::fprintf(stderr, "berth cannot go on yet: %s\n", again.error().message.c_str());
            }
        }
    }
}

}  // namespace berth::app
