// SPDX-License-Identifier: Apache-2.0
//
// berth pause, resume, cancel, keep: what shall become of these jobs?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/pages/job_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr base::Duration kWaitPatience{10 * 60 * 1000};

constexpr Flag kStopFlags[] = {
    {0, "grace", "TIME", "time to save before the job is killed"},
    {0, "wait", "", "wait until its GPUs are free"},
    {'q', "quiet", "", "no output on success"},
};
constexpr Flag kResumeFlags[] = {
    {'q', "quiet", "", "no output on success"},
};
constexpr Flag kKeepFlags[] = {
    {0, "for", "TIME", "time it is kept, up to 30d (default: 2h)"},
    {'q', "quiet", "", "no output on success"},
};

bool holds_gpus(const model::JobRecord& job) {
    using model::JobState;
    const JobState state = job.state;
    return state == JobState::Starting || state == JobState::Running ||
           state == JobState::Pausing || state == JobState::Cancelling;
}

Outcome<JobAnswer> wait_until_free(Client& client, model::JobId id) {
    auto job = client.job(id);
    const base::TimePoint deadline = clock_now() + kWaitPatience;
    while (job && holds_gpus(job->job)) {
        if (clock_now() > deadline) return refuse(kWaitLimit, "the job still uses its GPUs");
        job = client.wait_for_job(
            id, {.until = "change", .since = 0, .at_most = base::Duration{5'000}});
    }
    return job;
}

// What is to be expected of a job that does not run.
std::string standing(const model::JobRecord& job) {
    if (job.state != model::JobState::Queued && job.state != model::JobState::Paused) return "";
    return job.held ? " until it is resumed" : " until GPUs are free";
}

// One sentence on what was done.
std::string outcome_of(const model::JobRecord& record, std::string_view verb) {
    std::string text = "job " + std::to_string(record.id.value);
    if (!record.spec.name.empty()) text += " " + printable(record.spec.name);
    if (verb == "keep") {
        const base::Duration time = record.kept_until.value_or(clock_now()) - clock_now();
        if (time <= base::Duration{0}) return text + " is no longer kept\n";
        return text + " is kept for " + age(time) + ", also while its GPUs idle\n";
    }
    return text + " is " + std::string(codec::word(record.state)) + standing(record) + "\n";
}

// `time`: the flag that says how long.
int steer(Context& context, const Arguments& arguments, std::string_view verb,
          const std::string& time = {}) {
    JobOrder order{std::string(verb), ""};
    if (!time.empty() && arguments.has(time)) {
        const auto given = arguments.duration(time, {});
        if (!given) return report(context, given.error());
        order.body = "{\"" + time + "\":" + base::format_thousandths(given->count()) + "}";
    }
    const bool waits = verb != "resume" && verb != "keep" && arguments.has("wait");
    Client client(context);
    int result = kDone;
    for (const std::string& word : arguments.words) {
        const auto id = client.resolve(word);
        if (!id) {
            result = report(context, id.error());
            continue;
        }
        if (const auto done = client.order_job(*id, order); !done) {
            result = report(context, done.error());
            continue;
        }
        const auto job = waits ? wait_until_free(client, *id) : client.job(*id);
        if (!job) {
            result = report(context, job.error());
        } else if (!arguments.has("quiet")) {
            print(outcome_of(job->job, verb));
        }
    }
    return result;
}

int pause_jobs(Context& context, const Arguments& arguments) {
    return steer(context, arguments, "pause", "grace");
}
int resume_jobs(Context& context, const Arguments& arguments) {
    return steer(context, arguments, "resume");
}
int cancel_jobs(Context& context, const Arguments& arguments) {
    return steer(context, arguments, "cancel", "grace");
}
int keep_jobs(Context& context, const Arguments& arguments) {
    return steer(context, arguments, "keep", "for");
}

}  // namespace

extern const Verb keep_verb;
extern const Verb pause_verb;
extern const Verb resume_verb;
extern const Verb cancel_verb;

const Verb keep_verb{.intent = Intent::Manage,
                     .name = "keep",
                     .synopsis = "JOB... [--for TIME]",
                     .summary = "keep a job for a while though its GPUs idle",
                     .flags = kKeepFlags,
                     .words_min = 1,
                     .words_max = -1,
                     .completes = Completes::Jobs,
                     .run = keep_jobs};

const Verb pause_verb{.intent = Intent::Manage,
                      .name = "pause",
                      .aliases = "suspend",
                      .synopsis = "JOB... [--grace TIME] [--wait]",
                      .summary = "let a job save and free its GPUs until you resume it",
                      .flags = kStopFlags,
                      .words_min = 1,
                      .words_max = -1,
                      .completes = Completes::Jobs,
                      .run = pause_jobs};

const Verb resume_verb{.intent = Intent::Manage,
                       .name = "resume",
                       .synopsis = "JOB...",
                       .summary = "put a paused job back into its old place in the queue",
                       .flags = kResumeFlags,
                       .words_min = 1,
                       .words_max = -1,
                       .completes = Completes::Jobs,
                       .run = resume_jobs};

const Verb cancel_verb{.intent = Intent::Manage,
                       .name = "cancel",
                       .synopsis = "JOB... [--grace TIME] [--wait]",
                       .summary = "end a job for good",
                       .flags = kStopFlags,
                       .words_min = 1,
                       .words_max = -1,
                       .completes = Completes::Jobs,
                       .run = cancel_jobs};

}  // namespace berth::cli
