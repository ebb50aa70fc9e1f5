// SPDX-License-Identifier: Apache-2.0
//
// berth ls: which jobs are there?
#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "cli/arguments.h"
#include "cli/client.h"
#include "cli/context.h"
#include "cli/interrupt.h"
#include "cli/job_table.h"
#include "cli/job_text.h"
#include "cli/live_screen.h"
#include "cli/output.h"
#include "codec/words.h"

namespace berth::cli {
namespace {

constexpr int kFinishedShown = 20;

constexpr Flag kFlags[] = {
    {'a', "all", "", "finished jobs too, the newest 20"},
    {0, "finished", "N", "the newest N finished jobs too"},
    {'p', "project", "PROJECT", "only this project", Completes::Projects},
    {'u', "user", "USER", "only this user's; \"me\" is you"},
    {0, "state", "STATE", "only jobs in this state", Completes::Choices,
     "queued|starting|running|pausing|paused|cancelling|succeeded|failed|cancelled"},
    {'w', "watch", "", "keep showing, until Ctrl-C"},
    kListOutputFlag,
    kJsonFlag,
    kQuietFlag,
};

// As the server knows the caller at the other end of its socket.
std::string my_name() {
    const passwd* user = ::getpwuid(::geteuid());
    return user ? user->pw_name : std::to_string(::geteuid());
}

Outcome<JobQuery> query_of(const Arguments& arguments) {
    const auto finished = arguments.number("finished", arguments.has("all") ? kFinishedShown : 0);
    if (!finished) return tl::unexpected(finished.error());
    JobQuery query;
    query.foresees = true;
    query.finished = static_cast<int>(std::clamp<std::int64_t>(*finished, 0, 100'000));
    query.project = arguments.text("project");
    query.user = arguments.text("user");
    if (query.user == "me") query.user = my_name();
    query.state = arguments.text("state");
    const auto state = codec::from_word<model::JobState>(query.state);
    if (state && model::is_final(*state) && query.finished == 0) query.finished = kFinishedShown;
    return query;
}

void print_list(const Context& context, const JobList& list, Form form) {
    const Detail detail = form == Form::Wide || form == Form::Csv ? Detail::Wide : Detail::Usual;
    const Table table = job_table(list.jobs, list.names, clock_now(), context.out.glyphs(), detail);
    std::vector<std::string> ids;
    for (const auto& job : list.jobs) ids.push_back(std::to_string(job.id.value));
    print_table(context, table, form, ids);
    if (form == Form::Table && context.out.is_terminal) {
        const std::string sums = job_sums(list.jobs, context.out);
        print(context.out.paint(
                  Tone::Faint,
                  sums.empty() ? "no job runs or waits; finished ones: berth ls -a" : sums) +
              "\n");
    }
}

int watch(const Context& context, Client& client, const JobQuery& query) {
    LiveScreen screen(context);
    while (!screen.is_closed()) {
        const auto list = client.jobs(query);
        if (!list) {
            screen.close();
            return report(context, list.error());
        }
        const Style style = screen.style();
        const Table table =
            job_table(list->jobs, list->names, clock_now(), style.glyphs(), Detail::Usual);
        screen.show(table.render(style) + job_sums(list->jobs, style) + "\n");
        screen.wait(base::Duration{1000});
    }
    return kDone;
}

int list_jobs(Context& context, const Arguments& arguments) {
    const auto query = query_of(arguments);
    if (!query) return report(context, query.error());
    Client client(context);
    if (arguments.has("watch")) return watch(context, client, *query);
    const auto list = client.jobs(*query);
    if (!list) return report(context, list.error());
    const Form form = form_wanted(arguments, true);
    if (form != Form::Document) {
        print_list(context, *list, form);
    } else {
        for (const std::string& page : list->pages) print_document(arguments, page);
    }
    return kDone;
}

}  // namespace

extern const Verb list_verb;

const Verb list_verb{.intent = Intent::Look,
                     .name = "ls",
                     .aliases = "ps queue",
                     .synopsis = "[-a] [-p PROJECT] [-u me] [--state STATE] [-w]",
                     .summary = "the jobs: where they run, or why they wait",
                     .flags = kFlags,
                     .more =
                         "  berth ls -u me -a                  yours, finished ones too\n"
                         "  berth ls -q --state queued         numbers, for scripts\n"
                         "  berth ls -o json | jq .items[].id\n",
                     .run = list_jobs};

}  // namespace berth::cli
