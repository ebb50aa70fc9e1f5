// SPDX-License-Identifier: Apache-2.0
//
// berth backup, berth restore: the event log into a file and back. Both work on the files of this
// machine; a backup needs no server, and disturbs none.
#include "adapters/sqlite/backup.h"

#include <cstdio>

#include "adapters/process/jobs_folder.h"
#include "app/berth/log_verbs.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"

namespace berth::app {
namespace {

namespace sqlite = adapters::sqlite;

std::string end_text(const sqlite::LogEnd& end) {
    return "up to event " + std::to_string(end.sequence) + ", job " +
           std::to_string(end.last_job.value);
}

int run_backup(cli::Context& context, const cli::Arguments& arguments) {
    if (context.data_dir.empty()) return cli::report(context, cli::no_home());
    const std::string& file = arguments.words.front();
    const auto copied = sqlite::back_up(context.data_dir, file);
    if (!copied) {
        const bool is_damaged = copied.error().code == base::ErrorCode::Conflict;
        return cli::report(
            context,
            cli::Failure::from(copied.error(),
                               is_damaged ? cli::command_line(context, "check") : std::string()));
    }
    cli::print("backed up to " + file + ", " + end_text(copied->end) + ", and found sound\n");
    return cli::kDone;
}

int run_restore(cli::Context& context, const cli::Arguments& arguments) {
    if (context.data_dir.empty()) return cli::report(context, cli::no_home());
    const std::string& file = arguments.words.front();
    const auto highest = process::highest_job(context.data_dir + "/jobs");
    const auto copied = sqlite::restore(context.data_dir, file, highest);
    if (!copied) {
        const bool is_running = copied.error().message.find("in use by") != std::string::npos;
        return cli::report(
            context,
            cli::Failure::from(copied.error(),
                               is_running ? cli::command_line(context, "down") : std::string()));
    }
    std::string text = "restored " + file + ", " + end_text(copied->end) + "\n";
    if (!copied->aside.empty()) text += "the log of before is in " + copied->aside + "\n";
    text += "next: " + cli::command_line(context, "up") +
            ", which ends what runs and is unknown to this log\n";
    cli::print(text);
    return cli::kDone;
}

}  // namespace

const cli::Verb backup_verb{.intent = cli::Intent::System,
                            .name = "backup",
                            .synopsis = "FILE",
                            .summary = "copy the event log to a file, also while the server runs",
                            .words_min = 1,
                            .words_max = 1,
                            .completes = cli::Completes::Files,
                            .run = run_backup};

const cli::Verb restore_verb{.intent = cli::Intent::System,
                             .name = "restore",
                             .synopsis = "FILE",
                             .summary = "replace the event log by a backup; the old log is kept",
                             .words_min = 1,
                             .words_max = 1,
                             .completes = cli::Completes::Files,
                             .run = run_restore};

}  // namespace berth::app
