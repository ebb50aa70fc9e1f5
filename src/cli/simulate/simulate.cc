// SPDX-License-Identifier: Apache-2.0
//
// berth simulate: how would the jobs of a trace fare under these policies of a server, and under
// orders that no server runs, side by side?
#include <algorithm>
#include <set>

#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/command_line/nodes_text.h"
#include "cli/simulate/simulate_core.h"
#include "cli/simulate/simulate_reference.h"
#include "cli/simulate/simulate_table.h"
#include "cli/terminal/text_file.h"
#include "codec/files/state_file.h"

namespace berth::cli {
namespace {

constexpr std::int32_t kGpusMax = 1'000'000;
constexpr const char* kNameColumns = "--columns submit=NAME,gpus=NAME,duration=NAME, or ";

constexpr Flag kSimulateFlags[] = {
    {0, "trace", "FILE", "jobs to replay; may be gzipped, \"-\" = standard input",
     Completes::Files},
    {0, "columns", "F=NAME,..", "names of columns: submit=..,gpus=..,duration=.."},
    {0, "format", "NAME", "format of the trace (default: detected by its columns)",
     Completes::Choices, "muri|tiresias|philly|shockwave|sacct|berth"},
    {0, "nodes", "NxG,...", "N nodes with G GPUs each, all for one project"},
    {0, "quotas", "FILE", "cluster with projects, as for berth plan", Completes::Files},
    {0, "policy", "A,B,...", "policies of a server to compare (default: learned)"},
    {0, "reference", "A,B,...", "orders that no server runs, to compare with --nodes"},
    {0, "project", "NAME", "only the jobs of this project, or virtual cluster"},
    {0, "restart-cost", "TIME", "idle time of its GPUs when a job resumes (default: 60s)"},
    {0, "save-time", "TIME", "idle time of its GPUs before a pause (default: 0s, --quotas: 30s)"},
    {0, "placement", "RULE", "nodes: few nodes; count: any GPUs; profile: by its needs",
     Completes::Choices, "nodes|count|profile"},
    {0, "packing", "RULE", "jobs that may share GPUs: none, pairs or muri", Completes::Choices,
     "none|pairs|muri"},
    {0, "speeds", "FILE", "measured speeds: spread, paired, by model, as in Gavel",
     Completes::Files},
    {0, "models", "RULE", "choice of model: any, fastest, or swap when it gains"},
    {0, "sizes", "FILE", "GPU-seconds of past jobs, for gittins", Completes::Files},
    {'o', "output", "FORM", "table, json or html (default: table)", Completes::Choices,
     "table|json|html"},
    {0, "json", "", "the same as -o json"},
};

tl::unexpected<Failure> wrong_use(const std::string& what) {
    return bad_usage(what, "berth help simulate");
}

// "8x8" or "4xv100:8,8xk80:4"
Outcome<simulation::Machines> read_machines(const std::string& text) {
    std::vector<simulation::NodesAlike> models;
    std::int64_t gpus = 0;
    auto parts = split_words(text, ',');
    if (parts.empty()) parts.emplace_back(text);
    for (const std::string_view part : parts) {
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

// "vision, nlp and 3 more", of those that the trace names.
std::string projects_of(const simulation::Trace& trace) {
    constexpr std::size_t kShownMax = 8;
    std::set<std::string> names;
    for (const auto& job : trace) {
        if (!job.project.empty()) names.insert(job.project);
    }
    if (names.empty()) return "no column of projects";
    std::string text;
    std::size_t shown = 0;
    for (const std::string& name : names) {
        if (++shown > kShownMax) break;
        text += (text.empty() ? "" : ", ") + name;
    }
    if (names.size() > kShownMax) {
        text += " and " + std::to_string(names.size() - kShownMax) + " more";
    }
    return text;
}

Outcome<simulation::Trace> read_trace(const Arguments& arguments) {
    auto columns = simulation::parse_columns(arguments.text("columns"));
    if (!columns) return wrong_use("--columns: " + columns.error().message);
    const std::string file = arguments.text("trace");
    const auto text = read_unpacked(file);
    if (!text) return tl::unexpected(text.error());
    const std::string format = arguments.text("format");
    auto trace = simulation::parse_trace(
        *text, {.file = file, .format = format, .columns = std::move(*columns)});
    if (!trace) {
        const bool needs_names = trace.error().code == base::ErrorCode::NotFound ||
                                 trace.error().code == base::ErrorCode::Conflict;
        return refuse(kBadInput, trace.error().message,
                      (needs_names ? kNameColumns : "") + std::string("berth help simulate"));
    }
    if (const std::string note = trace->note(); !note.empty()) {
        print_notice(printable("note: " + file + ": " + note) + "\n");
    }
    simulation::Trace jobs = std::move(trace->jobs);
    if (jobs.empty()) return refuse(kBadInput, file + ": no job to simulate");
    const std::string project = arguments.text("project");
    if (project.empty()) return jobs;
    const std::string projects = projects_of(jobs);
    std::erase_if(jobs, [&](const auto& job) { return job.project != project; });
    if (!jobs.empty()) return jobs;
    return refuse(kBadInput, file + ": no job of project \"" + project + "\"; found " + projects);
}

// With --nodes a pool would be passed over in silence.
void note_pools(const Arguments& arguments, const simulation::Trace& trace) {
    const auto is_in_pool = [](const auto& job) { return !job.pool.empty(); };
    if (!arguments.has("nodes") || std::ranges::none_of(trace, is_in_pool)) return;
    print_notice(printable("note: " + arguments.text("trace") +
                           ": pools count with --quotas alone; with --nodes each job may run on "
                           "all nodes") +
                 "\n");
}

// What does not go together.
Success check_flags(const Arguments& arguments) {
    if (!arguments.has("trace")) return wrong_use("--trace is missing");
    if (arguments.has("nodes") == arguments.has("quotas")) {
        return wrong_use("wanted either --nodes NxG, all of one project, or --quotas FILE");
    }
    const bool has_reference = arguments.has("reference");
    if (has_reference && arguments.has("quotas")) {
        return wrong_use("--reference does not go with --quotas: its orders know no projects");
    }
    if (has_reference && arguments.has("save-time")) {
        return wrong_use("--reference does not go with --save-time: its pauses take no time");
    }
    const bool has_policy = arguments.has("policy") || !has_reference;
    if (has_policy && arguments.text("placement") == "profile") {
        return wrong_use("--placement profile goes with --reference alone");
    }
    for (const char* flag : {"packing", "speeds", "models", "sizes"}) {
        if (!arguments.has(flag)) continue;
        if (!has_reference) return wrong_use("--" + std::string(flag) + " goes with --reference");
        if (!has_policy || std::string_view(flag) == "sizes") continue;
        return wrong_use("--" + std::string(flag) +
                         " needs --reference: the server does not decide it");
    }
    return {};
}

// All nodes are one project's, and so are all jobs.
Success own_all(const simulation::Machines& machines, CoreWishes& wanted) {
    if (machines.models().size() > 1) {
        return wrong_use(
            "nodes of several models need --reference: the server does not know how fast a "
            "job is on each");
    }
    wanted.cluster = simulation::owned_by_one(machines);
    wanted.trace = simulation::of_one_project(std::move(wanted.trace));
    return {};
}

// What --policy would have to be for what the file says of policies; empty when it says nothing.
std::string policy_words(const model::Description& cluster) {
    const bool is_classic = cluster.profile != model::Description{}.profile;
    if (!is_classic && cluster.policy.empty()) return "";
    std::string order = is_classic ? cluster.profile : "learned";
    std::string settings;
    for (const auto& [name, value] : cluster.policy) {
        if (name == "order") order = value.value_or(order);
        if (name != "order") settings += ":" + name + "=" + value.value_or("");
    }
    return order + settings;
}

Success read_quotas(const std::string& file, CoreWishes& wanted) {
    const auto text = read_text_file(file);
    if (!text) return refuse(kBadInput, text.error().message);
    auto cluster = codec::parse_state(*text, file);
    if (!cluster) return refuse(kBadInput, cluster.error().message);
    if (const std::string said = policy_words(*cluster); !said.empty()) {
        return refuse(kBadInput,
                      file + ": \"profile\" and \"policy\" say nothing here; leave them out",
                      "--policy " + said + ", which is what they say");
    }
    wanted.cluster = std::move(*cluster);
    wanted.has_quotas = true;
    return {};
}

Outcome<CoreWishes> read_core(const Arguments& arguments, const simulation::Trace& trace,
                              const std::optional<simulation::Machines>& machines) {
    CoreWishes wanted;
    auto policies = read_policies(arguments.text("policy", "learned"));
    if (!policies) return tl::unexpected(policies.error());
    wanted.policies = std::move(*policies);
    if (arguments.text("placement") == "count") wanted.placement = simulation::Placement::Count;
    const auto restart = arguments.duration("restart-cost", std::chrono::seconds(60));
    if (!restart) return tl::unexpected(restart.error());
    wanted.restart_cost = *restart;
    const auto save = arguments.duration("save-time", std::chrono::seconds(machines ? 0 : 30));
    if (!save) return tl::unexpected(save.error());
    wanted.save_time = *save;
    wanted.trace = trace;
    const std::string file = arguments.text("quotas");
    const auto read = machines ? own_all(*machines, wanted) : read_quotas(file, wanted);
    if (!read) return tl::unexpected(read.error());
    auto taken = simulation::trace_for(wanted.trace, wanted.cluster);
    if (!taken) {
        return refuse(kBadInput, (file.empty() ? "--nodes" : file) + ": " + taken.error().message);
    }
    wanted.trace = std::move(*taken);
    return wanted;
}

Outcome<ReferenceWishes> read_orders(const Arguments& arguments, const simulation::Trace& trace,
                                     const simulation::Machines& machines) {
    ReferenceWishes wanted(trace);
    wanted.machines = machines;
    const std::string placement = arguments.text("placement");
    if (placement == "count") wanted.placement = simulation::Placement::Count;
    if (placement == "profile") wanted.placement = simulation::Placement::Profile;
    const auto restart = arguments.duration("restart-cost", std::chrono::seconds(60));
    if (!restart) return tl::unexpected(restart.error());
    wanted.restart_cost = *restart;
    if (const auto read = read_reference(arguments, wanted); !read) {
        return tl::unexpected(read.error());
    }
    return wanted;
}

struct Comparison {
    simulation::Trace trace;
    std::vector<simulation::Run> runs;
    bool are_sound = true;

    void add(Simulated done) {
        are_sound = are_sound && done.is_sound;
        runs.push_back(std::move(done.run));
    }
};

void print_comparison(const Context& context, const Arguments& arguments,
                      const simulation::Experiment& experiment, const Comparison& comparison) {
    const auto& runs = comparison.runs;
    const std::string form = arguments.has("json") ? "json" : arguments.text("output", "table");
    if (form == "json") return print(simulation::json_report(runs) + "\n");
    if (form == "html") {
        const std::string file = arguments.text("trace");
        const std::string name = file == "-" ? "a trace" : file.substr(file.rfind('/') + 1);
        return print(simulation::html_report(experiment, runs, name));
    }
    print(simulate_table(runs, context.out));
    if (const auto own = simulation::own_orders_text(runs.front().projects); !own.empty()) {
        print("under each policy by an order of their own: " + printable(own) + "\n");
    }
    for (const simulation::Run& run : runs) {
        if (run.projects.empty()) continue;
        print("\n" + printable(run.policy) + "\n" + project_table(run, context.out));
    }
}

Outcome<int> compare(const Context& context, const Arguments& arguments) {
    if (const auto flags = check_flags(arguments); !flags) return tl::unexpected(flags.error());
    std::optional<simulation::Machines> machines;
    if (arguments.has("nodes")) {
        const auto read = read_machines(arguments.text("nodes"));
        if (!read) return tl::unexpected(read.error());
        machines = *read;
    }
    Comparison comparison;
    auto trace = read_trace(arguments);
    if (!trace) return tl::unexpected(trace.error());
    comparison.trace = std::move(*trace);
    note_pools(arguments, comparison.trace);
    std::optional<CoreWishes> core;
    if (arguments.has("policy") || !arguments.has("reference")) {
        auto read = read_core(arguments, comparison.trace, machines);
        if (!read) return tl::unexpected(read.error());
        core = std::move(*read);
    }
    std::optional<ReferenceWishes> orders;
    if (arguments.has("reference")) {
        auto read = read_orders(arguments, comparison.trace, *machines);
        if (!read) return tl::unexpected(read.error());
        orders.emplace(std::move(*read));
    }
    if (core) {
        for (const NamedPolicy& policy : core->policies) {
            auto done = simulate_policy(context, *core, policy);
            if (!done) return tl::unexpected(done.error());
            comparison.add(std::move(*done));
        }
    }
    if (orders) {
        for (const std::string& order : orders->orders) {
            comparison.add(simulate_reference(context, *orders, order));
        }
    }
    print_comparison(context, arguments,
                     core ? core->experiment(core->policies.front()).plain() : orders->experiment(),
                     comparison);
    return comparison.are_sound ? kDone : kFailed;
}

int simulate(Context& context, const Arguments& arguments) {
    const auto code = compare(context, arguments);
    return code ? *code : report(context, code.error());
}

}  // namespace

extern const Verb simulate_verb;

const Verb simulate_verb{
    .intent = Intent::Simulate,
    .name = "simulate",
    .synopsis = "--trace FILE (--nodes NxG | --quotas FILE) [--policy A,B,...]",
    .summary = "replay a trace of jobs as the server would run them",
    .flags = kSimulateFlags,
    .more =
        "  --nodes: 8x8, or with models 4xv100:8,8xk80:4.\n"
        "  A trace is a table with a line of column names, in any case; the separator is\n"
        "  comma, semicolon, tab or \"|\". The columns show its format:\n"
        "    berth      submit_s duration_s gpus; project user name command kind pool\n"
        "    sacct      Submit Elapsed AllocTRES; Account User JobName SubmitLine\n"
        "               sacct -aX --parsable2 -o Submit,Elapsed,AllocTRES,User,JobName\n"
        "    tiresias   submit_time duration num_gpu\n"
        "    muri       the same and batch_size, in milliseconds\n"
        "    philly     timestamp duration num_gpus; cluster\n"
        "    shockwave  arrival_time_s duration_s scale_factor\n"
        "  Others:  --columns submit=Begin,gpus=\"GPU count\",duration=Runtime,project=Team\n"
        "  Submitted: seconds, or 2024-05-01T12:30:00Z (no zone: UTC). Duration: seconds,\n"
        "  02:03:04, 1-02:03:04 or 1h30m. GPUs: 4, 0.5, or gres/gpu=4 as Slurm writes it.\n"
        "  Rows without GPUs or duration are left out, and counted in a note.\n"
        "\n"
        "  --policy: learned, levels, age or classic; settings follow after colons:\n"
        "  learned:tail=33:backfill_reservations=0.\n"
        "  --reference: fifo fjf sjf srtf srsf finish-fair tiresias gittins\n"
        "  tiresias-released; packing, speeds, models, sizes and placement by profile\n"
        "  need --reference. With --nodes a pause costs the same under both.\n"
        "  --restart-cost 0s --placement count are the rules of published simulators.\n"
        "  Exit code 1: a job did not finish, or a check of the run failed.\n",
    .run = simulate};

}  // namespace berth::cli
