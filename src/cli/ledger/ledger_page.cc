// SPDX-License-Identifier: Apache-2.0
#include "cli/ledger/ledger_page.h"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <utility>
#include <vector>

#include "cli/terminal/page_lines.h"
#include "cli/terminal/table.h"
#include "codec/text/json.h"

namespace berth::cli {
namespace {

using ledger::GpuTimeUnit;
using ledger::part_text;
using model::GpuTimes;
using model::GpuUse;
using Uses = std::initializer_list<GpuUse>;

constexpr std::int64_t kMilliGpuSecond = INT64_C(1'000'000);

struct Row {
    std::string name;
    GpuTimes times;
    std::string cost;  // empty: no prices are set
};

struct Saving {
    std::int64_t a_week = 0;
    std::string use;
    std::string whose;
    std::string act;
};

struct Answer {
    std::string sentence;
    std::string by;
    std::vector<Row> rows;
    Row total;
    std::int64_t capacity = -1;  // of all GPUs; -1 = not said
    std::vector<std::string> unpriced;
    std::vector<Saving> savings;
    std::int64_t other_savings = 0;
};

// "3600.25" seconds, exactly. Errors: what it is not comes back as 0.
std::int64_t milli_gpu_ms_in(std::string_view text) {
    const std::size_t dot = std::min(text.find('.'), text.size());
    std::string digits(text.substr(dot + (dot < text.size() ? 1 : 0)));
    digits.resize(6, '0');
    std::int64_t whole = 0;
    std::int64_t part = 0;
    std::from_chars(text.data(), text.data() + dot, whole);
    std::from_chars(digits.data(), digits.data() + digits.size(), part);
    return whole * kMilliGpuSecond + part;
}

std::string member_text(const codec::Value& map, std::string_view name) {
    const codec::Value* value = map.find(name);
    return value == nullptr ? "" : value->text;
}

Row row_in(const codec::Value& map) {
    Row row{member_text(map, "name"), {}, member_text(map, "cost")};
    const codec::Value* times = map.find("gpu_seconds");
    for (const GpuUse use : model::kGpuUses) {
        const auto name = model::kGpuUseNames[static_cast<std::size_t>(use)];
        if (times != nullptr) row.times[use] = milli_gpu_ms_in(member_text(*times, name));
    }
    return row;
}

// "allocated idle".
std::string words_of(std::string name) {
    std::ranges::replace(name, '_', ' ');
    return name;
}

// "jupyter of ana", "jupyter and 2 others of ana", "pool default".
std::string whose(const codec::Value& saving) {
    const std::string pool = member_text(saving, "pool");
    if (!pool.empty()) return "pool " + pool;
    std::string text = member_text(saving, "name");
    if (text.empty()) text = "job " + member_text(saving, "job");
    const std::string others = member_text(saving, "others");
    if (others != "0") text += " and " + others + (others == "1" ? " other" : " others");
    return text + " of " + member_text(saving, "user");
}

Saving saving_in(const codec::Value& saving) {
    return {milli_gpu_ms_in(member_text(saving, "gpu_seconds_a_week")),
            words_of(member_text(saving, "use")), whose(saving), member_text(saving, "act")};
}

base::Result<Answer> read_answer(std::string_view json) {
    BERTH_TRY(tree, codec::parse_json(json, "answer"));
    const codec::Value* rows = tree.find("rows");
    const codec::Value* total = tree.find("total");
    if (rows == nullptr || total == nullptr) return base::invalid("the answer is no ledger");
    Answer answer;
    answer.by = member_text(tree, "by");
    for (const codec::Value& row : rows->items) answer.rows.push_back(row_in(row));
    answer.total = row_in(*total);
    if (const std::string capacity = member_text(tree, "capacity"); !capacity.empty()) {
        answer.capacity = milli_gpu_ms_in(capacity);
    }
    if (const codec::Value* unpriced = tree.find("unpriced")) {
        for (const codec::Value& gpu : unpriced->items) answer.unpriced.push_back(gpu.text);
    }
    if (const codec::Value* sentences = tree.find("sentences")) {
        for (const codec::Value& sentence : sentences->items) {
            if (!answer.sentence.empty()) answer.sentence += ' ';
            answer.sentence += member_text(sentence, "text");
        }
    }
    if (const codec::Value* savings = tree.find("savings")) {
        for (const codec::Value& saving : savings->items) {
            answer.savings.push_back(saving_in(saving));
        }
    }
    answer.other_savings = milli_gpu_ms_in(member_text(tree, "other_savings_a_week"));
    return answer;
}

std::int64_t sum_of(const GpuTimes& times, Uses uses) {
    std::int64_t sum = 0;
    for (const GpuUse use : uses) sum += times[use];
    return sum;
}

constexpr Uses kOfJobs = {GpuUse::Busy,         GpuUse::AllocatedIdle, GpuUse::NotMeasured,
                          GpuUse::Starting,     GpuUse::Leaving,       GpuUse::LostToPause,
                          GpuUse::LostToFailure};

// Every one, with the act that gets it, whole.
std::string saving_lines(const Answer& answer, const GpuTimeUnit& unit, const Style& style) {
    if (answer.savings.empty()) return "";
    std::string text =
        "\nWhat would save most, in " + std::string(unit.words()) + " a week at most:\n";
    for (const Saving& saving : answer.savings) {
        const std::string whose = saving.whose + ", " + saving.use;
        text += line(unit.text(saving.a_week), whose + ": " + saving.act, style);
    }
    if (answer.other_savings > 0) text += line(unit.text(answer.other_savings), "others", style);
    return text;
}

struct Group {
    std::string_view title;
    std::vector<GpuUse> uses;
};

std::string_view use_meaning(GpuUse use) {
    switch (use) {
        case GpuUse::Busy: return "jobs had them, and kernels ran";
        case GpuUse::AllocatedIdle: return "jobs had them, and no kernel ran";
        case GpuUse::NotMeasured: return "jobs had them; how busy is not known";
        case GpuUse::Starting: return "processes of jobs were being started";
        case GpuUse::Leaving: return "jobs were asked to leave them";
        case GpuUse::LostToPause: return "work since the last save, lost by pauses";
        case GpuUse::LostToFailure: return "work since the last save, lost by failures";
        case GpuUse::Reserved: return "free, kept for a job until it starts";
        case GpuUse::BlockedByRoom: return "free, too few for the smallest that waits";
        case GpuUse::BlockedByRules: return "free, kept from jobs by quota or order";
        case GpuUse::Free: return "no job waited for them";
        case GpuUse::Others: return "programs outside Berth had them";
        case GpuUse::Unhealthy: return "their nodes were not ready";
    }
    return {};
}

std::string by_title(std::string_view by) {
    std::string title(by);
    std::ranges::transform(title, title.begin(), [](char letter) {
        return static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    });
    return title;
}

std::string row_table(const Answer& answer, const GpuTimeUnit& unit, const Style& style) {
    const bool is_of_jobs = answer.by == "project" || answer.by == "user" || answer.by == "job";
    const std::vector<Group> groups =
        is_of_jobs
            ? std::vector<Group>{{"BUSY", {GpuUse::Busy}},
                                 {"UNKNOWN", {GpuUse::NotMeasured}},
                                 {"IDLE", {GpuUse::AllocatedIdle}},
                                 {"MOVING", {GpuUse::Starting, GpuUse::Leaving}},
                                 {"LOST", {GpuUse::LostToPause, GpuUse::LostToFailure}}}
            : std::vector<Group>{{"JOBS", kOfJobs},
                                 {"RESERVED", {GpuUse::Reserved}},
                                 {"BLOCKED", {GpuUse::BlockedByRoom, GpuUse::BlockedByRules}},
                                 {"FREE", {GpuUse::Free}},
                                 {"OTHERS", {GpuUse::Others}},
                                 {"UNHEALTHY", {GpuUse::Unhealthy}}};
    const std::string title = by_title(answer.by);
    const bool has_cost = !answer.total.cost.empty();
    std::vector<Column> columns{{.title = title, .worth = 1, .width_min = 8},
                                {.title = unit.title(), .align = Align::Right},
                                {.title = "PART", .align = Align::Right}};
    for (const Group& group : groups) columns.push_back({group.title, Align::Right});
    if (has_cost) columns.push_back({.title = "COST", .align = Align::Right});
    Table table(std::move(columns));
    const auto add = [&](const Row& row, const std::string& name) {
        const bool has_none = is_of_jobs && sum_of(row.times, kOfJobs) == 0;
        std::vector<Cell> cells{name, unit.text(row.times.sum()),
                                part_text(row.times.sum(), answer.total.times.sum())};
        for (const Group& group : groups) {
            std::int64_t time = 0;
            for (const GpuUse use : group.uses) time += row.times[use];
            cells.emplace_back(has_none ? std::string("-") : unit.text(time));
        }
        if (has_cost) cells.emplace_back(row.cost);
        table.add_row(std::move(cells));
    };
    for (const Row& row : answer.rows) {
        if (!row.name.empty()) add(row, row.name);
    }
    for (const Row& row : answer.rows) {
        if (row.name.empty()) add(row, is_of_jobs ? "no job" : "not said");
    }
    return table.is_empty() ? "" : "\n" + table.render(style);
}

}  // namespace

std::string use_words(GpuUse use) {
    return words_of(std::string(model::kGpuUseNames[static_cast<std::size_t>(use)]));
}

std::string use_table(const GpuTimes& times, const GpuTimeUnit& unit, const Style& style) {
    Table table({{.title = "USE"},
                 {.title = unit.title(), .align = Align::Right},
                 {.title = "PART", .align = Align::Right},
                 {.title = "WHAT IT IS", .worth = 1, .width_min = 12}});
    for (const GpuUse use : model::kGpuUses) {
        if (times[use] == 0) continue;
        table.add_row({use_words(use),
                       unit.text(times[use]),
                       part_text(times[use], times.sum()),
                       {std::string(use_meaning(use)), Tone::Faint}});
    }
    return table.render(style);
}

base::Result<std::string> ledger_page(std::string_view json, const Style& style) {
    BERTH_TRY(answer, read_answer(json));
    const GpuTimeUnit unit(answer.total.times.sum());
    std::string text = headline(printable(answer.sentence), "", style);
    if (answer.total.times.sum() == 0) return text;
    text += "\n" + use_table(answer.total.times, unit, style) + row_table(answer, unit, style) +
            saving_lines(answer, unit, style) + "\n";
    for (const std::string& gpu : answer.unpriced) {
        text += gpu.empty() ? "GPUs whose nodes name no model have no price.\n"
                            : "No price is set for " + printable(gpu) +
                                  "; berth policy set gpu_prices=MODEL:PRICE,...\n";
    }
    if (answer.by == "job") {
        return text + "Of jobs that live, or ended on these days, in their whole lives.\n";
    }
    const std::int64_t sum = answer.total.times.sum();
    const std::string both =
        unit.text(sum) + " of " + unit.text(answer.capacity) + " " + std::string(unit.words());
    return text + (sum == answer.capacity
                       ? "Sums to capacity, exactly: " + both + ".\n"
                       : "Does not sum to capacity: " + both + ". Please report this.\n");
}

}  // namespace berth::cli
