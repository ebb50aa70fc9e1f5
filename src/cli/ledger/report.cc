// SPDX-License-Identifier: Apache-2.0
//
// berth report, berth eff: where did the GPU time go, of all jobs and of one?
#include <algorithm>

#include "base/percent.h"
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/ledger/efficiency_page.h"
#include "cli/ledger/ledger_page.h"
#include "cli/terminal/time_text.h"
#include "codec/words/timestamp.h"

namespace berth::cli {
namespace {

constexpr Flag kReportFlags[] = {
    {0, "by", "WHAT", "project (default), user, job, gpu, pool or day", Completes::Choices,
     "project|user|job|gpu|pool|day"},
    {0, "since", "TIME", "days back as 30d, or a date such as 2026-11-01 (default: 7d)"},
    {0, "until", "DATE", "last day, which counts (default: today)"},
    {0, "csv", "", "every use of every row in GPU seconds, as CSV"},
    kPageOutputFlag,
    kJsonFlag,
};
constexpr Flag kEffFlags[] = {kPageOutputFlag, kJsonFlag};

std::string date_of(base::TimePoint time) { return codec::format_time(time).substr(0, 10); }

// The first day: a date as it is, or the day on which that time ago was, which counts as one.
Outcome<std::string> first_day(const std::string& since) {
    constexpr base::Duration kDay = std::chrono::days{1};
    if (codec::parse_time(since + "T00:00:00Z")) return since;
    const auto back = base::parse_duration(since);
    if (!back || *back < base::Duration{1}) {
        return refuse(kBadInput,
                      "--since: wanted days back such as 7d or a date such as "
                      "2026-11-01, found \"" +
                          since + "\"");
    }
    const base::Duration days = (*back + kDay - base::Duration{1}) / kDay * kDay;
    return date_of(clock_now() - (days - kDay));
}

int show_report(Context& context, const Arguments& arguments) {
    Client client(context);
    std::string target = "ledger?by=" + base::percent_encoded(arguments.text("by", "project"));
    // Without it the server counts back from the last day.
    if (arguments.has("since") || !arguments.has("until")) {
        const auto from = first_day(arguments.text("since", "7d"));
        if (!from) return report(context, from.error());
        target += "&from=" + base::percent_encoded(*from);
    }
    if (arguments.has("until")) target += "&to=" + base::percent_encoded(arguments.text("until"));
    const auto body = client.get(target + (arguments.has("csv") ? "&form=csv" : ""));
    if (!body) return report(context, body.error());
    if (arguments.has("csv")) {
        print(*body);
        return kDone;
    }
    if (wants_document(arguments)) {
        print_document(arguments, *body);
        return kDone;
    }
    const auto page = ledger_page(*body, context.out);
    if (!page) return report(context, Failure::from(page.error()));
    print(*page);
    return kDone;
}

int show_efficiency(Context& context, const Arguments& arguments) {
    Client client(context);
    const auto id = client.resolve(arguments.words[0]);
    if (!id) return report(context, id.error());
    const auto job = client.job(*id);
    if (!job) return report(context, job.error());
    if (wants_document(arguments)) {
        print_document(arguments, job->json);
    } else {
        print(efficiency_page(job->job, clock_now(), context.out));
    }
    return kDone;
}

}  // namespace

extern const Verb report_verb;
extern const Verb efficiency_verb;

const Verb report_verb{.intent = Intent::Look,
                       .name = "report",
                       .synopsis = "[--by WHAT] [--since TIME] [--until DATE] [--csv]",
                       .summary = "say where the GPU time went; it sums to capacity",
                       .flags = kReportFlags,
                       .run = show_report};

const Verb efficiency_verb{.intent = Intent::Look,
                           .name = "eff",
                           .synopsis = "JOB [-o json]",
                           .summary = "say what a job made of its GPUs, and advise for next time",
                           .flags = kEffFlags,
                           .words_min = 1,
                           .words_max = 1,
                           .completes = Completes::Jobs,
                           .run = show_efficiency};

}  // namespace berth::cli
