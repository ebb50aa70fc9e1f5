// SPDX-License-Identifier: Apache-2.0
#include "cli/main.h"

#include <string>
#include <vector>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/moment.h"
#include "cli/terminal/time_text.h"
#include "cli/verbs/help.h"
#include "cli/verbs/verbs.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

// What may stand before the verb.
constexpr Flag kLeadingFlags[] = {{0, "version", "", "show the version"}};
constexpr Verb kLeading{
    .synopsis = "VERB", .flags = kLeadingFlags, .tail = CommandTail::FromFirstWord};

struct Chosen {
    const Verb* verb = nullptr;
    std::size_t words = 1;  // how many words name it
};

Outcome<Chosen> choose_verb(const Context& context, const std::vector<std::string>& typed) {
    if (typed.size() > 1) {
        if (const Verb* verb = find_verb(context, typed[0] + " " + typed[1]))
            return Chosen{verb, 2};
    }
    const Verb* verb = find_verb(context, typed[0]);
    // "project delete": a second word that would be none of the verb "project ls". "kube" alone is
    // no verb at all.
    const auto below = verbs_below(context.verbs, typed[0]);
    const bool has_word = typed.size() > 1 && !typed[1].starts_with("-");
    if (verb != nullptr && (below.empty() || !has_word || verb->words_max != 0)) {
        return Chosen{verb, 1};
    }
    if (!below.empty()) {
        std::vector<std::string_view> names;
        for (const Verb* one : below) names.push_back(one->name.substr(typed[0].size() + 1));
        return bad_usage("no verb \"" + typed[0] + (has_word ? " " + typed[1] : "") + "\"; " +
                             typed[0] + " has " + codec::listed(names),
                         "berth help " + typed[0]);
    }
    std::vector<std::string_view> known;
    for (const Verb* one : context.verbs) {
        if (one->intent == Intent::Hidden) continue;
        known.push_back(one->name);
        for (const std::string_view alias : split_words(one->aliases, ' ')) known.push_back(alias);
    }
    return bad_usage("unknown verb \"" + typed[0] + "\"" + codec::did_you_mean(typed[0], known),
                     "berth help");
}

// Flags given before the verb count as if given behind it; those behind win.
int run_chosen(Context& context, const Arguments& leading, const Chosen& chosen) {
    const std::vector<std::string> typed(
        leading.command.begin() + static_cast<std::ptrdiff_t>(chosen.words), leading.command.end());
    const Outcome<Arguments> arguments = parse_arguments(*chosen.verb, typed);
    const std::string colour =
        arguments ? arguments->text("color", leading.text("color", "auto")) : "auto";
    const StyleWishes wishes{
        .colour = colour, .ascii = leading.has("ascii") || (arguments && arguments->has("ascii"))};
    context.out = style_of(1, wishes);
    context.err = style_of(2, wishes);
    if (!arguments) return report(context, arguments.error());
    if (arguments->has("help")) {
        print(verb_help(*chosen.verb, context.verbs, context.out));
        return kDone;
    }
    const Success found = find_server(context, arguments->text("data", leading.text("data")));
    if (!found) return report(context, found.error());
    context.typed = &*arguments;
    const auto at = moment_at(*arguments);
    if (!at) return report(context, at.error());
    context.at = *at;
    const int code = chosen.verb->run(context, *arguments);
    if (code == kDone && context.at) {
        print_notice("as it was at " + moment(*context.at, *context.at, TimeForm::Iso) + ", " +
                     moment(*context.at, clock_now(), TimeForm::Ago) + "\n");
    }
    return code;
}

int run(Context& context, const std::vector<std::string>& typed) {
    const Outcome<Arguments> leading = parse_arguments(kLeading, typed);
    if (!leading) return report(context, leading.error());
    if (leading->has("version")) {
        print(version_text());
        return kDone;
    }
    if (leading->command.empty() || leading->has("help")) {
        print(overview(context.verbs, context.out));
        return kDone;
    }
    const Outcome<Chosen> chosen = choose_verb(context, leading->command);
    if (!chosen) return report(context, chosen.error());
    return run_chosen(context, *leading, *chosen);
}

}  // namespace

int main(int argc, char** argv, std::span<const Verb> system_verbs) {
    Context context;
    context.program = argc > 0 ? argv[0] : "berth";
    context.verbs = all_verbs(system_verbs);
    context.out = style_of(1, {});
    context.err = style_of(2, {});
    const int code = run(context, {argv + (argc > 0 ? 1 : 0), argv + argc});
    const base::Status printed = all_printed();
    if (printed) return code;
    const int unprinted = report(context, Failure::from(printed.error()));
    return code == kDone ? unprinted : code;
}

}  // namespace berth::cli
