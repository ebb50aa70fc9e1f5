// SPDX-License-Identifier: Apache-2.0
//
// berth run: run a command on GPUs as if it ran here. Waits in the queue and says why, then
// connects terminal, input, output, signals and exit code with those of the process. When the job
// is paused, it waits for the next attempt.
#include <unistd.h>

#include "attach/attach.h"
#include "cli/client/client.h"
#include "cli/client/job_wait.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/submission_flags.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/interrupt.h"

namespace berth::cli {
namespace {

constexpr auto kRunFlags =
    joined(kSubmissionFlags,
           std::to_array<Flag>({
               {'d', "detach", "", "print the job number and return at once"},
               {0, "max-wait", "TIME", "give up after this time in the queue (exit code 111)"},
           }));

constexpr base::Duration kRunRefresh{1000};
constexpr base::Duration kWorthTelling{500};  // a shorter wait is not mentioned in a log

// What stands on standard error while the job waits: one line that is rewritten on a terminal,
// said once elsewhere.
class WaitLine {
  public:
    explicit WaitLine(const Style& style) : style_(style) {}
    ~WaitLine() { clear(); }
    WaitLine(const WaitLine&) = delete;
    WaitLine& operator=(const WaitLine&) = delete;

    void show(const JobAnswer& answer) {
        const codec::JobView& job = answer.job;
        std::string text = "job " + std::to_string(job.id.value) + " ";
        const bool is_paused = job.state == model::JobState::Paused;
        text += is_paused ? "is paused" : "waits";
        text += " " + run_or_wait(job, clock_now());
        const std::string why = progress_text(job, answer.names, clock_now(), style_.glyphs());
        if (!why.empty()) text += ": " + why;
        text = printable(text);
        if (!style_.is_terminal) {
            if (is_shown_ || clock_now() - begun_ < kWorthTelling) return;
            print_notice("berth: " + text + "\n");
        } else {
            const int room = style_.width - 8;
            print_notice("\r\x1b[K" + style_.paint(Tone::Warning, "berth:") + " " +
                         truncated(text, room, style_.glyphs().ellipsis));
        }
        is_shown_ = true;
    }

    void clear() {
        if (is_shown_ && style_.is_terminal) print_notice("\r\x1b[K");
        is_shown_ = false;
    }

  private:
    const Style& style_;
    base::TimePoint begun_ = clock_now();
    bool is_shown_ = false;
};

bool may_attach(const model::JobRecord& job) {
    return job.state == model::JobState::Starting || job.state == model::JobState::Running;
}

class Run {
  public:
    Run(const Context& context, model::JobId id, base::TimePoint give_up, bool is_terminal)
        : context_(context), id_(id), give_up_(give_up), is_terminal_(is_terminal) {}

    int follow() {
        for (;;) {
            const auto job = wait_for_start();
            if (!job) return wait_failed(job.error());
            if (model::is_final(job->job.state)) return answer_for(context_, job->job);
            last_attempt_ = job->job.attempts;
            const auto code = stand_in();
            if (code) return *code;
            give_up_ = base::TimePoint::max();
        }
    }

  private:
    std::string number() const { return std::to_string(id_.value); }

