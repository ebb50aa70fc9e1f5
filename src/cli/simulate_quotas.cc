// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate_quotas.h"

#include "cli/simulate_table.h"
#include "cli/text_file.h"
#include "codec/state_file.h"
#include "scenario/fields.h"
#include "simulation/quota_audit.h"
#include "simulation/report.h"

namespace berth::cli {
namespace {

using simulation::QuotaExperiment;

// "berth:moves=0:grace=30s": a profile and, behind colons, the settings of a scenario's policy.
Outcome<model::Policy> read_profile(std::string_view text) {
    scenario::Command command{
        .line = 0, .verb = "--profile", .names = {}, .values = {}, .expected = {}};
    for (const std::string_view part : split_words(text, ':')) {
        const std::size_t equals = part.find('=');
        if (command.values.empty()) {
            command.values["profile"] = part;
        } else {
            const bool has_value = equals != std::string_view::npos;
            command.values[std::string(part.substr(0, equals))] =
                has_value ? part.substr(equals + 1) : "";
        }
    }
    const auto policy = scenario::read_policy(command, {});
    if (!policy) return bad_usage(policy.error().message, "berth help simulate");
    return *policy;
}

struct Profile {
    std::string name;
    model::Policy policy;
};

struct QuotaWishes {
    simulation::Trace trace;
    model::Description cluster;
    std::vector<Profile> profiles;
    simulation::Placement placement = simulation::Placement::Nodes;
    base::Duration restart_cost{};
    base::Duration save_time{};

    QuotaExperiment experiment(const Profile& profile) const {
        return {trace, cluster, profile.policy, placement, restart_cost, save_time};
    }
};

Outcome<QuotaWishes> read_quota_wishes(const Arguments& arguments, const simulation::Trace& trace) {
    for (const char* flag : {"nodes", "policy", "sizes"}) {
        if (!arguments.has(flag)) continue;
        return bad_usage("--" + std::string(flag) +
                             " does not go with --quotas: its file says "
                             "which nodes there are, --profile how is decided",
                         "berth help simulate");
    }
    QuotaWishes wanted;
    const std::string profiles = arguments.text("profile", "berth");
    for (const auto name : split_words(profiles, ',')) {
        auto policy = read_profile(name);
        if (!policy) return tl::unexpected(policy.error());
        wanted.profiles.push_back({std::string(name), *policy});
    }
    if (arguments.text("placement") == "count") wanted.placement = simulation::Placement::Count;
    const auto restart = arguments.duration("restart-cost", std::chrono::seconds(60));
    if (!restart) return tl::unexpected(restart.error());
    wanted.restart_cost = *restart;
    const auto save = arguments.duration("save-time", std::chrono::seconds(30));
    if (!save) return tl::unexpected(save.error());
    wanted.save_time = *save;

    const std::string file = arguments.text("quotas");
    const auto text = read_text_file(file);
    if (!text) return refuse(kBadInput, text.error().message);
    auto cluster = codec::parse_state(*text, file);
    if (!cluster) return refuse(kBadInput, cluster.error().message);
    wanted.cluster = std::move(*cluster);
    auto taken = simulation::trace_for(trace, wanted.cluster);
    if (!taken) return refuse(kBadInput, file + ": " + taken.error().message);
    wanted.trace = std::move(*taken);
    return wanted;
}

struct Replayed {
    simulation::Run run;
    bool is_sound = false;
};

Outcome<Replayed> run_profile(const Context& context, const QuotaWishes& wanted,
                              const Profile& profile) {
    const QuotaExperiment experiment = wanted.experiment(profile);
    auto replay = simulation::replay(experiment, [&](std::size_t finished) {
        if (!context.err.is_terminal) return;
        print_notice("\r" + printable(profile.name) + ": " + std::to_string(finished) + " of " +
                     std::to_string(wanted.trace.size()) + " jobs \x1b[K");
    });
    if (context.err.is_terminal) print_notice("\r\x1b[K");
    if (!replay) return refuse(kBadInput, replay.error().message);
    const simulation::Accounts accounts(experiment);
    const auto complaints = simulation::audit(accounts, experiment, *replay);
    for (const std::string& complaint : complaints) {
        print_notice("berth: " + printable(profile.name) + ": " + complaint + "\n");
    }
    simulation::Run run{.policy = profile.name,
                        .replay = {},
                        .metrics = simulation::measure(experiment.plain(), replay->replay),
                        .projects = simulation::project_figures(accounts, experiment, *replay)};
    run.replay = std::move(replay->replay);
    const std::size_t left = run.metrics.jobs - run.metrics.finished;
    if (left > 0) {
        report(context, {kFailed,
                         profile.name + ": " + std::to_string(left) + " of " +
                             std::to_string(run.metrics.jobs) + " jobs did not finish",
                         "a limit, or nodes with room for the widest job"});
    }
    return Replayed{std::move(run), complaints.empty() && left == 0};
}

}  // namespace

int simulate_quotas(Context& context, const Arguments& arguments, const simulation::Trace& trace) {
    const auto wanted = read_quota_wishes(arguments, trace);
    if (!wanted) return report(context, wanted.error());
    std::vector<simulation::Run> runs;
    bool all_sound = true;
    for (const Profile& profile : wanted->profiles) {
        auto replayed = run_profile(context, *wanted, profile);
        if (!replayed) return report(context, replayed.error());
        runs.push_back(std::move(replayed->run));
        all_sound = all_sound && replayed->is_sound;
    }
    const std::string form = arguments.has("json") ? "json" : arguments.text("output", "table");
    if (form == "json") {
        print(simulation::json_report(runs) + "\n");
    } else if (form == "html") {
        const std::string file = arguments.text("trace");
        print(simulation::html_report(wanted->experiment(wanted->profiles.front()).plain(), runs,
                                      "Profiles compared on " + file.substr(file.rfind('/') + 1)));
    } else {
        print(simulate_table(runs, context.out));
        for (const simulation::Run& run : runs) {
            print("\n" + printable(run.policy) + "\n" + project_table(run, context.out));
        }
    }
    return all_sound ? kDone : kFailed;
}

}  // namespace berth::cli
