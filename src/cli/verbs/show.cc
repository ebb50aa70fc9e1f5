// SPDX-License-Identifier: Apache-2.0
//
// berth why, berth show: what is to know about one job?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/pages/job_pages.h"
#include "codec/api/timeline_json.h"

namespace berth::cli {
namespace {

constexpr Flag kShowFlags[] = {kAtFlag, kPageOutputFlag, kJsonFlag, kTimeFlag};
constexpr Flag kWhyFlags[] = {
    {0, "paused", "", "receipt of the last pause, also when the job runs again"},
    kAtFlag,
    kPageOutputFlag,
    kJsonFlag,
};

std::string job_path(model::JobId id, std::string_view rest = {}) {
    return "jobs/" + std::to_string(id.value) + std::string(rest);
}

// Prints the answer as it came.
int print_answer(const Context& context, const Arguments& arguments, Client& client,
                 const std::string& path) {
    const auto body = client.get(path);
    if (!body) return report(context, body.error());
    print_document(arguments, *body);
    return kDone;
}

struct TimelineAnswer {
    model::JobTimeline timeline;
    codec::NameTable names;
};

Outcome<TimelineAnswer> timeline_of(Client& client, model::JobId id) {
    const auto body = client.get(job_path(id, "/timeline"));
    if (!body) return tl::unexpected(body.error());
    TimelineAnswer answer;
    auto timeline = codec::parse_timeline(*body, answer.names);
    if (!timeline)
        return tl::unexpected(Failure{kFailed, timeline.error().message, "berth version"});
    answer.timeline = std::move(*timeline);
    return answer;
}

int show_job(Context& context, const Arguments& arguments) {
    Client client(context);
    int result = kDone;
    for (const std::string& word : arguments.words) {
        const auto id = client.resolve(word);
        if (!id) return report(context, id.error());
        if (wants_document(arguments)) {
            result = print_answer(context, arguments, client, job_path(*id, "?foresee=true"));
            if (result != kDone) return result;
            continue;
        }
        const auto job = client.foreseen_job(*id);
        if (!job) return report(context, job.error());
        const auto timeline = timeline_of(client, *id);
        if (!timeline) return report(context, timeline.error());
        const auto events = client.events(*id);
        if (!events) return report(context, events.error());
        const TimeForm form = arguments.text("time") == "iso" ? TimeForm::Iso : TimeForm::Ago;
        if (&word != &arguments.words.front()) print("\n");
        const Past past{timeline->timeline, timeline->names, events->events, events->names};
        print(show_page(job->job, job->names, past, shown_moment(context), form, context.out));
    }
    return result;
}

int explain_job(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto id = client.resolve(arguments.words[0]);
    if (!id) return report(context, id.error());
    const auto job = client.foreseen_job(*id);
    if (!job) return report(context, job.error());
    if (wants_document(arguments)) {
        // A job that waits for nothing has no verdict: its record says what it does instead.
        return print_answer(context, arguments, client,
                            job_path(*id, job->job.verdict ? "/why" : ""));
    }
    if (!arguments.has("paused")) {
        print(why_page(job->job, job->names, shown_moment(context), context.out));
        return kDone;
    }
    const std::string receipt =
        receipt_page(job->job, job->names, shown_moment(context), context.out);
    if (receipt.empty()) {
        return report(context, {kFailed, job_title(job->job) + " was never paused",
                                "berth why " + std::to_string(id->value)});
    }
    print(receipt);
    return kDone;
}

}  // namespace

extern const Verb show_verb;
extern const Verb why_verb;

const Verb show_verb{.intent = Intent::Look,
                     .name = "show",
                     .synopsis = "JOB... [--at TIME] [--time iso] [-o json]",
                     .summary = "show everything about a job, now and before",
                     .flags = kShowFlags,
                     .words_min = 1,
                     .words_max = -1,
                     .completes = Completes::Jobs,
                     .more = "  JOB is a number, a name, or PROJECT/NAME.\n",
                     .run = show_job};

const Verb why_verb{.intent = Intent::Look,
                    .name = "why",
                    .synopsis = "JOB [--paused] [--at TIME] [-o json]",
                    .summary = "explain why a job waits or was paused, in numbers",
                    .flags = kWhyFlags,
                    .words_min = 1,
                    .words_max = 1,
                    .completes = Completes::Jobs,
                    .run = explain_job};

}  // namespace berth::cli
