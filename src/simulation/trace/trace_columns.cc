// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/trace_columns.h"

#include <algorithm>
#include <vector>

#include "simulation/trace/table_text.h"

namespace berth::simulation {
namespace {

constexpr std::size_t kFields = kTraceFields.size();
constexpr std::string_view kStepColumn = "JobID";  // Slurm's

struct Format {
    std::string_view name;
    // By field; of several names, parted by blanks, the first that is there. Of names parted by "|"
    // one may be there: they are the same.
    std::array<std::string_view, kFields> columns;
    std::string_view mark = {};  // a column that tells it from the others
    TraceUnit unit = TraceUnit::Seconds;
};

constexpr Format kFormats[] = {
    {.name = "muri",
     .columns = {"submit_time", "duration", "num_gpu", "", "", "model_name"},
     .mark = "batch_size",
     .unit = TraceUnit::Milliseconds},
    {.name = "tiresias", .columns = {"submit_time", "duration", "num_gpu", "", "", "model_name"}},
    {.name = "philly", .columns = {"timestamp", "duration", "num_gpus", "cluster"}},
    {.name = "shockwave",
     .columns = {"arrival_time_s", "duration_s", "scale_factor", "", "", "job_type"}},
    {.name = "sacct",
     .columns = {"Submit", "Elapsed ElapsedRaw", "AllocTRES ReqTRES AllocGRES", "Account", "User",
                 "JobName", "SubmitLine"}},
    {.name = "berth",
     .columns = {"submit_s|submit", "duration_s|duration", "gpus", "project", "user", "name",
                 "command", "kind", "pool"}},
};
constexpr const Format& kOwnFormat = kFormats[std::size(kFormats) - 1];

constexpr auto kFormatNames = [] {
    std::array<std::string_view, std::size(kFormats)> names;
    std::ranges::transform(kFormats, names.begin(), &Format::name);
    return names;
}();

using Header = std::span<const std::string>;  // in lower case

std::optional<std::size_t> place_of(Header header, std::string_view name) {
    const auto found = std::ranges::find(header, lower(name));
    if (name.empty() || found == header.end()) return std::nullopt;
    return static_cast<std::size_t>(found - header.begin());
}

std::string_view first_name(std::string_view names) {
    return names.substr(0, std::min(names.find_first_of(" |"), names.size()));
}

// Of the first of `names` that is there.
std::optional<std::size_t> place_of_any(Header header, std::string_view names) {
    while (!names.empty()) {
        const std::string_view name = first_name(names);
        if (const auto place = place_of(header, name)) return place;
        names.remove_prefix(std::min(name.size() + 1, names.size()));
    }
    return std::nullopt;
}

std::optional<std::size_t> place_of(Header header, const Format& format, const OwnColumns& own,
                                    std::size_t field) {
    if (!own[field].empty()) return place_of(header, own[field]);
    return place_of_any(header, format.columns[field]);
}

std::size_t missing(Header header, const Format& format, const OwnColumns& own) {
    std::size_t count = 0;
    for (std::size_t field = 0; field < kFieldsNeeded; ++field) {
        if (!place_of(header, format, own, field)) ++count;
    }
    return count;
}

bool fits(Header header, const Format& format, const OwnColumns& own) {
    return missing(header, format, own) == 0 &&
           (format.mark.empty() || place_of(header, format.mark));
}

// That of the name; else the first that fits; else the one that lacks the least, ours among equals.
const Format& choose(Header header, std::string_view name, const OwnColumns& own) {
    if (!name.empty()) {
        const auto found = std::ranges::find(kFormats, name, &Format::name);
        return found == std::end(kFormats) ? kOwnFormat : *found;
    }
    const bool names_all = std::ranges::none_of(std::span(own).first(kFieldsNeeded),
                                                [](const std::string& one) { return one.empty(); });
    if (names_all) return kOwnFormat;
    const Format* nearest = &kOwnFormat;
    for (const Format& format : kFormats) {
        if (fits(header, format, own)) return format;
        if (missing(header, format, own) < missing(header, *nearest, own)) nearest = &format;
    }
    return *nearest;
}

std::string quoted_name(std::string_view name) {
    constexpr std::size_t kShownMax = 40;
    return "\"" + std::string(name.substr(0, kShownMax)) +
           (name.size() > kShownMax ? "...\"" : "\"");
}

std::string list_of(TraceColumns::Row header) {
    constexpr std::size_t kShownMax = 20;
    std::string text;
    for (const std::string_view name : header.first(std::min(header.size(), kShownMax))) {
        text += (text.empty() ? "" : ", ") + quoted_name(name);
    }
    if (header.size() > kShownMax) {
        text += " and " + std::to_string(header.size() - kShownMax) + " more";
    }
    return text;
}

std::string needed_columns(const Format& format) {
    std::string text;
    for (const std::string_view names : std::span(format.columns).first(kFieldsNeeded)) {
        text += (text.empty() ? "" : " ") + std::string(first_name(names));
    }
    return text + (format.mark.empty() ? "" : " ") + std::string(format.mark);
}

// "no column "duration_s" (duration); found ...; formats: ..."
std::string complaint(TraceColumns::Row titles, Header header, const Format& format,
                      const OwnColumns& own) {
    std::string lacks;
    for (std::size_t field = 0; field < kFieldsNeeded; ++field) {
        if (place_of(header, format, own, field)) continue;
        const std::string_view known = first_name(format.columns[field]);
        lacks += (lacks.empty() ? "" : ", ") +
                 quoted_name(own[field].empty() ? known : own[field]) + " (" +
                 std::string(kTraceFields[field]) + ")";
    }
    std::string text = "missing column " + lacks + "; found " + list_of(titles);
    if (titles.size() == 1) text += ", no comma, semicolon, tab or \"|\" between names";
    return text + "; formats, in any case: " + trace_formats_text();
}

// Two columns that say the same.
base::Status one_for_each(TraceColumns::Row titles, Header header, const Format& format,
                          const OwnColumns& own) {
    for (std::size_t field = 0; field < kFields; ++field) {
        const std::string_view names = format.columns[field];
        const std::size_t bar = names.find('|');
        if (bar == names.npos || !own[field].empty()) continue;
        const auto one = place_of(header, names.substr(0, bar));
        const auto other = place_of(header, names.substr(bar + 1));
        if (!one || !other) continue;
        return base::fail(base::ErrorCode::Conflict,
                          "found columns " + quoted_name(titles[*one]) + " and " +
                              quoted_name(titles[*other]) + " for " +
                              std::string(kTraceFields[field]) + ", wanted one of them");
    }
    return {};
}

using ColumnPlaces = std::array<std::optional<std::size_t>, kFields>;

// A column that says two things: no time is also an amount. A text may be, such as that of project
// and user.
base::Status two_from_one(TraceColumns::Row titles, const ColumnPlaces& places) {
    for (std::size_t field = 0; field < kFieldsNeeded; ++field) {
        for (std::size_t other = field + 1; other < kFields; ++other) {
            if (!places[other] || places[other] != places[field]) continue;
            return base::invalid("found column " + quoted_name(titles[*places[field]]) + " for " +
                                 std::string(kTraceFields[field]) + " and for " +
                                 std::string(kTraceFields[other]) + ", wanted one for each");
        }
    }
    return {};
}

}  // namespace

std::span<const std::string_view> trace_formats() { return kFormatNames; }

std::string trace_formats_text() {
    std::string text;
    for (const Format& format : kFormats) {
        text += (text.empty() ? "" : ", ") + std::string(format.name) + " (" +
                needed_columns(format) + ")";
    }
    return text;
}

base::Result<OwnColumns> parse_columns(std::string_view text) {
    OwnColumns own;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(','), text.size());
        const std::string_view part = trimmed(text.substr(0, end));
        const std::size_t equals = std::min(part.find('='), part.size());
        const auto field = std::ranges::find(kTraceFields, lower(trimmed(part.substr(0, equals))));
        const std::string_view column = trimmed(part.substr(std::min(equals + 1, part.size())));
        if (column.empty() || field == kTraceFields.end()) {
            std::string known;
            for (const std::string_view one : kTraceFields) known += " " + std::string(one);
            return base::invalid("found " + quoted_name(part) +
                                 ", wanted FIELD=COLUMN with one of the fields" + known);
        }
        std::string& name = own[static_cast<std::size_t>(field - kTraceFields.begin())];
        if (!name.empty()) {
            return base::invalid("found \"" + std::string(*field) + "\" twice, wanted it once");
        }
        name = column;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return own;
}

