// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/job_table.h"

#include <array>
#include <utility>

#include "cli/pages/job_text.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

std::vector<Column> usual_columns() {
    return {{.title = "ID", .align = Align::Right},
            {.title = "NAME", .worth = 2, .width_min = 8},
            {.title = "PROJECT", .worth = 2, .width_min = 7},
            {.title = "GPUS"},
            {.title = "STATE"},
            {.title = "WHERE", .worth = 2, .width_min = 7},
            {.title = "RUN/WAIT", .align = Align::Right},
            {.title = "WHY / PROGRESS", .worth = 7, .width_min = 14}};
}

}  // namespace

Table job_table(std::span<const codec::JobView> jobs, const codec::NameTable& names,
                base::TimePoint now, const Glyphs& glyphs, Detail detail) {
    std::vector<Column> columns = usual_columns();
    if (detail == Detail::Wide) {
        for (const char* title :
             {"USER", "KIND", "PRIORITY", "ATTEMPTS", "PAUSES", "CREATED", "COMMAND"}) {
            columns.push_back({.title = title});
        }
    }
    Table table(std::move(columns));
    for (const codec::JobView& job : jobs) {
        std::vector<Cell> row{std::to_string(job.id.value),
                              job.spec.name,
                              job.spec.project,
                              gpus_text(job),
                              state_cell(job),
                              where_text(job.tasks, names),
                              run_or_wait(job, now),
                              progress_text(job, names, now, glyphs)};
        if (detail == Detail::Wide) {
            row.emplace_back(job.user);
            row.emplace_back(codec::word(job.spec.kind));
            row.emplace_back(std::to_string(job.spec.priority));
            row.emplace_back(std::to_string(job.attempts));
            row.emplace_back(std::to_string(job.pauses));
            row.emplace_back(moment(job.created, now, TimeForm::Iso));
            row.emplace_back(job.command);
        }
        table.add_row(std::move(row));
    }
    return table;
}

std::string job_sums(std::span<const codec::JobView> jobs, const Style& style) {
    std::array<std::pair<std::string_view, int>, 6> sums{{{"running", 0},
                                                          {"pausing", 0},
                                                          {"paused", 0},
                                                          {"waiting", 0},
                                                          {"cannot run", 0},
                                                          {"finished", 0}}};
    for (const codec::JobView& job : jobs) {
        const std::string_view word = state_word(job);
        const std::size_t sum = word == "never"              ? 4U
                                : model::is_final(job.state) ? 5U
                                : word == "queued"           ? 3U
                                : word == "paused"           ? 2U
                                : word == "pausing"          ? 1U
                                                             : 0U;
        ++sums[sum].second;
    }
    std::string text;
    for (const auto& [word, count] : sums) {
        if (count == 0) continue;
        if (!text.empty()) text += " " + std::string(style.glyphs().dot) + " ";
        text += std::to_string(count) + " " + std::string(word);
    }
    return text;
}

}  // namespace berth::cli
