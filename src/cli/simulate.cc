// SPDX-License-Identifier: Apache-2.0
//
// berth simulate: how would the jobs of a trace fare under these policies, side by side?
#include <algorithm>
#include <charconv>

#include "cli/arguments.h"
#include "cli/context.h"
#include "cli/nodes_text.h"
#include "cli/simulate_quotas.h"
#include "cli/simulate_table.h"
#include "cli/text_file.h"
#include "ordering/named.h"
#include "simulation/audit.h"
#include "simulation/report.h"

namespace berth::cli {
namespace {

constexpr std::int32_t kGpusMax = 1'000'000;
constexpr std::string_view kUsualModel = "v100";  // of --speeds
constexpr std::int32_t kGainMax = 1000;  // percent
constexpr std::size_t kTraceTextMax = std::size_t{2} << 30;

constexpr Flag kSimulateFlags[] = {
    {0, "trace", "FILE", "the jobs; may be gzipped, \"-\" is standard input", Completes::Files},
    {0, "format", "NAME", "of the trace; told by its columns unless said", Completes::Choices,
     "muri|tiresias|philly|shockwave|berth"},
    {0, "nodes", "NxG,...", "N nodes of G GPUs each; NxMODEL:G for several models"},
    {0, "policy", "A,B,...", "which orders to compare, see below"},
    {0, "quotas", "FILE", "the cluster as for plan; the real core decides", Completes::Files},
    {0, "profile", "A,B,...", "with --quotas: berth, classic; berth"},
    {0, "project", "NAME", "only this project, or virtual cluster, of the trace"},
    {0, "restart-cost", "TIME", "GPUs held idle at a start after a pause; 60s"},
    {0, "save-time", "TIME", "with --quotas: GPUs held idle by a pause; 30s"},
    {0, "placement", "RULE", "nodes: on few; count: any GPUs; profile: as it needs",
     Completes::Choices, "nodes|count|profile"},
    {0, "packing", "RULE", "none; pairs or muri: jobs may share GPUs", Completes::Choices,
     "none|pairs|muri"},
    {0, "speeds", "FILE", "measured spread, in pairs, by model, as Gavel's", Completes::Files},
    {0, "models", "RULE", "of GPUs: any, fastest, or swap when that gains"},
    {0, "sizes", "FILE", "GPU-seconds of past jobs, for gittins", Completes::Files},
    {'o', "output", "FORM", "table, json or html", Completes::Choices, "table|json|html"},
    {0, "json", "", "the same as -o json"},
};

// "8x8" or "4xv100:8,8xk80:4"
Outcome<simulation::Machines> read_machines(const std::string& text) {
    std::vector<simulation::NodesAlike> models;
    std::int64_t gpus = 0;
    for (const std::string_view part : split_words(text, ',')) {
        const auto nodes = read_nodes_text(part);
        const bool is_known = nodes && nodes->count;
        if (is_known) gpus += std::int64_t{*nodes->count} * nodes->gpus;
        if (!is_known || gpus > kGpusMax) {
            return bad_usage(
                "--nodes: wanted NODESxGPUS such as 8x8, or 4xv100:8,8xk80:4, of at most " +
                    std::to_string(kGpusMax) + " GPUs, found \"" + text + "\"",
                "berth help simulate");
        }
        if (std::ranges::count(models, nodes->gpu_model, &simulation::NodesAlike::model) > 0) {
            return bad_usage(
                "--nodes: wanted the nodes of a model once, each model named, found \"" + text +
                    "\"",
                "berth help simulate");
        }
        models.push_back({*nodes->count, nodes->gpus, nodes->gpu_model});
    }
    return simulation::Machines(std::move(models));
}

// "swap:gain=5"
Outcome<simulation::ModelChoice> read_models(const Arguments& arguments) {
    using Rule = simulation::ModelChoice::Rule;
    const std::string text = arguments.text("models", "any");
    simulation::ModelChoice choice;
    if (text == "any") return choice;
    if (!arguments.has("speeds")) {
        return bad_usage(
            "--models " + text + ": wanted --speeds FILE, which says how fast jobs are",
            "berth help simulate");
    }
    if (text == "fastest") choice.rule = Rule::Fastest;
    if (text.starts_with("swap")) choice.rule = Rule::Swap;
    constexpr std::string_view kGain = "swap:gain=";
    if (text.starts_with(kGain)) {
        const char* const end = text.data() + text.size();
        const auto [stop, error] =
            std::from_chars(text.data() + kGain.size(), end, choice.gain_percent);
        const bool is_whole = error == std::errc() && stop == end;
        if (is_whole && choice.gain_percent >= 0 && choice.gain_percent <= kGainMax) return choice;
    } else if (text == "fastest" || text == "swap") {
        return choice;
    }
    return bad_usage(
        "--models: wanted any, fastest, swap or swap:gain=0 to 1000 (percent), found \"" + text +
            "\"",
        "berth help simulate");
}

Outcome<std::string> read_unpacked(const std::string& file) {
    auto bytes = read_text_file(file);
    if (!bytes) return refuse(kBadInput, bytes.error().message);
    auto text = simulation::unpacked(std::move(*bytes), kTraceTextMax);
    if (!text) return refuse(kBadInput, file + ": " + text.error().message);
    return std::move(*text);
}

Outcome<simulation::Trace> read_trace(const Arguments& arguments) {
    const std::string file = arguments.text("trace");
    const auto text = read_unpacked(file);
    if (!text) return tl::unexpected(text.error());
    auto trace = simulation::parse_trace(*text, arguments.text("format"), file);
    if (!trace) return refuse(kBadInput, trace.error().message);
    if (const std::string project = arguments.text("project"); !project.empty()) {
        std::erase_if(*trace, [&](const auto& job) { return job.project != project; });
    }
    if (trace->empty()) return refuse(kBadInput, file + ": no job to simulate");
    return std::move(*trace);
}

// As --sizes says, else of the trace itself.
Outcome<std::vector<ordering::GpuMs>> read_sizes(const Arguments& arguments,
                                                 const simulation::Trace& trace) {
    std::vector<ordering::GpuMs> sizes;
    const std::string file = arguments.text("sizes");
    if (file.empty()) {
        for (const auto& job : trace) sizes.push_back(job.work.count() * job.gpus);
        return sizes;
    }
    const auto text = read_unpacked(file);
    if (!text) return tl::unexpected(text.error());
    auto given = simulation::parse_sizes(*text, file);
    if (!given) return refuse(kBadInput, given.error().message);
    return std::move(*given);
}

struct Wanted {
    simulation::Trace trace;
    simulation::Machines machines{1, 1};
    simulation::Placement placement = simulation::Placement::Nodes;
    base::Duration restart_cost{};
    simulation::Packing packing = simulation::Packing::None;
    std::optional<simulation::SpeedTable> speeds;
    simulation::ModelChoice models;
    std::vector<std::string> policies;
    ordering::Surroundings surroundings;

