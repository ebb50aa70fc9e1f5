// SPDX-License-Identifier: Apache-2.0
//
// berth kube why, ls, fairshare: what people ask of the cluster that their kubeconfig names, under
// their own rights.
#include <algorithm>
#include <string>
#include <vector>

#include "app/berth/kube.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/pages/job_table.h"
#include "cli/pages/job_text.h"
#include "codec/words/words.h"
#include "kube/people/asking.h"
#include "kube/people/documents.h"
#include "kube/people/share_page.h"
#include "kube/people/why_page.h"
#include "kube/people/work_table.h"

namespace berth::app {
namespace {

namespace people = kube::people;
using kube::install::Session;

constexpr cli::Flag kNamespaceFlag{.letter = 'n',
                                   .name = "namespace",
                                   .value = "NAMESPACE",
                                   .help = "namespace (default: that of the context)"};

// A user waits for the answer: a server that does not answer is reported soon.
constexpr base::Duration kPeoplePatience = std::chrono::seconds(10);
constexpr cli::Flag kPatienceFlag{
    .name = "timeout", .value = "TIME", .help = "time limit (default: 10s)"};

constexpr cli::Flag kPeopleWhyFlags[] = {kNamespaceFlag,  cli::kPageOutputFlag, cli::kJsonFlag,
                                         kKubeconfigFlag, kContextFlag,         kPatienceFlag};
constexpr cli::Flag kPeopleListFlags[] = {
    kNamespaceFlag,
    {.letter = 'A', .name = "all-namespaces", .help = "all namespaces"},
    {.letter = 'p', .name = "project", .value = "PROJECT", .help = "only jobs of this project"},
    {.letter = 'a', .name = "all", .help = "also finished jobs"},
    cli::kListOutputFlag,
    cli::kJsonFlag,
    cli::kQuietFlag,
    kKubeconfigFlag,
    kContextFlag,
    kPatienceFlag};
constexpr cli::Flag kPeopleShareFlags[] = {cli::kListOutputFlag, cli::kJsonFlag, cli::kQuietFlag,
                                           kKubeconfigFlag,      kContextFlag,   kPatienceFlag};

// A server that may be asked, and the namespace that is meant where none is said.
struct Site {
    std::unique_ptr<Session> session;
    std::string name_space;
};

cli::Outcome<Site> find_site(const cli::Arguments& arguments) {
    const auto patience = arguments.duration("timeout", kPeoplePatience);
    if (!patience) return tl::unexpected(patience.error());
    auto access = kubeconfig_access(arguments);
    if (!access) return tl::unexpected(cli::Failure::from(access.error()));
    auto session = Session::open(*access, *patience);
    if (!session) return tl::unexpected(cli::Failure::from(session.error()));
    return Site{std::move(*session), access->name_space};
}

// Of what an answer could do without.
void tell_unread(const cli::Context& context, const people::Read& read) {
    for (const std::string& what : read.unread) {
        cli::print_notice(context.err.paint(cli::Tone::Faint, "not read: " + cli::printable(what)) +
                          "\n");
    }
}

int run_why(cli::Context& context, const cli::Arguments& arguments) {
    auto asked = people::parse_asked(arguments.words);
    if (!asked) return cli::report(context, cli::Failure::from(asked.error(), "berth kube ls"));
    const auto site = find_site(arguments);
    if (!site) return cli::report(context, site.error());
    if (asked->name_space.empty())
        asked->name_space = arguments.text("namespace", site->name_space);
    people::Read read;
    const auto uid = people::read_one(*site->session, *asked, read);
    if (!uid) return cli::report(context, uid.error());
    const base::TimePoint now = cli::clock_now();
    const auto work = people::work_of(read, *uid, now);
    if (!work) return cli::report(context, {cli::kServerUnreachable, "it went away meanwhile", ""});
    std::string beneficiary;
    if (work->receipt && !work->receipt->beneficiary.empty())
        beneficiary =
            people::name_of_uid(*site->session, work->receipt->beneficiary, work->name_space);
    if (cli::wants_document(arguments)) {
        cli::print_document(arguments, people::work_json(*work, beneficiary));
        return cli::kDone;
    }
    cli::print(people::why_page(*work, beneficiary, now, context.out));
    if (work->job.spec.project.empty()) tell_unread(context, read);
    return cli::kDone;
}

void leave_out(std::vector<people::Work>& works, const cli::Arguments& arguments) {
    const std::string project = arguments.text("project");
    const bool has_all = arguments.has("all");
    std::erase_if(works, [&](const people::Work& work) {
        return (!project.empty() && work.job.spec.project != project) ||
               (!has_all && model::is_final(work.job.state));
    });
}

std::string sums_of(const std::vector<people::Work>& works, const cli::Style& style) {
    std::vector<codec::JobView> jobs;
    for (const people::Work& work : works) jobs.push_back(work.job);
    return cli::job_sums(jobs, style);
}

int run_list(cli::Context& context, const cli::Arguments& arguments) {
    const bool is_everywhere = arguments.has("all-namespaces");
    if (is_everywhere && arguments.has("namespace")) {
        return cli::report(context,
                           {cli::kBadUsage, "-n and -A: one of them", "berth help kube ls"});
    }
    const auto site = find_site(arguments);
    if (!site) return cli::report(context, site.error());
    const std::string name_space =
        is_everywhere ? "" : arguments.text("namespace", site->name_space);
    people::Read read;
    const cli::Success done = people::read_namespace(*site->session, name_space, read);
    if (!done) return cli::report(context, done.error());
    const base::TimePoint now = cli::clock_now();
    std::vector<people::Work> works = people::all_work(read, now);
    leave_out(works, arguments);
    const cli::OutputForm form = cli::form_wanted(arguments, true);
    if (form == cli::OutputForm::Document) {
        cli::print_document(arguments, people::work_list_json(works, read.unread));
        return cli::kDone;
    }
    const auto namespaces = is_everywhere ? people::Namespaces::Many : people::Namespaces::One;
    std::vector<std::string> names;
    for (const people::Work& work : works) names.push_back(people::name_in(work, namespaces));
    cli::print_table(context, people::work_table(works, namespaces, now), form, names);
    if (form == cli::OutputForm::Table && context.out.is_terminal) {
        const std::string sums = sums_of(works, context.out);
        const std::string none =
            "no job of Berth's runs or waits in " +
            (is_everywhere ? std::string("any namespace") : "namespace " + name_space);
        cli::print(context.out.paint(cli::Tone::Faint, sums.empty() ? none : sums) + "\n");
    }
    const bool has_unknown = std::ranges::any_of(
        works, [](const people::Work& work) { return work.job.spec.project.empty(); });
    if (has_unknown) tell_unread(context, read);
    return cli::kDone;
}

cli::Failure unknown_project(const people::Read& read, const std::string& name) {
    std::vector<std::string_view> names;
    for (const auto& project : read.projects) names.push_back(project.meta.name);
    return {cli::kNoSuchThing, "no project \"" + name + "\"" + codec::did_you_mean(name, names),
            "berth kube fairshare"};
}

int run_fair_share(cli::Context& context, const cli::Arguments& arguments) {
    const auto site = find_site(arguments);
    if (!site) return cli::report(context, site.error());
    people::Read read;
    const cli::Success done = people::read_shares(*site->session, read);
    if (!done) return cli::report(context, done.error());
    const std::string name = arguments.words.empty() ? "" : arguments.words.front();
    const people::Branch branch = people::branch_of(read, name);
    if (branch.rows.empty() && !name.empty())
        return cli::report(context, unknown_project(read, name));
    const cli::OutputForm form = cli::form_wanted(arguments, true);
    if (form == cli::OutputForm::Document) {
        cli::print_document(arguments, people::share_list_json(read, branch));
        return cli::kDone;
    }
    std::vector<std::string> names;
    for (const auto& row : branch.rows) names.push_back(row.project->meta.name);
    const bool is_for_people = form == cli::OutputForm::Table || form == cli::OutputForm::Wide;
    if (is_for_people && !name.empty()) {
        cli::print(people::entitlement_lines(read, *branch.rows.front().project, context.out) +
                   "\n");
    }
    cli::print_table(context, people::share_table(read, branch), form, names);
    return cli::kDone;
}

}  // namespace

const cli::Verb kube_why_verb{
    .intent = cli::Intent::System,
    .name = "kube why",
    .synopsis = "[job/|pod/]NAME [-n NAMESPACE] [-o json]",
    .summary = "explain why a Job or pod waits or was paused",
    .flags = kPeopleWhyFlags,
    .words_min = 1,
    .words_max = 2,
    .more =
        "  berth kube why job/train -n vision-dev\n"
        "  kubectl berth why job/train            where this program is called kubectl-berth\n",
    .run = run_why};

const cli::Verb kube_list_verb{.intent = cli::Intent::System,
                               .name = "kube ls",
                               .synopsis = "[-n NAMESPACE | -A] [-p PROJECT] [-a] [-o json]",
                               .summary = "list Jobs and pods: where they run, or why they wait",
                               .flags = kPeopleListFlags,
                               .run = run_list};

const cli::Verb kube_fair_share_verb{.intent = cli::Intent::System,
                                     .name = "kube fairshare",
                                     .synopsis = "[PROJECT] [-o json]",
                                     .summary = "show quota, fair share and use of the Projects",
                                     .flags = kPeopleShareFlags,
                                     .words_max = 1,
                                     .run = run_fair_share};

}  // namespace berth::app
