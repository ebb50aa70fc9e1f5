// SPDX-License-Identifier: Apache-2.0
//
// berth scenario: does the scheduler decide what these files expect?
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/terminal/text_file.h"
#include "scenario/run.h"

namespace berth::cli {
namespace {

constexpr Flag kScenarioFlags[] = {
    {0, "update", "", "write the decisions into the files, for review"},
    {'q', "quiet", "", "show only failed files and the totals"},
};

enum class Verdict { Passed, Failed, Unreadable };

Verdict play(const Context& context, const Arguments& arguments, const std::string& file) {
    const auto text = read_text_file(file);
    if (!text) {
        report(context, {kBadInput, text.error().message, ""});
        return Verdict::Unreadable;
    }
    const auto outcome = scenario::run(*text);
    if (!outcome) {
        report(context, {kBadInput, file + ": " + outcome.error().message, ""});
        return Verdict::Unreadable;
    }
    const Glyphs& glyphs = context.out.glyphs();
    if (outcome->passed) {
        if (!arguments.has("quiet")) {
            print(context.out.paint(Tone::Good, glyphs.check) + " " + printable(file) + "  " +
                  std::to_string(outcome->commands) + " commands\n");
        }
        return Verdict::Passed;
    }
    const bool updates = arguments.has("update");
    print((updates ? context.out.paint(Tone::Warning, "updated")
                   : context.out.paint(Tone::Bad, glyphs.cross)) +
          " " + printable(file) + "\n" + outcome->difference);
    if (!updates) return Verdict::Failed;
    if (const base::Status written = write_text_file(file, outcome->updated); !written) {
        report(context, Failure::from(written.error()));
        return Verdict::Unreadable;
    }
    return Verdict::Passed;
}

int play_scenarios(Context& context, const Arguments& arguments) {
    int counts[3] = {0, 0, 0};
    for (const std::string& file : arguments.words) {
        ++counts[static_cast<int>(play(context, arguments, file))];
    }
    const int failed = counts[static_cast<int>(Verdict::Failed)];
    const int unreadable = counts[static_cast<int>(Verdict::Unreadable)];
    print(std::to_string(counts[0]) + " passed, " + std::to_string(failed) + " failed" +
          (unreadable > 0 ? ", " + std::to_string(unreadable) + " unreadable" : "") + "\n");
    return unreadable > 0 ? kBadInput : failed > 0 ? kFailed : kDone;
}

}  // namespace

extern const Verb scenario_verb;

const Verb scenario_verb{.intent = Intent::Simulate,
                         .name = "scenario",
                         .synopsis = "FILE... [--update]",
                         .summary = "play scenario files and compare the decisions",
                         .flags = kScenarioFlags,
                         .words_min = 1,
                         .words_max = -1,
                         .completes = Completes::Files,
                         .run = play_scenarios};

}  // namespace berth::cli
