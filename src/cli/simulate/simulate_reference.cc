// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate/simulate_reference.h"

#include <algorithm>
#include <charconv>

#include "cli/simulate/simulate_progress.h"
#include "cli/terminal/text_file.h"
#include "simulation/replay/audit.h"

namespace berth::cli {
namespace {

constexpr std::string_view kUsualModel = "v100";  // of --speeds
constexpr std::int32_t kGainMax = 1000;  // percent
constexpr std::size_t kTraceTextMax = std::size_t{2} << 30;

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

// As --sizes says, else of the trace itself.
Outcome<std::vector<reference::GpuMs>> read_sizes(const Arguments& arguments,
                                                  const simulation::Trace& trace) {
    std::vector<reference::GpuMs> sizes;
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

Outcome<std::optional<simulation::SpeedTable>> read_speeds(const Arguments& arguments,
                                                           const simulation::Machines& machines) {
    const std::string file = arguments.text("speeds");
    if (file.empty()) return std::nullopt;
    const auto text = read_unpacked(file);
    if (!text) return tl::unexpected(text.error());
    std::vector<std::string> models;
    for (const auto& alike : machines.models()) {
        models.push_back(alike.model.empty() ? std::string(kUsualModel) : alike.model);
    }
    auto speeds = simulation::parse_speed_table(*text, file, models);
    if (!speeds) return refuse(kBadInput, speeds.error().message);
    return std::move(*speeds);
}

Success check_are_whole(const simulation::Trace& trace) {
    const auto part = std::ranges::find_if_not(trace, &simulation::TraceJob::is_whole);
    if (part == trace.end()) return {};
    return refuse(kBadInput,
                  "--reference: job " + std::to_string(part - trace.begin() + 1) +
                      (part->name.empty() ? "" : " \"" + part->name + "\"") + ", submitted at " +
                      base::format(part->submitted.time_since_epoch()) + ", asks " +
                      base::format_gpus(part->amount()) +
                      ", and these orders hand out whole GPUs only",
                  "--policy alone, or a trace of whole GPUs");
}

}  // namespace

Outcome<std::string> read_unpacked(const std::string& file) {
    auto bytes = read_text_file(file);
    if (!bytes) return refuse(kBadInput, bytes.error().message);
    auto text = simulation::unpacked(std::move(*bytes), kTraceTextMax);
    if (!text) return refuse(kBadInput, file + ": " + text.error().message);
    return std::move(*text);
}

Success read_reference(const Arguments& arguments, ReferenceWishes& wanted) {
    if (const auto whole = check_are_whole(wanted.trace); !whole) return whole;
    const std::string packing = arguments.text("packing");
    if (packing == "pairs") wanted.packing = simulation::Packing::Pairs;
    if (packing == "muri") wanted.packing = simulation::Packing::Muri;
    auto speeds = read_speeds(arguments, wanted.machines);
    if (!speeds) return tl::unexpected(speeds.error());
    wanted.speeds = std::move(*speeds);
    const auto models = read_models(arguments);
    if (!models) return tl::unexpected(models.error());
    wanted.models = *models;
    if (wanted.machines.models().size() > 1 && wanted.packing != simulation::Packing::None) {
        return bad_usage("--packing does not go with GPUs of several models",
                         "berth help simulate");
    }
    auto sizes = read_sizes(arguments, wanted.trace);
    if (!sizes) return tl::unexpected(sizes.error());
    wanted.surroundings = {.gpus = wanted.machines.gpus(), .sizes = std::move(*sizes)};
    const std::string orders = arguments.text("reference");
    auto names = split_words(orders, ',');
    if (names.empty()) names.emplace_back(orders);
    for (const std::string_view name : names) {
        const auto order = reference::order_named(name, wanted.surroundings);
        if (!order) return bad_usage("--" + order.error().message, "berth help simulate");
        wanted.orders.emplace_back(name);
    }
    return {};
}

Simulated simulate_reference(const Context& context, const ReferenceWishes& wanted,
                             const std::string& name) {
    const auto order = reference::order_named(name, wanted.surroundings);
    const simulation::Experiment experiment = wanted.experiment();
    Simulated done;
    done.run.policy = name;
    done.run.is_reference = true;
    ProgressLine line(context.err, name, wanted.trace);
    done.run.replay = simulation::replay(experiment, **order, line.shown());
    line.clear();
    done.run.metrics = simulation::measure(experiment, done.run.replay);
    const auto widest = std::ranges::max_element(wanted.trace, {}, &simulation::TraceJob::gpus);
    done.is_sound =
        tell_faults(context, done.run, simulation::audit(experiment, done.run.replay),
                    widest->gpus > wanted.machines.gpus()
                        ? "the widest asks " + std::to_string(widest->gpus) + " GPUs, there are " +
                              std::to_string(wanted.machines.gpus())
                        : "");
    return done;
}

}  // namespace berth::cli