    simulation::Experiment experiment() const {
        return {trace, machines, placement, restart_cost, packing, speeds ? &*speeds : nullptr,
                models};
    }
};

Outcome<Wanted> read_wishes(const Arguments& arguments) {
    for (const char* flag : {"trace", "nodes", "policy"}) {
        if (!arguments.has(flag)) {
            return bad_usage("--" + std::string(flag) + " is missing", "berth help simulate");
        }
    }
    Wanted wanted;
    const std::string policies = arguments.text("policy");
    for (const auto name : split_words(policies, ',')) wanted.policies.emplace_back(name);
    const auto machines = read_machines(arguments.text("nodes"));
    if (!machines) return tl::unexpected(machines.error());
    wanted.machines = *machines;
    const std::string placement = arguments.text("placement");
    if (placement == "count") wanted.placement = simulation::Placement::Count;
    if (placement == "profile") wanted.placement = simulation::Placement::Profile;
    const std::string packing = arguments.text("packing");
    if (packing == "pairs") wanted.packing = simulation::Packing::Pairs;
    if (packing == "muri") wanted.packing = simulation::Packing::Muri;
    if (const std::string file = arguments.text("speeds"); !file.empty()) {
        const auto text = read_unpacked(file);
        if (!text) return tl::unexpected(text.error());
        std::vector<std::string> models;
        for (const auto& alike : wanted.machines.models()) {
            models.push_back(alike.model.empty() ? std::string(kUsualModel) : alike.model);
        }
        auto speeds = simulation::parse_speed_table(*text, file, models);
        if (!speeds) return refuse(kBadInput, speeds.error().message);
        wanted.speeds = std::move(*speeds);
    }
    const auto models = read_models(arguments);
    if (!models) return tl::unexpected(models.error());
    wanted.models = *models;
    if (wanted.machines.models().size() > 1 && wanted.packing != simulation::Packing::None) {
        return bad_usage("--packing does not go with GPUs of several models",
                         "berth help simulate");
    }
    const auto cost = arguments.duration("restart-cost", std::chrono::seconds(60));
    if (!cost) return tl::unexpected(cost.error());
    wanted.restart_cost = *cost;
    wanted.surroundings.gpus = machines->gpus();
    for (const std::string& policy : wanted.policies) {
        const auto order = ordering::order_named(policy, wanted.surroundings);
        if (!order) return bad_usage(order.error().message, "berth help simulate");
    }
    auto trace = read_trace(arguments);
    if (!trace) return tl::unexpected(trace.error());
    wanted.trace = std::move(*trace);
    auto sizes = read_sizes(arguments, wanted.trace);
    if (!sizes) return tl::unexpected(sizes.error());
    wanted.surroundings.sizes = std::move(*sizes);
    return wanted;
}

simulation::Run run_policy(const Context& context, const Wanted& wanted,
                           const std::string& policy) {
    const auto show = [&](std::size_t finished) {
        if (!context.err.is_terminal) return;
        print_notice("\r" + printable(policy) + ": " + std::to_string(finished) + " of " +
                     std::to_string(wanted.trace.size()) + " jobs \x1b[K");
    };
    const auto order = ordering::order_named(policy, wanted.surroundings);
    simulation::Run run{.policy = policy,
                        .replay = simulation::replay(wanted.experiment(), **order, show),
                        .metrics = {}};
    run.metrics = simulation::measure(wanted.experiment(), run.replay);
    if (context.err.is_terminal) print_notice("\r\x1b[K");
    return run;
}

// What went wrong in a run, told; true when nothing did.
bool is_sound(const Context& context, const Wanted& wanted, const simulation::Run& run) {
    const auto complaints = simulation::audit(wanted.experiment(), run.replay);
    for (const std::string& complaint : complaints) {
        print_notice("berth: " + printable(run.policy) + ": " + complaint + "\n");
    }
    const std::size_t left = run.metrics.jobs - run.metrics.finished;
    if (left == 0) return complaints.empty();
    const auto widest = std::ranges::max_element(wanted.trace, {}, &simulation::TraceJob::gpus);
    report(context,
           {kFailed,
            run.policy + ": " + std::to_string(left) + " of " + std::to_string(run.metrics.jobs) +
                " jobs did not finish",
            widest->gpus > wanted.machines.gpus()
                ? "more nodes: the widest job asks " + std::to_string(widest->gpus) + " GPUs"
                : ""});
    return false;
}

std::string file_name(const Arguments& arguments) {
    const std::string file = arguments.text("trace");
    return file.substr(file.rfind('/') + 1);
}

int simulate(Context& context, const Arguments& arguments) {
    if (arguments.has("quotas")) {
        if (!arguments.has("trace")) {
            return report(context, {kBadUsage, "--trace is missing", "berth help simulate"});
        }
        const auto trace = read_trace(arguments);
        if (!trace) return report(context, trace.error());
        return simulate_quotas(context, arguments, *trace);
    }
    const auto wanted = read_wishes(arguments);
    if (!wanted) return report(context, wanted.error());
    std::vector<simulation::Run> runs;
    bool all_sound = true;
    for (const std::string& policy : wanted->policies) {
        runs.push_back(run_policy(context, *wanted, policy));
        all_sound = is_sound(context, *wanted, runs.back()) && all_sound;
    }
    const std::string form = arguments.has("json") ? "json" : arguments.text("output", "table");
    if (form == "json") {
        print(simulation::json_report(runs) + "\n");
    } else if (form == "html") {
        print(simulation::html_report(wanted->experiment(), runs,
                                      "Policies compared on " + file_name(arguments)));
    } else {
        print(simulate_table(runs, context.out));
    }
    return all_sound ? kDone : kFailed;
}

}  // namespace

extern const Verb simulate_verb;

const Verb simulate_verb{
    .intent = Intent::Plan,
    .name = "simulate",
    .synopsis = "--trace FILE (--nodes NxG --policy A,B,... | --quotas FILE)",
    .summary = "replay a trace of jobs under several policies",
    .flags = kSimulateFlags,
    .more =
        "  Policies: fifo fjf sjf srtf srsf finish-fair tiresias tiresias-released geo8\n"
        "  berth gittins gittins-learned predicted.\n"
        "  Settings stand behind colons: geo8:levels=4:guard=10, --profile berth:moves=0.\n"
        "  --restart-cost 0s --placement count are the rules of published simulators.\n"
        "  Exit code 1: a job did not finish, or a check of the run failed.\n",
    .run = simulate};

}  // namespace berth::cli