    // Until an attempt that was not attached yet has its processes, or the job has ended.
    Outcome<JobAnswer> wait_for_start() {
        Interrupt interrupt;
        Client client(context_, base::Duration{20'000}, interrupt.descriptor());
        WaitLine line(context_.err);
        WaitGoal goal;
        goal.until = "running";
        goal.deadline = give_up_;
        goal.poll = kRunRefresh;
        goal.is_reached = [this](const model::JobRecord& job) {
            return model::is_final(job.state) || (may_attach(job) && job.attempts > last_attempt_);
        };
        goal.on_news = [&](const JobAnswer& answer) {
            if (!goal.is_reached(answer.job)) line.show(answer);
        };
        return wait_for(client, id_, goal);
    }

    int wait_failed(const Failure& failure) {
        const bool by_user = failure.exit_code == kDetached;
        if (!by_user && failure.exit_code != kWaitLimit) return report(context_, failure);
        Client client(context_);
        if (const auto done = client.order_job(id_, {"cancel"}); !done) {
            return report(context_, done.error());
        }
        print_notice("berth: job " + number() +
                     (by_user ? " cancelled\n" : " did not start in time; cancelled\n"));
        return by_user ? kJobCancelled : kGaveUpInQueue;
    }

    // Attaches to the attempt. None when the job was paused or lost and waits again.
    std::optional<int> stand_in() {
        Client client(context_);
        const auto place = client.attach(id_);
        if (!place) {  // it ended or was paused between two questions
            const bool is_past =
                place.error().exit_code == kFailed || place.error().exit_code == kNoSuchThing;
            if (!is_past) return report(context_, place.error());
        } else if (const auto ended = attach_to(place->socket)) {
            return ended;
        }
        return settle(client);
    }

    // An exit code when this is over: the terminal went away, or no server can tell how it ended.
    std::optional<int> attach_to(const std::string& socket) {
        attach::AttachOptions options;
        options.terminal = is_terminal_;
        options.on_insistence = [this] {
            Client client(context_);
            [[maybe_unused]] const auto asked = client.order_job(id_, {"cancel"});
        };
        const auto attached = attach::attach(socket, options);
        if (!attached) {
            // Gone before we came: the server knows how it ended.
            const bool is_gone = attached.error().code == base::ErrorCode::Unavailable;
            if (!is_gone) return report(context_, Failure::from(attached.error()));
            return std::nullopt;
        }
        if (attached->end == attach::AttachEnd::Detached) return kDetached;
        last_exit_ = attached->end == attach::AttachEnd::Exited ? std::optional(attached->exit)
                                                                : std::nullopt;
        return std::nullopt;
    }

    // What the server knows once the processes are gone.
    std::optional<int> settle(Client& client) {
        WaitGoal goal;
        goal.until = "change";
        goal.poll = kRunRefresh;
        goal.is_reached = [this](const model::JobRecord& job) {
            return !may_attach(job) || job.attempts > last_attempt_;
        };
        const auto job = wait_for(client, id_, goal);
        if (job && model::is_final(job->job.state)) return answer_for(context_, job->job);
        if (job) return std::nullopt;
        // Without a server the supervisor's word is the last one, unless it was only a pause.
        const bool is_known = last_exit_ && !last_exit_->stop_asked;
        return is_known ? exit_code_of_job(last_exit_->exit_code) : report(context_, job.error());
    }

    const Context& context_;
    model::JobId id_;
    base::TimePoint give_up_;
    bool is_terminal_;
    int last_attempt_ = 0;
    std::optional<supervision::ExitReport> last_exit_;
};

int run_command(Context& context, const Arguments& arguments) {
    if (arguments.command.empty()) {
        return report(
            context, {kBadUsage, "missing argument: COMMAND", "berth run -g 2 -- python train.py"});
    }
    const auto max_wait = arguments.duration("max-wait", base::Duration{0});
    if (!max_wait) return report(context, max_wait.error());
    auto submission = submission_of(arguments, "");
    if (!submission) return report(context, submission.error());
    const bool detaches = arguments.has("detach");
    submission->launch.attached = !detaches;
    submission->launch.terminal =
        !detaches && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1;
    Client client(context);
    const auto job = client.submit(*submission);
    if (!job) return report(context, job.error());
    if (detaches) {
        print(std::to_string(job->job.id.value) + "\n");
        return kDone;
    }
    const base::TimePoint give_up =
        max_wait->count() > 0 ? clock_now() + *max_wait : base::TimePoint::max();
    return Run(context, job->job.id, give_up, submission->launch.terminal).follow();
}

}  // namespace

extern const Verb run_verb;

const Verb run_verb{
    .intent = Intent::Run,
    .name = "run",
    .synopsis = "[flags] [--] COMMAND...",
    .summary = "run a command on GPUs as if it ran here",
    .flags = kRunFlags,
    .tail = CommandTail::FromFirstWord,
    .more =
        "  berth run -g 2 -p vision -- python train.py\n"
        "  berth run -g 0.5 -- python -i             half of one GPU\n\n"
        "  Terminal, input, output, Ctrl-C and exit code are those of the command. While\n"
        "  the job waits, one line says why, and Ctrl-C cancels it. While it runs, a\n"
        "  second Ctrl-C within a second ends it. When the job is paused for another one,\n"
        "  berth run waits for its next attempt. Codes above 99: berth help exit-codes.\n",
    .run = run_command};

}  // namespace berth::cli
