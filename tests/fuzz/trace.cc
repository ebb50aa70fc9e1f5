// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/trace.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "model/limits.h"
#include "simulation/speed/speed_table.h"

namespace berth::fuzz {

// The first byte says of what format the rest is; else the columns do. After "=" one line with the
// user's own names of columns comes first.
void trace(std::string_view input) {
    if (input.empty()) return;
    const bool is_own = input.front() == '=';
    const std::size_t which = static_cast<unsigned char>(input.front()) - std::size_t{'0'};
    input.remove_prefix(1);
    const auto formats = simulation::trace_formats();
    const auto format = which < formats.size() ? formats[which] : std::string_view{};
    simulation::OwnColumns own;
    if (is_own) {
        const std::size_t end = std::min(input.find('\n'), input.size());
        auto columns = simulation::parse_columns(input.substr(0, end));
        if (!columns) return;
        own = std::move(*columns);
        input.remove_prefix(end);
    }
    const auto trace =
        simulation::parse_trace(input, {.file = "trace.csv", .format = format, .columns = own});
    if (trace) {
        const auto lines = static_cast<std::size_t>(std::ranges::count(input, '\n')) + 1;
        const auto rows = static_cast<std::size_t>(trace->left_out.rows());
        expect(trace->jobs.size() + rows <= lines, "a job has a line of its own");
        simulation::TimePoint last;
        for (const simulation::TraceJob& job : trace->jobs) {
            expect(job.submitted >= last, "jobs come in the order of their submission");
            expect(job.gpus >= 1 && job.work.count() > 0, "a job has GPUs and work");
            const bool is_part = job.gpus == 1 && job.share.value > 0;
            expect(is_part ? job.share <= base::kWholeGpu : job.is_whole(),
                   "a job has whole GPUs, or a part of one");
            expect(job.name.empty() || model::is_name(job.name), "a name can stand in a table");
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
