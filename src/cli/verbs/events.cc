// SPDX-License-Identifier: Apache-2.0
//
// berth events: what happened?
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/pages/cluster_pages.h"
#include "cli/pages/event_text.h"
#include "cli/terminal/interrupt.h"

namespace berth::cli {
namespace {

constexpr base::Duration kEventsWait{30'000};
constexpr std::int64_t kLatest = 50;

constexpr Flag kEventFlags[] = {
    {'f', "follow", "", "print new events until Ctrl-C"},
    {0, "job", "JOB", "only events of this job", Completes::Jobs},
    {0, "after", "NUMBER", "events after this number (default: the latest 50)"},
    kPageOutputFlag,
    kJsonFlag,
    kTimeFlag,
};

struct EventShow {
    const Context& context;
    const Arguments& arguments;
    TimeForm form;

    void operator()(const EventList& list) const {
        std::string text;
        const base::TimePoint now = clock_now();
        for (const model::Event& event : list.events) {
            if (!wants_document(arguments)) {
                text += event_line(event, list.names, now, form, context.out);
            } else if (arguments.text("output") == "yaml") {
                print_document(arguments, codec::event_json(event, list.names.source()));
            } else {
                text += codec::event_json(event, list.names.source()) + "\n";
            }
        }
        print(text);
    }
};

int show_events(Context& context, const Arguments& arguments) {
    Interrupt interrupt;
    Client client(context, base::Duration{20'000}, interrupt.descriptor());
    model::JobId job;
    if (arguments.has("job")) {
        const auto id = client.resolve(arguments.text("job"));
        if (!id) return report(context, id.error());
        job = *id;
    }
    const auto given = arguments.number("after", -1);
    if (!given) return report(context, given.error());
    std::int64_t after = *given;
    if (after < 0) {
        const auto status = client.status();
        if (!status) return report(context, status.error());
        after = job.is_valid() ? 0 : std::max<std::int64_t>(0, status->sequence - kLatest);
    }
    const bool follows = arguments.has("follow");
    const EventShow show{context, arguments,
                         arguments.text("time") == "iso" ? TimeForm::Iso : TimeForm::Ago};
    EventList list;
    list.next_after = after;
    for (;;) {
        const bool waits = follows && !list.has_more;
        const Success more = client.more_events(list, job, waits ? kEventsWait : base::Duration{0});
        if (!more) {
            const bool is_over = more.error().exit_code == kDetached;
            return is_over ? int{kDone} : report(context, more.error());
        }
        show(list);
        list.events.clear();
        if (!follows && !list.has_more) return kDone;
    }
}

}  // namespace

extern const Verb events_verb;

const Verb events_verb{.intent = Intent::Look,
                       .name = "events",
                       .synopsis = "[-f] [--job JOB] [--after NUMBER] [--json]",
                       .summary = "list events, and which user or rule caused them",
                       .flags = kEventFlags,
                       .more = "  --json prints one event a line.\n",
                       .run = show_events};

}  // namespace berth::cli
