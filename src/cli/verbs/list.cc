// SPDX-License-Identifier: Apache-2.0
//
// berth ls: which jobs are there?
#include <algorithm>
#include <charconv>
#include <climits>

#include "base/percent.h"
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/command_line/user.h"
#include "cli/pages/job_table.h"
#include "cli/pages/job_text.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/live_screen.h"
#include "codec/text/json.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr int kFinishedShown = 20;
constexpr int kFirstPage = 50;

constexpr Flag kLsFlags[] = {
    {'a', "all", "", "all jobs, and the newest 20 finished"},
    {0, "finished", "N", "also the newest N finished jobs"},
    {'p', "project", "PROJECT", "only jobs of this project", Completes::Projects},
    {'u', "user", "USER", "only jobs of this user; \"me\" is you"},
    {0, "state", "STATE", "only jobs in this state", Completes::Choices,
     "queued|starting|running|pausing|paused|cancelling|succeeded|failed|cancelled"},
    {'w', "watch", "", "update until Ctrl-C"},
    kAtFlag,
    kListOutputFlag,
    kJsonFlag,
    kQuietFlag,
};

Outcome<JobQuery> query_of(const Arguments& arguments) {
    const auto finished = arguments.number("finished", arguments.has("all") ? kFinishedShown : 0);
    if (!finished) return tl::unexpected(finished.error());
    JobQuery query;
    query.foresees = true;
    query.finished = static_cast<int>(std::clamp<std::int64_t>(*finished, 0, INT_MAX));
    query.project = arguments.text("project");
    query.user = user_wanted(arguments);
    query.state = arguments.text("state");
    const auto state = codec::from_word<model::JobState>(query.state);
    if (state && model::is_final(*state) && query.finished == 0) query.finished = kFinishedShown;
    return query;
}

// What is shown, and how many more there are.
struct Shown {
    JobList list;
    std::int64_t more = 0;
};

// Those that matter most to the one who asks.
Outcome<Shown> first_page(Client& client, const JobQuery& query) {
    std::string target = "jobs?order=importance&foresee=true&limit=" + std::to_string(kFirstPage) +
                         "&finished=" + std::to_string(query.finished);
    if (!query.state.empty()) target += "&state=" + base::percent_encoded(query.state);
    if (!query.project.empty()) target += "&project=" + base::percent_encoded(query.project);
    if (!query.user.empty()) target += "&user=" + base::percent_encoded(query.user);
    auto body = client.get(target);
    if (!body) return tl::unexpected(body.error());
    Shown shown;
    auto page = codec::parse_job_list(*body, shown.list.names);
    const auto tree = codec::parse_json(*body, "answer");
    if (!page || !tree) {
        return refuse(kServerUnreachable, "the server's list of jobs cannot be read",
                      "berth version; berth status");
    }
    shown.list.jobs = std::move(page->items);
    if (const codec::Value* more = tree->find("more")) {
        std::from_chars(more->text.data(), more->text.data() + more->text.size(), shown.more);
    }
    return shown;
}

// People read a page, unless they ask for all; what a program reads is whole.
Outcome<Shown> wanted_jobs(Client& client, const JobQuery& query, const Arguments& arguments) {
    const OutputForm form = form_wanted(arguments, true);
    const bool is_for_people = form == OutputForm::Table || form == OutputForm::Wide;
    if (is_for_people && !arguments.has("all")) return first_page(client, query);
    return client.jobs(query).map([](JobList list) { return Shown{std::move(list), 0}; });
}

// 99950 -> "and 99,950 more".
std::string left_out(std::int64_t more) {
    std::string text = std::to_string(more);
    for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
    return "and " + text + " more: berth ls --all";
}

void print_list(const Context& context, const Shown& shown, OutputForm form) {
    const JobList& list = shown.list;
    const Detail detail =
        form == OutputForm::Wide || form == OutputForm::Csv ? Detail::Wide : Detail::Usual;
    const Table table =
        job_table(list.jobs, list.names, shown_moment(context), context.out.glyphs(), detail);
    std::vector<std::string> ids;
    for (const auto& job : list.jobs) ids.push_back(std::to_string(job.id.value));
    print_table(context, table, form, ids);
    if (shown.more > 0) {
        print(context.out.paint(Tone::Faint, left_out(shown.more)) + "\n");
    } else if (form == OutputForm::Table && context.out.is_terminal) {
        const std::string sums = job_sums(list.jobs, context.out);
        print(context.out.paint(
                  Tone::Faint,
                  sums.empty() ? "no job runs or waits; finished jobs: berth ls -a" : sums) +
              "\n");
    }
}

int watch(const Context& context, Client& client, const JobQuery& query,
          const Arguments& arguments) {
    LiveScreen screen(context.out);
    while (!screen.is_closed()) {
        const auto shown = wanted_jobs(client, query, arguments);
        if (!shown) {
            screen.close();
            return report(context, shown.error());
        }
        const JobList* list = &shown->list;
        const Style style = screen.style();
        const Table table = job_table(list->jobs, list->names, shown_moment(context),
                                      style.glyphs(), Detail::Usual);
        const std::string below =
            shown->more > 0 ? left_out(shown->more) : job_sums(list->jobs, style);
        screen.show(table.render(style) + below + "\n");
        screen.wait(base::Duration{1000});
    }
    return kDone;
}

int list_jobs(Context& context, const Arguments& arguments) {
    const auto query = query_of(arguments);
    if (!query) return report(context, query.error());
    if (arguments.has("watch") && context.at) {
        return report(context, {kBadUsage, "--watch shows what is now; leave out --at", ""});
    }
    Client client(context);
    if (arguments.has("watch")) return watch(context, client, *query, arguments);
    const auto shown = wanted_jobs(client, *query, arguments);
    if (!shown) return report(context, shown.error());
    const OutputForm form = form_wanted(arguments, true);
    if (form != OutputForm::Document) {
        print_list(context, *shown, form);
    } else {
        for (const std::string& page : shown->list.pages) print_document(arguments, page);
    }
    return kDone;
}

}  // namespace

extern const Verb list_verb;

const Verb list_verb{.intent = Intent::Look,
                     .name = "ls",
                     .aliases = "ps queue",
                     .synopsis = "[-a] [-p PROJECT] [-u me] [--state STATE] [--at TIME] [-w]",
                     .summary = "list jobs: where they run, or why they wait",
                     .flags = kLsFlags,
                     .more =
                         "  berth ls -u me -a                  your jobs, also finished ones\n"
                         "  berth ls -q --state queued         numbers, for scripts\n"
                         "  berth ls -o json | jq .items[].id\n",
                     .run = list_jobs};

}  // namespace berth::cli
