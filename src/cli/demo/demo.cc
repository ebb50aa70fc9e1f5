// SPDX-License-Identifier: Apache-2.0
//
// berth demo: the whole point in half a minute, with real processes. Susan alone uses eight
// simulated GPUs; Joe and Jemma return and get their two each at once; Susan's jobs are paused,
// go on later and lose nothing. What is promised is checked at the end (demo_facts.h).
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "cli/client/client.h"
#include "cli/client/web_link.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/demo/demo_bar.h"
#include "cli/demo/demo_facts.h"
#include "cli/demo/demo_server.h"
#include "cli/pages/job_pages.h"
#include "cli/terminal/interrupt.h"

namespace berth::cli {
namespace {

using model::JobState;

constexpr base::Duration kLook{250};
constexpr base::Duration kAlone{4'000};           // how long Susan has everything to herself
constexpr base::Duration kDemoPatience{120'000};      // for any one thing to happen
constexpr int kStepMs = 100;
constexpr int kSusanSteps = 160;
constexpr int kOwnerSteps = 60;
// What the pages show afterwards.
constexpr int kSusansAfterwards = 10;
constexpr int kStepsAfterwards = 36'000;  // an hour
constexpr const char* kProjects[] = {"susan", "joe", "jemma"};

class Demo {
  public:
    Demo(const Context& outer, DemoServer& server, Interrupt& interrupt)
        : outer_(outer),
          server_(server),
          interrupt_(interrupt),
          client_(server.context(), base::Duration{20'000}, interrupt.descriptor()),
          bar_(outer.out) {}

    // Whether every promise was kept.
    Outcome<bool> play() {
        if (const Success said = say_link("Watch it in a browser"); !said)
            return tl::unexpected(said.error());
        for (const auto act : {&Demo::susan_alone, &Demo::owners_return, &Demo::explain,
                               &Demo::owners_finish, &Demo::susan_finishes}) {
            if (const Success done = (this->*act)(); !done) return tl::unexpected(done.error());
        }
        return check_promises();
    }

    // The pages stay, with Susan at work again, until Ctrl-C.
    Success stay() {
        for (int number = 1; number <= kSusansAfterwards; ++number) {
            const auto job = submit("susan", number, kStepsAfterwards);
            if (!job) return tl::unexpected(job.error());
        }
        while (!interrupt_.has_come()) {
            if (const Success said = say_link("The same in a browser"); !said) return said;
            print("Enter prints a new link; Ctrl-C ends the demo and leaves nothing behind.\n");
            if (!wait_for_enter()) break;
        }
        return {};
    }

  private:
    using Condition = std::function<bool(const std::vector<codec::JobView>&)>;

    Success say_link(const std::string& why) {
        const auto link = web_link(client_, server_.context().address, false);
        if (!link) return tl::unexpected(link.error());
        print("\n" + why + "; it signs in once, within a minute:\n  " + *link + "\n");
        return {};
    }

    // False where there will be none: Ctrl-C, or the terminal is gone.
    bool wait_for_enter() {
        pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {interrupt_.descriptor(), POLLIN, 0}};
        while (::poll(ends, std::size(ends), -1) < 0 && errno == EINTR) {
        }
        char line[256];
        return !interrupt_.has_come() && ::read(STDIN_FILENO, line, sizeof line) > 0;
    }

    void tell(const std::string& text) {
        bar_.release();
        print("\n" + outer_.out.paint(Tone::Strong, text) + "\n");
    }

    // A command and what it prints, indented.
    void quote(const std::string& command, const std::string& page) {
        bar_.release();
        std::string text = "\n    " + outer_.out.paint(Tone::Faint, "$ " + command) + "\n";
        std::size_t start = 0;
        while (start < page.size()) {
            const std::size_t end = std::min(page.find('\n', start), page.size());
            text += "    " + page.substr(start, end - start) + "\n";
            start = end + 1;
        }
        print(text);
    }

    Style quoted_style() const {
        Style style = outer_.out;
        style.width = std::max(60, std::min(style.width, kTableWidth) - 4);
        return style;
    }

    Outcome<model::JobId> submit(const std::string& project, int number, int steps) {
        model::Submission submission;
        submission.spec.name = project + "-" + std::to_string(number);
        submission.spec.project = project;
        submission.launch.command = {server_.sibling("berth-trainer"),
                                     "--steps",
                                     std::to_string(steps),
                                     "--step-time",
                                     std::to_string(kStepMs) + "ms",
                                     "--print-every",
                                     "1"};
        submission.launch.workdir = server_.context().data_dir;
        const char* path = std::getenv("PATH");
        submission.launch.environment = {std::string("PATH=") + (path ? path : "/usr/bin:/bin")};
        const auto job = client_.submit(submission);
        if (!job) return tl::unexpected(job.error());
        return job->job.id;
    }

    // Shows the bar until `is_over` or a failure of the story.
    Success watch(const Condition& is_over, base::Duration at_most = kDemoPatience) {
        const base::TimePoint until = clock_now() + at_most;
        for (;;) {
            const auto nodes = client_.nodes();
            if (!nodes) return tl::unexpected(nodes.error());
            const auto list = client_.jobs({.finished = 100});
            if (!list) return tl::unexpected(list.error());
            bar_.show(*nodes, list->jobs);
            if (is_over(list->jobs)) return {};
            if (interrupt_.has_come()) return refuse(kDetached, "interrupted");
            if (clock_now() > until) {
                if (at_most < kDemoPatience) return {};
                return refuse(kFailed, "nothing happened for two minutes");
            }
            ::usleep(static_cast<useconds_t>(kLook.count() * 1000));
        }
    }

    static int count(const std::vector<codec::JobView>& jobs, std::string_view project,
                     JobState state) {
        return static_cast<int>(std::ranges::count_if(jobs, [&](const codec::JobView& job) {
            return (project.empty() || job.spec.project == project) && job.state == state;
        }));
    }

    Success susan_alone() {
        for (const char* name : kProjects) {
            if (const auto made = client_.change("projects", name, R"({"quota":2})"); !made)
                return tl::unexpected(made.error());
        }
        tell("1. Susan is alone. Two GPUs are hers; the other six idle, so she gets them too.");
        for (int number = 1; number <= 8; ++number) {
            const auto job = submit("susan", number, kSusanSteps);
            if (!job) return tl::unexpected(job.error());
            susans_.push_back(*job);
        }
        const Success full =
            watch([](const auto& jobs) { return count(jobs, "susan", JobState::Running) == 8; });
        if (!full) return full;
        return watch([](const auto&) { return false; }, kAlone);
    }

    Success owners_return() {
        tell("2. Joe and Jemma come back and submit two jobs each. All eight GPUs are taken.");
        for (const char* owner : {"joe", "jemma"}) {
            for (int number = 1; number <= 2; ++number) {
                const auto job = submit(owner, number, kOwnerSteps);
                if (!job) return tl::unexpected(job.error());
                owners_.push_back(*job);
            }
        }
        // Waits only as long as Susan's jobs take to save, so it may be over before we look.
        for (const model::JobId id : owners_) {
            const auto job = client_.job(id);
            if (!job) return tl::unexpected(job.error());
            if (!job->job.verdict) continue;
            quote("berth why " + job->job.spec.name,
                  why_page(job->job, job->names, clock_now(), quoted_style()));
            print("\n");
            break;
        }
        return watch([](const auto& jobs) {
            return count(jobs, "joe", JobState::Running) == 2 &&
                   count(jobs, "jemma", JobState::Running) == 2;
        });
    }

    Success explain() {
        tell("3. They run. Four of Susan's jobs were asked to save, and wait paused:");
        const auto list = client_.jobs({.state = "paused", .project = "susan"});
        if (!list) return tl::unexpected(list.error());
        if (list->jobs.empty()) return refuse(kFailed, "none of Susan's jobs is paused");
        const auto job = client_.job(list->jobs.back().id);
        if (!job) return tl::unexpected(job.error());
        quote("berth why " + job->job.spec.name,
              why_page(job->job, job->names, clock_now(), quoted_style()));
        print("\n");
        return {};
    }

    Success owners_finish() {
        return watch([](const auto& jobs) {
            return count(jobs, "joe", JobState::Succeeded) == 2 &&
                   count(jobs, "jemma", JobState::Succeeded) == 2;
        });
    }

    Success susan_finishes() {
        tell("4. Joe and Jemma are done. Susan's paused jobs go on by themselves.");
        const Success over = watch([](const auto& jobs) {
            return std::ranges::all_of(jobs,
                                       [](const auto& j) { return model::is_final(j.state); });
        });
        bar_.release();
        return over;
    }

    Outcome<std::vector<std::string>> logs_of(model::JobId id, int attempts) {
        std::vector<std::string> logs;
        for (int attempt = 1; attempt <= attempts; ++attempt) {
            LogQuery query{.attempt = attempt};
            std::string log;
            for (bool is_end = false; !is_end;) {
                const auto piece = client_.log(id, query);
                if (!piece) return tl::unexpected(piece.error());
                log += piece->bytes;
                is_end = piece->is_end || piece->next_offset == query.offset;
                query.offset = piece->next_offset;
            }
            logs.push_back(std::move(log));
        }
        return logs;
    }

    Outcome<bool> check_promises() {
        const auto list = client_.events(model::JobId{});
        if (!list) return tl::unexpected(list.error());
        const DemoFacts facts = facts_of(list->events);
        std::map<model::JobId, StepFacts> steps;
        for (const model::JobId id : susans_) {
            const auto logs = logs_of(id, facts.jobs.at(id).attempts);
            if (!logs) return tl::unexpected(logs.error());
            steps[id] = steps_in(*logs);
        }
        const DemoStory story{.borrower = "susan",
                              .owners = {"joe", "jemma"},
                              .quota = base::gpus(2),
                              .gpus = base::gpus(8),
                              .steps = kSusanSteps};
        tell("What was promised, checked against the event log and what the jobs printed:");
        bool all_kept = true;
        const Style& style = outer_.out;
        for (const Promise& promise : judge(story, facts, steps)) {
            const std::string mark = promise.is_kept ? style.paint(Tone::Good, style.glyphs().check)
                                                     : style.paint(Tone::Bad, style.glyphs().cross);
            print("  " + mark + " " + promise.text + "\n");
            all_kept = all_kept && promise.is_kept;
        }
        return all_kept;
    }

    const Context& outer_;
    DemoServer& server_;
    Interrupt& interrupt_;
    Client client_;
    DemoBar bar_;
    std::vector<model::JobId> susans_;
    std::vector<model::JobId> owners_;
};

void say_end(bool is_kept, base::Duration took) {
    print("\n" + std::string(is_kept ? "All promises kept" : "A promise was broken") + ", in " +
          age(took) + ". Your own: berth up; berth run -g 1 -- COMMAND\n");
}

int run_demo(Context& context, const Arguments&) {
    const base::TimePoint begun = clock_now();
    Interrupt interrupt;
    // Whose terminal is closed, or whose reader has gone, ends as by Ctrl-C.
    ::signal(SIGHUP, [](int) { ::raise(SIGTERM); });
    ::signal(SIGPIPE, SIG_IGN);
    print(context.out.paint(Tone::Strong, "Berth demo") +
          ": 8 simulated GPUs, 3 projects with 2 GPUs guaranteed to each.\n"
          "The jobs are real processes that train a small model and save before a pause.\n"
          "It takes about half a minute; Ctrl-C ends it and leaves nothing behind.\n");
    auto server = DemoServer::start(context, "sim:8x80G");
    if (!server) return report(context, server.error());
    std::optional<Demo> demo(std::in_place, context, **server, interrupt);
    const Outcome<bool> kept = demo->play();
    if (kept) say_end(*kept, clock_now() - begun);
    const bool has_viewer = ::isatty(STDIN_FILENO) != 0 && context.out.is_terminal;
    const Success stayed = kept && *kept && has_viewer ? demo->stay() : Success{};
    demo.reset();
    if (const Success ended = (*server)->end(); !ended) return report(context, ended.error());
    if (!stayed) return report(context, stayed.error());
    if (kept && has_viewer) print_notice("\nberth: demo ended, nothing is left behind\n");
    if (!kept && (interrupt.has_come() || kept.error().exit_code == kDetached)) {
        print_notice("\nberth: demo ended, nothing is left behind\n");
        return kFailed;
    }
    if (!kept) return report(context, kept.error());
    return *kept ? kDone : kFailed;
}

}  // namespace

extern const Verb demo_verb;

const Verb demo_verb{.intent = Intent::Run,
                     .name = "demo",
                     .summary = "play the demo on simulated GPUs, in half a minute",
                     .run = run_demo};

}  // namespace berth::cli
