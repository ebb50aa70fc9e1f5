// SPDX-License-Identifier: Apache-2.0
//
// berth timeline: what were all jobs in some time, and what comes next?
#include "base/percent.h"
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/command_line/output.h"
#include "cli/command_line/user.h"
#include "cli/timeline/spans_page.h"
#include "codec/api/timeline_json.h"
#include "codec/words/timestamp.h"

namespace berth::cli {
namespace {

constexpr Flag kTimelineFlags[] = {
    {0, "from", "TIME", "first moment: how long ago, or a date (default: 6h)"},
    {0, "to", "TIME", "last moment: how far ahead, or a date (default: 4h)"},
    {'p', "project", "PROJECT", "only jobs of this project", Completes::Projects},
    {'u', "user", "USER", "only jobs of this user; \"me\" is you"},
    {0, "node", "NODE", "only jobs that were on this node", Completes::Nodes},
    kPageOutputFlag,
    kJsonFlag,
};

Outcome<std::string> question(const Arguments& arguments) {
    std::string target = "spans?limit=1000";
    for (const char* flag : {"project", "user", "node"}) {
        if (!arguments.has(flag)) continue;
        const std::string text = flag == std::string_view("user")
                                     ? user_wanted(arguments)
                                     : std::string(arguments.text(flag));
        target += "&" + std::string(flag) + "=" + base::percent_encoded(text);
    }
    for (const auto& [flag, side] :
         {std::pair{"from", From::Past}, std::pair{"to", From::Future}}) {
        if (!arguments.has(flag)) continue;
        const auto moment = moment_in(arguments, flag, side);
        if (!moment) return tl::unexpected(moment.error());
        target +=
            "&" + std::string(flag) + "=" + base::percent_encoded(codec::format_time(*moment));
    }
    return target;
}

int show_timeline(Context& context, const Arguments& arguments) {
    const auto target = question(arguments);
    if (!target) return report(context, target.error());
    Client client(context);
    model::ClusterTimeline all;
    codec::NameTable names;
    std::string next;
    do {
        const auto body = client.get(*target + (next.empty() ? "" : "&after=" + next));
        if (!body) return report(context, body.error());
        if (wants_document(arguments)) print_document(arguments, *body);
        auto page = codec::parse_spans(*body, names);
        if (!page) return report(context, {kFailed, page.error().message, "berth version"});
        next = page->next;
        if (all.sentence.empty()) {
            all = std::move(*page);
        } else {
            for (auto& job : page->items) all.items.push_back(std::move(job));
        }
    } while (!next.empty());
    if (!wants_document(arguments)) print(spans_page(all, context.out));
    return kDone;
}

}  // namespace

extern const Verb timeline_verb;

const Verb timeline_verb{.intent = Intent::Look,
                         .name = "timeline",
                         .synopsis = "[--from TIME] [--to TIME] [-p PROJECT] [-o json]",
                         .summary = "show what all jobs were, and are expected to be",
                         .flags = kTimelineFlags,
                         .run = show_timeline};

}  // namespace berth::cli
