// SPDX-License-Identifier: Apache-2.0
//
// berth logs: what did a job print?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/interrupt.h"

namespace berth::cli {
namespace {

constexpr base::Duration kLogWait{30'000};

constexpr Flag kLogsFlags[] = {
    {'f', "follow", "", "print new output, through pauses, until the job ends"},
    {0, "attempt", "N", "attempt to show (default: the newest)"},
    {0, "rank", "N", "task of the gang to show (default: 0)"},
    {'n', "tail", "LINES", "number of last lines to show"},
};

// The last `count` lines of `text`.
std::string_view last_lines(std::string_view text, std::int64_t count) {
    std::size_t start = text.size();
    if (start > 0 && text.back() == '\n') --start;
    while (start > 0 && count > 0) {
        const std::size_t end = text.rfind('\n', start - 1);
        if (--count == 0 || end == std::string_view::npos) {
            return text.substr(end == std::string_view::npos ? 0 : end + 1);
        }
        start = end;
    }
    return count > 0 ? text : std::string_view();
}

struct Follower {
    Client& client;
    const Context& context;
    model::JobId id;
    LogQuery query;

    // Everything there is of the attempt, without waiting.
    Outcome<std::string> present_text() {
        std::string text;
        for (;;) {
            const auto piece = client.log(id, query);
            if (!piece) return tl::unexpected(piece.error());
            text += piece->bytes;
            const bool is_stuck = piece->next_offset == query.offset;
            query.offset = piece->next_offset;
            if (piece->is_end || is_stuck) return text;
        }
    }

    // Prints until the attempt is over. False when interrupted or failed; `failure` tells which.
    bool follow_attempt(Failure& failure) {
        query.wait = kLogWait;
        for (;;) {
            const auto piece = client.log(id, query);
            if (!piece) {
                failure = piece.error();
                return false;
            }
            print(piece->bytes);
            query.offset = piece->next_offset;
            if (piece->is_end) return true;
        }
    }
};

// Follows attempt after attempt until the job has ended.
int follow_job(Follower follower, int attempt) {
    Failure failure;
    for (;;) {
        follower.query.attempt = attempt;
        if (!follower.follow_attempt(failure)) break;
        for (;;) {  // until there is a newer attempt, or none can come
            const auto job = follower.client.job(follower.id);
            if (!job) return report(follower.context, job.error());
            if (job->job.attempts > attempt) break;
            if (model::is_final(job->job.state)) return kDone;
            const auto changed = follower.client.wait_for_job(
                follower.id, {.until = "running", .since = 0, .at_most = kLogWait});
            if (!changed && changed.error().exit_code == kDetached) return kDone;
            if (!changed) return report(follower.context, changed.error());
        }
        ++attempt;
        follower.query.offset = 0;
        print_notice("berth: attempt " + std::to_string(attempt) + "\n");
    }
    return failure.exit_code == kDetached ? int{kDone} : report(follower.context, failure);
}

int show_log(Context& context, const Arguments& arguments) {
    const auto attempt = arguments.number("attempt", 0);
    const auto rank = arguments.number("rank", -1);
    const auto tail = arguments.number("tail", -1);
    for (const auto* number : {&attempt, &rank, &tail}) {
        if (!*number) return report(context, number->error());
    }
    Interrupt interrupt;
    Client client(context, base::Duration{20'000}, interrupt.descriptor());
    const auto id = client.resolve(arguments.words[0]);
    if (!id) return report(context, id.error());
    const auto job = client.job(*id);
    if (!job) return report(context, job.error());
    const bool follows = arguments.has("follow");
    const int newest = std::max(1, job->job.attempts);
    Follower follower{client,
                      context,
                      *id,
                      {.attempt = static_cast<int>(*attempt > 0 ? *attempt : newest),
                       .task = static_cast<int>(*rank)}};
    if (job->job.attempts == 0 && !follows) {
        return report(context, {kFailed, job_title(job->job) + " has not started yet",
                                "berth why " + std::to_string(id->value)});
    }
    if (job->job.attempts > 0) {
        const auto text = follower.present_text();
        if (!text) return report(context, text.error());
        print(*tail >= 0 ? last_lines(*text, *tail) : std::string_view(*text));
    } else if (!model::is_final(job->job.state)) {
        const auto begun = client.wait_for_job(*id, {.until = "running", .since = 0});
        if (!begun && begun.error().exit_code != kDetached) return report(context, begun.error());
    }
    return follows ? follow_job(follower, follower.query.attempt) : int{kDone};
}

}  // namespace

extern const Verb logs_verb;

const Verb logs_verb{.intent = Intent::Look,
                     .name = "logs",
                     .aliases = "log",
                     .synopsis = "JOB [-f] [-n LINES] [--attempt N] [--rank N]",
                     .summary = "print the output of a job",
                     .flags = kLogsFlags,
                     .words_min = 1,
                     .words_max = 1,
                     .completes = Completes::Jobs,
                     .more = "  Ctrl-C stops following; the job continues.\n",
                     .run = show_log};

}  // namespace berth::cli