base::Result<TraceColumns> TraceColumns::of(Row header, std::string_view format_name,
                                            const OwnColumns& own) {
    std::vector<std::string> names;
    for (const std::string_view title : header) names.push_back(lower(title));
    const Format& format = choose(names, format_name, own);
    if (missing(names, format, own) > 0) {
        return base::fail(base::ErrorCode::NotFound, complaint(header, names, format, own));
    }
    TraceColumns columns;
    columns.unit_ = format.unit;
    for (std::size_t field = 0; field < kFields; ++field) {
        columns.places_[field] = place_of(names, format, own, field);
        if (columns.places_[field]) {
            columns.titles_[field] = header[*columns.places_[field]];
        } else if (!own[field].empty()) {
            return base::fail(base::ErrorCode::NotFound,
                              "missing column " + quoted_name(own[field]) + " (" +
                                  std::string(kTraceFields[field]) + "); found " + list_of(header));
        }
    }
    BERTH_TRY_VOID(one_for_each(header, names, format, own));
    BERTH_TRY_VOID(two_from_one(header, columns.places_));
    columns.count_ = header.size();
    columns.step_place_ = place_of(names, kStepColumn);
    for (const auto& place : columns.places_) {
        if (!place || std::ranges::count(names, names[*place]) == 1) continue;
        return base::invalid("found column " + quoted_name(header[*place]) +
                             " twice, wanted it once");
    }
    return columns;
}

std::string_view TraceColumns::cell(Row row, TraceField field) const {
    const auto place = places_[index(field)];
    return place && *place < row.size() ? row[*place] : std::string_view();
}

bool TraceColumns::is_cut(Row row) const {
    return std::ranges::any_of(std::span(places_).first(kFieldsNeeded),
                               [&](const auto& place) { return *place >= row.size(); });
}

bool TraceColumns::is_step(Row row) const {
    if (!step_place_ || *step_place_ >= row.size()) return false;
    const std::string_view id = row[*step_place_];
    const std::size_t dot = id.find('.');
    return dot != std::string_view::npos && id.find_first_not_of("0123456789_+") == dot &&
           dot + 1 < id.size();
}

}  // namespace berth::simulation
