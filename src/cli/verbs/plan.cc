// SPDX-License-Identifier: Apache-2.0
//
// berth plan: what would be decided in a cluster described in a file? No server, nothing happens.
#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/output.h"
#include "cli/pages/plan_report.h"
#include "cli/terminal/text_file.h"
#include "codec/files/state_file.h"
#include "lifecycle/describe.h"
#include "scheduling/decide.h"
#include "scheduling/explain/explain.h"

namespace berth::cli {
namespace {

constexpr Flag kPlanFlags[] = {
    {0, "state", "FILE", "cluster in YAML or JSON; \"-\" is standard input", Completes::Files},
    {0, "profile", "NAME", "berth or classic (default: the profile in the file)",
     Completes::Choices, "berth|classic"},
    {0, "export", "", "write the state of the server to FILE, or print it"},
    kPageOutputFlag,
    kJsonFlag,
};

int export_state(const Context& context, const Arguments& arguments) {
    Client client(context);
    const auto state = client.get("state");
    if (!state) return report(context, state.error());
    const std::string text = indented_json(*state);
    if (arguments.words.empty()) {
        print(text);
        return kDone;
    }
    const auto written = write_text_file(arguments.words[0], text);
    if (!written) return report(context, Failure::from(written.error()));
    print_notice("state of the server written to " + printable(arguments.words[0]) + "\n");
    return kDone;
}

// One line and nothing else, as compilers do: editors jump to it.
int refuse_input(const std::string& line) {
    print_notice(printable(line) + "\n");
    return kBadInput;
}

int show_plan(Context& context, const Arguments& arguments) {
    if (arguments.has("export")) return export_state(context, arguments);
    if (!arguments.words.empty()) {
        return report(context, {kBadUsage, "unexpected argument: " + arguments.words[0],
                                "berth plan --state FILE   or   berth plan --export FILE"});
    }
    const std::string file = arguments.text("state");
    if (file.empty()) {
        return report(context, {kBadUsage, "missing flag: --state FILE", "berth help plan"});
    }
    const auto text = read_text_file(file);
    if (!text) return refuse_input(text.error().message);
    const auto description = codec::parse_state(*text, file);
    if (!description) return refuse_input(description.error().message);
    auto state = lifecycle::from_description(*description);
    if (!state) return refuse_input(file + ": " + state.error().message);
    auto policy = model::policy_named(arguments.text("profile", description->profile));
    if (policy) policy = model::changed_policy(*policy, description->policy);
    if (!policy) return report(context, Failure::from(policy.error()));

    const model::TimePoint now = description->now;
    const model::Plan plan = scheduling::decide_on(state->cluster, *policy, now);
    const auto verdicts = scheduling::explain_all(state->cluster, *policy, plan, now);
    if (wants_document(arguments)) {
        print_document(arguments, plan_document(*state, plan, verdicts));
    } else {
        print(plan_report(*state, plan, verdicts, context.out));
    }
    return kDone;
}

}  // namespace

extern const Verb plan_verb;

const Verb plan_verb{
    .intent = Intent::Simulate,
    .name = "plan",
    .synopsis = "--state FILE [--profile P] | --export [FILE]",
    .summary = "decide once for a cluster described in a file",
    .flags = kPlanFlags,
    .words_max = 1,
    .completes = Completes::Files,
    .more =
        "  Shows every start, pause and reservation with its rule, and every verdict.\n"
        "  A file that cannot be read gives exit code 2 and one line: file,\n"
        "  line, field, what was wanted and what was found.\n",
    .run = show_plan};

}  // namespace berth::cli
