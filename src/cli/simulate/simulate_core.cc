// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/simulate_core.h"

#include "cli/simulate/simulate_progress.h"
#include "model/policy/policy_settings.h"
#include "reference/named.h"
#include "simulation/core/core_audit.h"

namespace berth::cli {
namespace {

constexpr std::string_view kClassic = "classic";
constexpr std::string_view kOrder = "order";

// The policy of that name alone.
Outcome<model::Policy> policy_of(std::string_view name) {
    if (name == kClassic) return model::classic_policy();
    const auto policy =
        model::changed_policy(model::berth_policy(), {{std::string(kOrder), std::string(name)}});
    if (policy) return *policy;
    std::string hint =
        "--policy: \"" + std::string(name) + "\" is none of learned, levels, age, classic";
    if (reference::is_order_name(name)) {
        hint += "; no server runs it, so use --reference";
    }
    return bad_usage(hint, "berth help simulate");
}

Outcome<NamedPolicy> read_policy(std::string_view text) {
    const auto parts = split_words(text, ':');
    const auto named = policy_of(parts.empty() ? "" : parts.front());
    if (!named) return tl::unexpected(named.error());
    const auto wrong = [&](const std::string& what) {
        return bad_usage("--policy " + std::string(text) + ": " + what, "berth help simulate");
    };
    model::PolicyChanges changes;
    for (const std::string_view part : std::span(parts).subspan(1)) {
        const std::size_t equals = part.find('=');
        std::string name(part.substr(0, equals));
        if (name == kOrder) return wrong("the name before the first colon is the order");
        const std::string of_order = std::string(kOrder) + "." + name;
        if (model::find_policy_setting(of_order) != nullptr) name = of_order;
        if (const auto* known = model::find_policy_setting(name)) name = known->name;
        const bool is_first =
            changes.emplace(name, equals == std::string_view::npos ? "" : part.substr(equals + 1))
                .second;
        if (!is_first) return wrong("\"" + name + "\" is given twice");
    }
    const auto policy = model::changed_policy(*named, changes);
    if (!policy) return wrong(policy.error().message);
    return NamedPolicy{std::string(text), *policy};
}

}  // namespace

Outcome<std::vector<NamedPolicy>> read_policies(const std::string& text) {
    std::vector<NamedPolicy> policies;
    auto names = split_words(text, ',');
    if (names.empty()) names.emplace_back(text);
    for (const std::string_view one : names) {
        auto policy = read_policy(one);
        if (!policy) return tl::unexpected(policy.error());
        policies.push_back(std::move(*policy));
    }
    return policies;
}

bool tell_faults(const Context& context, const simulation::Run& run,
                 const std::vector<std::string>& complaints, const std::string& why) {
    for (const std::string& complaint : complaints) {
        print_notice("berth: " + printable(run.policy) + ": " + complaint + "\n");
    }
    const std::size_t left = run.metrics.jobs - run.metrics.finished;
    if (left == 0) return complaints.empty();
    report(context,
           {kFailed,
            run.policy + ": " + std::to_string(left) + " of " + std::to_string(run.metrics.jobs) +
                " jobs did not finish" + (why.empty() ? "" : "; " + why),
            ""});
    return false;
}

Outcome<Simulated> simulate_policy(const Context& context, const CoreWishes& wanted,
                                   const NamedPolicy& policy) {
    const simulation::CoreExperiment experiment = wanted.experiment(policy);
    ProgressLine line(context.err, policy.name, wanted.trace);
    auto replay = simulation::replay(experiment, line.shown());
    line.clear();
    if (!replay) return refuse(kBadInput, replay.error().message);
    const simulation::Accounts accounts(experiment);
    Simulated done;
    done.run.policy = policy.name;
    done.run.metrics = simulation::measure(experiment.plain(), replay->replay);
    if (wanted.has_quotas) {
        done.run.projects = simulation::project_figures(accounts, experiment, *replay);
    }
    const auto complaints = simulation::audit(accounts, experiment, *replay);
    done.run.replay = std::move(replay->replay);
    done.is_sound = tell_faults(context, done.run, complaints, replay->why_unfinished);
    return done;
}

}  // namespace berth::cli
