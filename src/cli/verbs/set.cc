// SPDX-License-Identifier: Apache-2.0
//
// berth set: what shall these jobs ask of their GPUs from now on?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/pages/job_text.h"
#include "codec/text/json_writer.h"

namespace berth::cli {
namespace {

// Each with the field that it sets.
constexpr Flag kSetFlags[] = {
    {.letter = 'g',
     .name = "gpus",
     .value = "REQUEST",
     .help = "GPUs per task: 0.5, 2x0.5, 12G, 0.5+12G",
     .fields = "gpus"},
    {.name = "share",
     .value = "PART",
     .help = "part of each GPU it gets whenever it has work: 0.5",
     .fields = "share"},
    {.name = "cap",
     .value = "PART",
     .help = "most of each GPU's time it ever gets: 0.8, none",
     .fields = "cap"},
    {.name = "gpu-memory",
     .value = "BYTES",
     .help = "memory of each GPU: 12G, 12G..20G, none",
     .fields = "gpu_memory"},
    {0, "requeue", "", "save, leave and wait, where it does not fit in place"},
    {'q', "quiet", "", "no output on success"},
};

std::string change_body(const Arguments& arguments) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    for (const std::string_view flag : {"gpus", "share", "cap", "gpu-memory"}) {
        if (!arguments.has(flag)) continue;
        const std::string given = arguments.text(flag);
        json.key(arguments.field(flag));
        const bool may_be_none = flag == "cap" || flag == "gpu-memory";
        if (may_be_none && given == "none") {
            json.null();
        } else {
            json.string(given);
        }
    }
    if (arguments.has("requeue")) json.key("requeue").raw("true");
    json.end_object();
    return body;
}

// "job 7 llama has 0.5 of a GPU, at most 0.8 of its time"
std::string result_of(const model::JobRecord& job) {
    std::string text = "job " + std::to_string(job.id.value);
    if (!job.spec.name.empty()) text += " " + printable(job.spec.name);
    if (job.next_request) {
        model::JobRecord then = job;
        then.spec.request = *job.next_request;
        return text + " saves, leaves its GPUs and waits for " + asks_text(then) + "\n";
    }
    return text + (job.tasks.empty() ? " asks for " : " has ") + asks_text(job) + "\n";
}

int set_jobs(Context& context, const Arguments& arguments) {
    const std::string body = change_body(arguments);
    if (body == "{}") {
        return report(context, {kBadUsage, "nothing to change",
                                "berth set " + arguments.words.front() + " -g 0.5"});
    }
    Client client(context);
    int result = kDone;
    for (const std::string& word : arguments.words) {
        const auto id = client.resolve(word);
        const auto job = id ? client.order_job(*id, {.body = body})
                            : Outcome<JobAnswer>(tl::unexpected(id.error()));
        if (!job) {
            Failure failure = job.error();
            failure.cause = arguments.in_flags(failure.cause);
            result = report(context, failure);
        } else if (!arguments.has("quiet")) {
            print(result_of(job->job));
        }
    }
    return result;
}

}  // namespace

extern const Verb set_verb;

const Verb set_verb{
    .intent = Intent::Manage,
    .name = "set",
    .synopsis = "JOB... [-g REQUEST] [--cap PART] ... [--requeue]",
    .summary = "change what a job asks of its GPUs, running or not",
    .flags = kSetFlags,
    .words_min = 1,
    .words_max = -1,
    .completes = Completes::Jobs,
    .more =
        "A running job keeps its GPUs and gets another part of each at once. Where\n"
        "that does not fit, the answer says what would.\n"
        "\n"
        "  berth set llama -g 0.5 --cap 0.8\n"
        "  berth set llama --gpu-memory 12G..20G\n",
    .run = set_jobs};

}  // namespace berth::cli
