// SPDX-License-Identifier: Apache-2.0
//
// berth down: ends the server and returns when it has let go of its data directory.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "app/berth/server.h"
#include "app/berth/up.h"
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"

namespace berth::app {
namespace {

constexpr cli::Flag kDownFlags[] = {
    {.name = "jobs",
     .value = "WHAT",
     .help = "keep: jobs continue under the next server; cancel: they end first",
     .completes = cli::Completes::Choices,
     .choices = "keep|cancel"},
};

constexpr std::chrono::seconds kPatience{100};
constexpr std::chrono::milliseconds kLook{10};

// Whether a server holds the lock of the data directory.
bool is_held(const std::string& data_dir) {
    const int file = ::open((data_dir + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool is_free = ::flock(file, LOCK_EX | LOCK_NB) == 0;
    ::close(file);
    return !is_free;
}

int run_down(cli::Context& context, const cli::Arguments& arguments) {
    const std::string jobs = arguments.text("jobs", "keep");
    cli::Client client(context);
    if (const cli::Success asked = client.shut_down(jobs); !asked) {
        return cli::report(context, asked.error());
    }
    const auto began = std::chrono::steady_clock::now();
    const auto until = began + kPatience;
    while (is_held(context.data_dir)) {
        if (std::chrono::steady_clock::now() > until) {
            return cli::report(context, {cli::kServerUnreachable, "the server has not ended yet",
                                         cli::command_line(context, "status")});
        }
        std::this_thread::sleep_for(kLook);
    }
    // It would have ended before that if they had.
    if (jobs == "cancel" && std::chrono::steady_clock::now() >= began + kCancelPatience) {
        return cli::report(context, {cli::kFailed,
                                     "the server ended; jobs that have not ended in " +
                                         std::to_string(kCancelPatience.count()) + " s go on",
                                     cli::command_line(context, "up")});
    }
    cli::print(jobs == "keep" ? "server ended; running jobs go on\n" : "server and jobs ended\n");
    return cli::kDone;
}

}  // namespace

const cli::Verb down_verb{.intent = cli::Intent::System,
                          .name = "down",
                          .synopsis = "[--jobs keep|cancel]",
                          .summary = "stop the server; running jobs continue by default",
                          .flags = kDownFlags,
                          .run = run_down};

}  // namespace berth::app
