// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/help.h"

#include <array>
#include <utility>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/exit_code.h"
#include "cli/terminal/page_lines.h"
#include "cli/verbs/verbs.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr std::array<std::pair<Intent, std::string_view>, 7> kGroups{{
    {Intent::Run, "Run"},
    {Intent::Look, "Look"},
    {Intent::Manage, "Manage jobs"},
    {Intent::Simulate, "Simulate"},
    {Intent::Share, "Projects and quotas"},
    {Intent::Nodes, "Nodes"},
    {Intent::System, "System"},
}};

std::string padded(std::string_view text, int width) {
    std::string cell(text);
    for (int used = display_width(text); used < width; ++used) cell += ' ';
    return cell;
}

std::string flag_column(const Flag& flag) {
    std::string text = flag.letter ? std::string("-") + flag.letter + ", " : "    ";
    text += "--" + std::string(flag.name);
    if (!flag.value.empty()) text += " " + std::string(flag.value);
    return text;
}

std::string flag_lines(std::span<const Flag> flags, const Style& style) {
    int widest = 0;
    for (const Flag& flag : flags) widest = std::max(widest, display_width(flag_column(flag)));
    std::string text;
    for (const Flag& flag : flags) {
        const std::string margin(static_cast<std::size_t>(widest) + 4, ' ');
        std::string_view lead = "";
        text += "  " + style.paint(Tone::Strong, padded(flag_column(flag), widest)) + "  ";
        for (const std::string& part : wrapped(std::string(flag.help), style, widest + 4)) {
            text += std::string(lead) + part + "\n";
            lead = margin;
        }
    }
    return text;
}

std::string verb_lines(std::span<const Verb* const> verbs, const Style& style) {
    std::string text;
    for (const Verb* verb : verbs) {
        text += "  " + style.paint(Tone::Strong, padded("berth " + std::string(verb->name), 22)) +
                std::string(verb->summary) + "\n";
    }
    return text;
}

int show_help(Context& context, const Arguments& arguments) {
    if (arguments.words.empty()) {
        print(overview(context.verbs, context.out));
        return kDone;
    }
    std::string topic = arguments.words[0];
    if (arguments.words.size() > 1) topic += " " + arguments.words[1];
    if (topic == "exit-codes") {
        print(exit_code_help());
        return kDone;
    }
    if (const Verb* verb = find_verb(context, topic)) {
        print(verb_help(*verb, context.verbs, context.out));
        return kDone;
    }
    if (const auto below = verbs_below(context.verbs, topic); !below.empty()) {
        print(verb_lines(below, context.out));
        return kDone;
    }
    std::vector<std::string_view> known{"exit-codes"};
    for (const Verb* verb : context.verbs) known.push_back(verb->name);
    return report(context,
                  {kBadUsage, "no help on \"" + topic + "\"" + codec::did_you_mean(topic, known),
                   "berth help"});
}

int show_version(Context&, const Arguments&) {
    print(version_text());
    return kDone;
}

}  // namespace

std::string overview(std::span<const Verb* const> verbs, const Style& style) {
    std::string text =
        "Berth shares GPUs between projects. Each project has a quota; GPUs it does not\n"
        "use are lent to others. When it needs them, jobs on them are paused, not killed.\n";
    for (const auto& [intent, title] : kGroups) {
        text += "\n" + style.paint(Tone::Faint, title) + "\n";
        for (const Verb* verb : verbs) {
            if (verb->intent != intent) continue;
            text += "  " + style.paint(Tone::Strong, padded(verb->name, 16)) +
                    std::string(verb->summary) + "\n";
        }
    }
    text +=
        "\nberth help VERB      flags and examples of one verb\n"
        "berth help exit-codes\n";
    return text;
}

std::string verb_help(const Verb& verb, std::span<const Verb* const> verbs, const Style& style) {
    std::string text = style.paint(Tone::Strong, "berth " + std::string(verb.name));
    if (!verb.synopsis.empty()) text += " " + std::string(verb.synopsis);
    text += "\n\n  " + std::string(verb.summary) + "\n";
    if (!verb.aliases.empty()) {
        text += "  also:";
        std::string_view between = " ";
        for (const std::string_view alias : split_words(verb.aliases, ' ')) {
            text += std::string(between) + "berth " + std::string(alias);
            between = ", ";
        }
        text += "\n";
    }
    if (!verb.flags.empty()) text += "\n" + flag_lines(verb.flags, style);
    text += "\n" + flag_lines(common_flags(), style);
    if (!verb.more.empty()) text += "\n" + std::string(verb.more);
    auto siblings = verbs_below(verbs, verb.name.substr(0, verb.name.find(' ')));
    std::erase_if(siblings, [&](const Verb* one) { return one->name == verb.name; });
    return siblings.empty() ? text : text + "\n" + verb_lines(siblings, style);
}

std::string version_text() { return "berth " BERTH_VERSION "\n"; }

const Verb help_verb{.intent = Intent::System,
                     .name = "help",
                     .synopsis = "[VERB | exit-codes]",
                     .summary = "show all verbs, or the flags of one",
                     .words_max = 2,
                     .completes = Completes::Verbs,
                     .run = show_help};

const Verb version_verb{.intent = Intent::System,
                        .name = "version",
                        .summary = "print the version of this program",
                        .run = show_version};

}  // namespace berth::cli
