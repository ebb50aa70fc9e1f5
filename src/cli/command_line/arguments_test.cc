// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/arguments.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "cli/verbs/verbs.h"

namespace berth::cli {
namespace {

constexpr Flag kFlags[] = {
    {'g', "gpus", "REQUEST", "how many"},
    {'a', "all", "", "everything"},
    {'q', "quiet", "", "numbers"},
    {'o', "output", "FORM", "how", Completes::Choices, "json|wide"},
    {0, "grace", "TIME", "how long"},
};
constexpr Verb kPlain{.name = "try", .synopsis = "NAME", .flags = kFlags, .words_max = 2};
constexpr Verb kSubmit{.name = "sub",
                       .synopsis = "[FILE]",
                       .flags = kFlags,
                       .words_max = 1,
                       .tail = CommandTail::AfterDashes};
constexpr Verb kRun{.name = "go", .flags = kFlags, .tail = CommandTail::FromFirstWord};

Outcome<Arguments> parse(const Verb& verb, std::vector<std::string> typed) {
    return parse_arguments(verb, typed);
}

std::string error_of(const Verb& verb, std::vector<std::string> typed) {
    const auto arguments = parse_arguments(verb, typed);
    REQUIRE_FALSE(arguments.has_value());
    CHECK(arguments.error().exit_code == kBadUsage);
    return arguments.error().cause;
}

}  // namespace

TEST_CASE("flags stand before and behind words, in every spelling") {
    for (const auto& typed : std::vector<std::vector<std::string>>{{"-g", "2", "name", "-aq"},
                                                                   {"name", "--gpus=2", "-a", "-q"},
                                                                   {"-g2", "-qa", "name"},
                                                                   {"-aqg2", "name"},
                                                                   {"-aqg=2", "name"}}) {
        const auto arguments = parse(kPlain, typed);
        REQUIRE(arguments.has_value());
        CHECK(arguments->text("gpus") == "2");
        CHECK(arguments->has("all"));
        CHECK(arguments->has("quiet"));
        CHECK(arguments->words == std::vector<std::string>{"name"});
    }
}

TEST_CASE("the last value of a flag wins, all are kept") {
    const auto arguments = parse(kPlain, {"--gpus", "1", "--gpus", "2"});
    REQUIRE(arguments.has_value());
    CHECK(arguments->text("gpus") == "2");
    CHECK(arguments->all("gpus") == std::vector<std::string>{"1", "2"});
    CHECK(arguments->text("grace", "none") == "none");
}

TEST_CASE("what is missing is named as the synopsis names it") {
    constexpr Verb kTwo{.name = "two", .synopsis = "[--wait] JOB... NODE", .words_min = 2};
    CHECK(error_of(kTwo, {}) == "missing argument: JOB");
    CHECK(error_of(kTwo, {"7"}) == "missing argument: NODE");
}

TEST_CASE("help reads alike: a verb says what it does in a line, a flag what it is") {
    const auto begins_with = [](std::string_view text, std::initializer_list<const char*> words) {
        const std::string_view first = text.substr(0, text.find_first_of(" :,"));
        return std::ranges::find(words, first) != words.end();
    };
    for (const Verb* verb : all_verbs({})) {
        INFO(verb->name);
        CHECK(verb->summary.size() <= 60);
        CHECK_FALSE(begins_with(verb->summary, {"the", "a", "what", "why", "how", "who", "each"}));
        for (const Flag& flag : verb->flags) {
            INFO(flag.help);
            CHECK_FALSE(begins_with(flag.help, {"of", "in", "on", "for", "from", "to", "by", "with",
                                                "at", "below", "behind", "who", "that", "where"}));
        }
    }
}

TEST_CASE("a flag that was renamed is taken under its former name, which no help shows") {
    struct Renamed {
        std::string_view verb, then, now;
    };
    for (const Renamed& flag : {Renamed{"submit", "delay", "preemption-delay"},
                                Renamed{"submit", "time", "expected-time"},
                                Renamed{"project set", "delay", "preemption-delay"},
                                Renamed{"project set", "preempt-run", "preempt-min-runtime"},
                                Renamed{"project set", "reclaim-run", "reclaim-min-runtime"}}) {
        INFO(flag.verb, " --", flag.then);
        const auto verbs = all_verbs({});
        const auto verb = std::ranges::find(verbs, flag.verb, &Verb::name);
        REQUIRE(verb != verbs.end());
        const auto arguments = parse(**verb, {"name", "--" + std::string(flag.then), "5m"});
        REQUIRE(arguments.has_value());
        CHECK(arguments->text(flag.now) == "5m");
        CHECK(std::ranges::find((*verb)->flags, flag.then, &Flag::name) == (*verb)->flags.end());
    }
}

TEST_CASE("the user's own command is left alone") {
    const std::vector<std::string> command{"python", "-q", "--gpus", "--", "x"};
    const auto run = parse(kRun, {"-g", "2", "python", "-q", "--gpus", "--", "x"});
    REQUIRE(run.has_value());
    CHECK(run->command == command);
    CHECK_FALSE(run->has("quiet"));
    const auto dashed = parse(kRun, {"-g", "2", "--", "python", "-q", "--gpus", "--", "x"});
    REQUIRE(dashed.has_value());
    CHECK(dashed->command == command);
    const auto submit = parse(kSubmit, {"job.yaml", "-g", "2", "--", "python", "-a"});
    REQUIRE(submit.has_value());
    CHECK(submit->words == std::vector<std::string>{"job.yaml"});
    CHECK(submit->command == std::vector<std::string>{"python", "-a"});
    CHECK_FALSE(submit->has("all"));
}

TEST_CASE("what cannot be understood is said with what would be right") {
    CHECK(error_of(kPlain, {"--gpu", "2"}) == "unknown flag \"--gpu\"; did you mean \"--gpus\"?");
    CHECK(error_of(kPlain, {"-x"}) == "unknown flag \"-x\"");
    CHECK(error_of(kPlain, {"--gpus"}) == "\"--gpus\" wants a value: REQUEST");
    CHECK(error_of(kPlain, {"-g", "--", "x"}) == "\"-g\" wants a value: REQUEST");
    CHECK(error_of(kPlain, {"--all=yes"}) == "\"--all\" takes no value");
    CHECK(error_of(kPlain, {"-o", "jsn"}) ==
          "--output: wanted json or wide, found \"jsn\", did you mean \"json\"?");
    CHECK(error_of(kPlain, {"a", "b", "c"}) == "unexpected argument: \"c\"");
    CHECK(error_of(kPlain, {"--", "x"}) == "no command is expected after \"--\"");
}

TEST_CASE("numbers and times are checked when they are used") {
    const auto arguments = parse(kPlain, {"--gpus", "two", "--grace", "90s"});
    REQUIRE(arguments.has_value());
    CHECK_FALSE(arguments->number("gpus", 0).has_value());
    CHECK(arguments->duration("grace", {})->count() == 90'000);
    CHECK(parse(kPlain, {})->number("gpus", 7).value() == 7);
}

TEST_CASE("an error about a field names the flags that set it, of those that were given") {
    static constexpr Flag kFieldFlags[] = {
        {.name = "cpu-quota", .value = "CORES", .help = "how many"},
        {.name = "tail", .value = "PERCENT", .help = "how much", .fields = "job_tail tail"},
        {.name = "required", .value = "LEVEL", .help = "where", .fields = "required topology"},
        {.name = "preferred", .value = "LEVEL", .help = "where", .fields = "preferred topology"},
    };
    constexpr Verb kSet{.name = "set", .flags = kFieldFlags};
    const auto given = parse(kSet, {"--cpu-quota", "4", "--tail", "60", "--required", "node"});
    REQUIRE(given.has_value());
    CHECK(given->field("cpu-quota") == "cpu_quota");
    CHECK(given->field("tail") == "job_tail");
    CHECK(given->in_flags("job_tail: wanted 0 to 50") == "--tail: wanted 0 to 50");
    CHECK(given->in_flags("body:1: tail: wanted 0: or 1") == "--tail: wanted 0: or 1");
    CHECK(given->in_flags("flags:1: pools.a.b.cpu_quota: x") == "--cpu-quota: x");
    CHECK(given->in_flags("project \"a: b\": cpu_quota: x") == "project \"a: b\": --cpu-quota: x");
    CHECK(given->in_flags("topology: no level") == "--required: no level");
    CHECK(parse(kSet, {"--preferred", "a", "--required", "b"})->in_flags("topology: no level") ==
          "--required or --preferred: no level");
    CHECK(parse(kSet, {})->in_flags("job_tail: wanted 0") == "job_tail: wanted 0");
    for (const std::string_view other :
         {"body:1: weight: x", "weight: tail: x", "a tail: x", "project \"tail: x\" is", "tail",
          "file.yaml:1: tail: x", ""}) {
        INFO(other);
        CHECK(given->in_flags(other) == other);
    }
}

TEST_CASE("exit codes of jobs stay below 100") {
    CHECK(exit_code_of_job(0) == 0);
    CHECK(exit_code_of_job(99) == 99);
    CHECK(exit_code_of_job(100) == kJobAbove99);
    CHECK(exit_code_of_job(137) == kJobAbove99);
}

}  // namespace berth::cli
