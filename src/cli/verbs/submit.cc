// SPDX-License-Identifier: Apache-2.0
//
// berth submit: hand in a job and go on.
#include "cli/client/client.h"
#include "cli/client/job_wait.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/command_line/submission_flags.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/text_file.h"
#include "codec/words/words.h"
#include "model/job/task_groups.h"

namespace berth::cli {
namespace {

constexpr Flag kKeyFlag{.name = "key",
                        .value = "KEY",
                        .help = "idempotency key: submitting it again returns the same job",
                        .fields = "Idempotency-Key"};
constexpr auto kSubmitFlags = joined(
    kSubmissionFlags, std::to_array<Flag>({
                          {0, "wait", "", "wait for its end and return its exit code"},
                          {0, "timeout", "TIME", "limit of --wait (exit code 120, job continues)"},
                          {0, "dry-run", "", "show what would happen; submit nothing"},
                          kKeyFlag,
                          {0, "id-file", "FILE", "file for the job number", Completes::Files},
                          kPageOutputFlag,
                          kJsonFlag,
                          {'q', "quiet", "", "print only the job number"},
                      }));

// What was understood, defaults filled in: "8 H100 · project nlp · train · CPUs by GPU share".
std::string echo_line(const model::JobRecord& job, const Glyphs& glyphs) {
    const model::JobSpec& spec = job.spec;
    const std::string dot = " " + std::string(glyphs.dot) + " ";
    std::string gpus = gpus_text(job);
    if (spec.request.is_whole() && spec.gpu_model.empty()) gpus += gpus == "1" ? " GPU" : " GPUs";
    std::string text =
        gpus + dot + "project " + spec.project + dot + std::string(codec::word(spec.kind));
    if (spec.tasks_min > 1) text += dot + std::to_string(spec.tasks_min) + " tasks at once";
    const model::TopologyRequest& topology = spec.topology;
    if (!topology.groups.empty()) text += dot + "in groups " + model::format_task_groups(topology);
    text += dot +
            (spec.request.cpu ? base::format(*spec.request.cpu) + " CPUs" : std::string("CPUs")) +
            (spec.request.memory ? ", " + base::format(*spec.request.memory) : ", memory");
    if (!spec.request.cpu || !spec.request.memory) text += " by GPU share";
    return text + (spec.preemptible ? dot + "preemptible" : "");
}

// What would become of a submission, in words.
std::string outlook_text(const std::string& json) {
    const auto tree = codec::parse_json(json, "answer");
    codec::NameTable names;
    const auto plan = codec::parse_plan(json, names);
    if (!tree || !plan) return indented_json(json);
    const codec::Value* starts_now = tree->find("starts_now");
    const codec::Value* why = tree->find("text");
    std::string text = "would wait";
    if (starts_now && starts_now->text == "true") {
        text = "would start now";
    } else if (!plan->plan.pauses.empty() || !plan->plan.moves.empty()) {
        text = "would start when these have saved and left:";
        for (const model::Pause& pause : plan->plan.pauses) {
            text +=
                "\n  " + named(pause.job, names) + " (" + std::string(rule_word(pause.rule)) + ")";
        }
        for (const model::Move& move : plan->plan.moves) {
            text += "\n  " + named(move.job, names) + ", which moves to another place";
        }
    } else if (why && !why->text.empty()) {
        text += ": " + why->text;
    }
    return text + "\n";
}

int wait_for_end(const Context& context, const Arguments& arguments, model::JobId id) {
    const auto timeout = arguments.duration("timeout", base::Duration{0});
    if (!timeout) return report(context, timeout.error());
    Interrupt interrupt;
    Client client(context, base::Duration{20'000}, interrupt.descriptor());
    WaitGoal goal;
    goal.is_reached = [](const model::JobRecord& job) { return model::is_final(job.state); };
    if (timeout->count() > 0) goal.deadline = clock_now() + *timeout;
    const auto job = wait_for(client, id, goal);
    if (job) return answer_for(context, job->job);
    Failure failure = job.error();
    if (failure.exit_code == kDetached || failure.exit_code == kWaitLimit) {
        failure.cause = "job " + std::to_string(id.value) + " goes on";
        failure.hint = "berth logs -f " + std::to_string(id.value);
    }
    return report(context, failure);
}

int submit_job(Context& context, const Arguments& arguments) {
    const std::string file = arguments.words.empty() ? "" : arguments.words[0];
    if (file.empty() && !arguments.has_command) {
        return report(context,
                      {kBadUsage, "a job file or a command is missing",
                       "berth submit job.yaml   or   berth submit -g 2 -- python train.py"});
    }
    auto submission = submission_of(arguments, file);
    if (!submission) return report(context, submission.error());
    submission->key = arguments.text("key");
    Client client(context);
    if (arguments.has("dry-run")) {
        const auto answer = client.try_submission(*submission);
        if (!answer) return report(context, answer.error());
        if (wants_document(arguments)) {
            print_document(arguments, *answer);
        } else {
            print(outlook_text(*answer));
        }
        return kDone;
    }
    const auto job = client.submit(*submission);
    if (!job) return report(context, job.error());
    const model::JobId id = job->job.id;
    if (arguments.has("id-file")) {
        const auto written =
            write_text_file(arguments.text("id-file"), std::to_string(id.value) + "\n");
        if (!written) return report(context, Failure::from(written.error()));
    }
    if (wants_document(arguments)) {
        print_document(arguments, job->json);
    } else if (arguments.has("quiet")) {
        print(std::to_string(id.value) + "\n");
    } else {
        print("job " + std::to_string(id.value) + " submitted\n");
        print_notice(
            "  " +
            context.err.paint(Tone::Faint, printable(echo_line(job->job, context.err.glyphs()))) +
            "\n");
    }
    return arguments.has("wait") ? wait_for_end(context, arguments, id) : int{kDone};
}

}  // namespace

extern const Verb submit_verb;

const Verb submit_verb{.intent = Intent::Run,
                       .name = "submit",
                       .synopsis = "[FILE] [flags] [-- COMMAND...]",
                       .summary = "submit a job from a file or a command line",
                       .flags = kSubmitFlags,
                       .words_max = 1,
                       .completes = Completes::Files,
                       .tail = CommandTail::AfterDashes,
                       .more =
                           "  berth submit -g 8 --nodes 2 -n llama -- torchrun train.py\n"
                           "  berth submit job.yaml --wait              return its exit code\n"
                           "  berth submit job.yaml --key nightly-0412  can be repeated\n",
                       .run = submit_job};

}  // namespace berth::cli
