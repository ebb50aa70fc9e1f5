// SPDX-License-Identifier: Apache-2.0
//
// berth whatif: what would be decided if? Asked of the server, or of a cluster described in a file;
// with --days, what the last days would have been. Nothing is changed.
#include "foresight/what_if.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <thread>

#include "cli/client/client.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/nodes_text.h"
#include "cli/command_line/output.h"
#include "cli/command_line/submission_flags.h"
#include "cli/terminal/interrupt.h"
#include "cli/terminal/text_file.h"
#include "cli/what_if/replay_page.h"
#include "cli/what_if/what_if_page.h"
#include "codec/api/replay_json.h"
#include "codec/files/state_file.h"
#include "codec/words/words.h"
#include "lifecycle/describe.h"
#include "scenario/render.h"

namespace berth::cli {
namespace {

using model::Hypothesis;
using model::Supposition;

constexpr auto kWhatIfFlags =
    joined(joined(std::to_array<Flag>({
                      {0, "state", "FILE", "cluster described in a file, instead of the server's",
                       Completes::Files},
                      {0, "profile", "NAME", "profile for --state: berth (default) or classic",
                       Completes::Choices, "berth|classic"},
                      {0, "down", "", "the drained node fails: its jobs start again"},
                      {0, "days", "DAYS", "simulate the last days with and without the change"},
                  }),
                  kSubmissionFlags),
           std::to_array<Flag>({
               kPageOutputFlag,
               kJsonFlag,
           }));

std::optional<Supposition> right_named(std::string_view word) {
    if (word == "quota") return Supposition::Quota;
    if (word == "limit") return Supposition::Limit;
    if (word == "weight") return Supposition::Weight;
    return {};
}

// The words behind what is supposed.
std::span<const std::string> objects(const Arguments& arguments) {
    return std::span(arguments.words).subspan(1);
}

Outcome<std::string> answer_of_file(const std::string& file, const Arguments& arguments,
                                    std::span<const Hypothesis> suppose) {
    const auto text = read_text_file(file);
    if (!text) return refuse(kBadInput, text.error().message);
    const auto description = codec::parse_state(*text, file);
    if (!description) return refuse(kBadInput, description.error().message);
    const auto state = lifecycle::from_description(*description);
    if (!state) return refuse(kBadInput, file + ": " + state.error().message);
    const auto policy = model::policy_named(arguments.text("profile", "berth"));
    if (!policy) return tl::unexpected(Failure::from(policy.error()));
    const auto compared = foresight::what_if(*state, suppose, *policy, description->now);
    if (!compared) return tl::unexpected(Failure::from(compared.error()));
    const lifecycle::State& then = compared->then;
    const codec::NameSource names{
        .node = [&](model::NodeId node) { return then.cluster.description(node).name; },
        .job = [&](model::JobId job) { return scenario::name_of(then, job); }};
    return codec::what_if_json(compared->what_if, names);
}

// The answer as the server gives it, once it is there.
Outcome<std::string> replayed(Context& context, const model::ReplayRequest& request) {
    constexpr std::string_view kAddress = "what-if/replay";
    constexpr std::chrono::milliseconds kPause{200};
    Client client(context);
    const Interrupt interrupt;
    auto body = client.post(std::string(kAddress), codec::replay_request_json(request));
    while (body) {
        const auto replay = codec::parse_what_if_replay(*body);
        if (!replay) return tl::unexpected(Failure::from(replay.error()));
        if (interrupt.has_come() && !model::is_final(replay->state)) {
            // Else it would keep others from asking.
            (void)client.remove(kAddress, std::to_string(replay->id));
            return refuse(kFailed, "interrupted; the replay was ended");
        }
        if (replay->state == model::ReplayState::Done) break;
        if (replay->state == model::ReplayState::Cancelled)
            return refuse(kFailed, "a user ended this replay");
        if (model::is_final(replay->state)) return refuse(kFailed, replay->problem);
        std::this_thread::sleep_for(kPause);
        body = client.get(std::string(kAddress) + "/" + std::to_string(replay->id));
    }
    return body;
}

int replay_and_show(Context& context, const Arguments& arguments, model::ReplayRequest request,
                    const std::string& title) {
    const std::string days = arguments.text("days");
    const auto [end, error] = std::from_chars(days.data(), days.data() + days.size(), request.days);
    if (error != std::errc() || end != days.data() + days.size()) {
        return report(context,
                      {kBadUsage, "--days: wanted a number of days, found \"" + days + "\"",
                       "berth help whatif"});
    }
    if (arguments.has("state")) {
        return report(context, {kBadUsage,
                                "--days asks a server, which has a past; --state FILE "
                                "has none",
                                "berth help whatif"});
    }
    const auto answer = replayed(context, request);
    if (!answer) return report(context, answer.error());
    if (wants_document(arguments)) {
        print_document(arguments, *answer);
        return kDone;
    }
    const auto replay = codec::parse_what_if_replay(*answer);
    if (!replay) return report(context, Failure::from(replay.error()));
    const std::string in_days = request.days == 1 ? "day" : days + " days";
    const model::Duration length = replay->to - replay->from;
    const bool is_young = length < std::chrono::hours(24) * request.days - std::chrono::minutes(1);
    const std::string known = base::format(std::chrono::round<std::chrono::seconds>(length));
    const std::string of_log = is_young ? ", of which the log has " + known : "";
    print(replay_page(*replay, title + ", in the last " + in_days + of_log, context.out));
    return kDone;
}

int suppose_and_show(Context& context, const Arguments& arguments,
                     const std::vector<Hypothesis>& suppose, const std::string& title) {
    if (arguments.has("days")) {
        return replay_and_show(context, arguments, {.suppose = suppose, .policy = {}}, title);
    }
    Outcome<std::string> answer;
    if (arguments.has("state")) {
        answer = answer_of_file(arguments.text("state"), arguments, suppose);
    } else {
        answer = Client(context).what_if(suppose);
    }
    if (!answer) return report(context, answer.error());
    if (wants_document(arguments)) {
        print_document(arguments, *answer);
        return kDone;
    }
    codec::NameTable names;
    const auto what_if = codec::parse_what_if(*answer, names);
    if (!what_if) return report(context, Failure::from(what_if.error()));
    print(what_if_page(*what_if, names, title, context.out));
    return kDone;
}

// "vision=6"; "none" is no limit, and no quota of its own.
Outcome<Hypothesis> read_right(const std::string& word, Supposition what, const std::string& pool) {
    const std::size_t equals = word.find('=');
    const std::string given = equals == std::string::npos ? "" : word.substr(equals + 1);
    const bool may_be_none = what != Supposition::Weight;
    const auto amount = may_be_none && given == "none"
                            ? base::Result<std::int64_t>(model::kUnlimited.value)
                            : base::parse_thousandths(given);
    if (equals == 0 || !amount) {
        return bad_usage("wanted PROJECT=" + std::string(may_be_none ? "GPUS" : "NUMBER") +
                             " such as vision=6, found \"" + word + "\"",
                         "berth help whatif");
    }
    Hypothesis hypothesis{.what = what, .name = word.substr(0, equals), .pool = pool};
    if (what == Supposition::Weight) {
        hypothesis.weight_thousandths = *amount;
    } else {
        hypothesis.gpus = model::MilliGpu{*amount};
    }
    return hypothesis;
}

// "quota vision=6 nlp=2 weight nlp=2": each word counts for the right that was last named.
int suppose_rights(Context& context, const Arguments& arguments) {
    std::vector<Hypothesis> suppose;
    std::string title = "with the";
    const std::string pool = arguments.text("pool");
    Supposition what = Supposition::Quota;
    for (const std::string& word : arguments.words) {
        title += " " + word;
        if (const auto right = right_named(word)) {
            what = *right;
            continue;
        }
        auto hypothesis = read_right(word, what, pool);
        if (!hypothesis) return report(context, hypothesis.error());
        suppose.push_back(std::move(*hypothesis));
    }
    if (!pool.empty()) title += " in pool " + pool;
    return suppose_and_show(context, arguments, suppose, title);
}

// "+2xH100:8"
Outcome<Hypothesis> read_nodes(const std::string& word) {
    const auto nodes = read_nodes_text(word.starts_with('+') ? word.substr(1) : word);
    if (!nodes) {
        return bad_usage("wanted nodes such as 2xH100:8 or 8, found \"" + word + "\"",
                         "berth help whatif");
    }
    Hypothesis hypothesis{.what = Supposition::Node};
    hypothesis.count = nodes->count.value_or(1);
    hypothesis.node.gpu_model = nodes->gpu_model;
    hypothesis.node.gpus = nodes->gpus;
    return hypothesis;
}

int suppose_nodes(Context& context, const Arguments& arguments) {
    std::vector<Hypothesis> suppose;
    std::string title = "with more nodes";
    for (const std::string& word : objects(arguments)) {
        auto hypothesis = read_nodes(word);
        if (!hypothesis) return report(context, hypothesis.error());
        suppose.push_back(std::move(*hypothesis));
        title += " " + word;
    }
    return suppose_and_show(context, arguments, suppose, title);
}

int suppose_drain(Context& context, const Arguments& arguments) {
    const bool fails = arguments.has("down");
    std::vector<Hypothesis> suppose;
    std::string title = "without the node";
    for (const std::string& word : objects(arguments)) {
        suppose.push_back({.what = fails ? Supposition::Down : Supposition::Drain, .name = word});
        title += " " + word;
    }
    return suppose_and_show(context, arguments, suppose, title);
}

// "order=age": settings as of berth policy.
int suppose_policy(Context& context, const Arguments& arguments) {
    if (!arguments.has("days")) {
        return report(context, {kBadUsage, "what a setting changes is seen over days: add --days 7",
                                "berth help whatif"});
    }
    model::ReplayRequest request;
    std::string title = "with the policy";
    for (const std::string& word : objects(arguments)) {
        title += " " + word;
        const std::size_t equals = word.find('=');
        if (equals == 0 || equals == std::string::npos) {
            return report(
                context,
                {kBadUsage, "wanted SETTING=VALUE such as order=age, found \"" + word + "\"",
                 "berth policy"});
        }
        request.policy[word.substr(0, equals)] = word.substr(equals + 1);
    }
    return replay_and_show(context, arguments, std::move(request), title);
}

int suppose_submit(Context& context, const Arguments& arguments) {
    const std::string file = arguments.words.size() < 2 ? "" : arguments.words[1];
    Arguments with_command = arguments;
    if (file.empty() && !with_command.has_command) {
        with_command.has_command = true;
        with_command.command = {"true"};
    }
    const auto submission = submission_of(with_command, file);
    if (!submission) return report(context, submission.error());
    Hypothesis hypothesis{.what = Supposition::Submit, .spec = submission->spec};
    if (hypothesis.spec.name.empty()) hypothesis.spec.name = "supposed";
    return suppose_and_show(context, arguments, {hypothesis}, "with this job submitted");
}

int suppose(Context& context, const Arguments& arguments) {
    static constexpr std::array<std::string_view, 7> kKnown{"submit", "quota", "limit", "weight",
                                                            "node",   "drain", "policy"};
    const std::string what = arguments.words[0];
    if (what == "submit") return suppose_submit(context, arguments);
    if (std::ranges::find(kKnown, what) == kKnown.end()) {
        return report(context, {kBadUsage,
                                "wanted " + codec::listed(kKnown) + ", found \"" + what + "\"" +
                                    codec::did_you_mean(what, kKnown),
                                "berth help whatif"});
    }
    if (arguments.words.size() < 2) {
        return report(context,
                      {kBadUsage, "missing argument: what to " + what, "berth help whatif"});
    }
    if (right_named(what)) return suppose_rights(context, arguments);
    if (what == "node") return suppose_nodes(context, arguments);
    if (what == "policy") return suppose_policy(context, arguments);
    return suppose_drain(context, arguments);
}

}  // namespace

extern const Verb what_if_verb;

const Verb what_if_verb{
    .intent = Intent::Simulate,
    .name = "whatif",
    .synopsis = "submit|quota|limit|weight|node|drain|policy ... [--state FILE]",
    .summary = "show which jobs a change would affect (dry run)",
    .flags = kWhatIfFlags,
    .words_min = 1,
    .words_max = -1,
    .tail = CommandTail::AfterDashes,
    .more =
        "  berth whatif submit -p nlp -g 8 --nodes 2   flags of submit, or a job file\n"
        "  berth whatif quota vision=6 weight nlp=2    also limit; in any pool: --pool\n"
        "  berth whatif node 2xH100:8                  two more nodes of eight H100\n"
        "  berth whatif drain n3 [--down]              without the node n3\n"
        "  berth whatif quota vision=6 --days 7        the last 7 days, simulated\n"
        "  berth whatif policy order=age --days 7      and with settings of the policy\n",
    .run = suppose};

}  // namespace berth::cli
