// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace.h"

#include <array>
#include <string>

#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "simulation/speed_table.h"

namespace berth::fuzz {

// The first byte says of what format the rest is; told by its columns unless it does.
void trace(std::string_view input) {
    if (input.empty()) return;
    const std::size_t which = static_cast<unsigned char>(input.front()) - std::size_t{'0'};
    input.remove_prefix(1);
    const auto formats = simulation::trace_formats();
    const auto format = which < formats.size() ? formats[which] : std::string_view{};
    if (const auto jobs = simulation::parse_trace(input, format, "trace.csv")) {
        simulation::TimePoint last =
            jobs->empty() ? simulation::TimePoint{} : jobs->front().submitted;
        for (const simulation::TraceJob& job : *jobs) {
            expect(job.submitted >= last, "jobs come in the order of their submission");
            expect(job.gpus >= 1 && job.work.count() > 0, "a job has GPUs and work");
            last = job.submitted;
        }
    }
    if (const auto sizes = simulation::parse_sizes(input, "sizes.csv")) {
        for (const std::int64_t size : *sizes) expect(size >= 0, "a size is not negative");
    }
}

void speed_table(std::string_view input) {
    const std::array<std::string, 2> models{"v100", "k80"};
    const auto table = simulation::parse_speed_table(input, "speeds.json", models);
    if (!table) return;
    for (std::size_t model = 0; model < models.size(); ++model) {
        for (const auto& [job, speed] : table->on_models[model]) {
            expect(speed.together >= 0 && speed.spread <= speed.together, "spread is not faster");
            expect(table->alone(job, model).together >= 0, "a speed is not negative");
        }
    }
}

}  // namespace berth::fuzz
