// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace/trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "codec/words/words.h"
#include "model/limits.h"
#include "simulation/trace/table_text.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kKinds = "build, train or inference";
constexpr std::int64_t kMilliPerGpu = 1000;

std::string place(std::string_view file, int line) {
    return std::string(file) + ":" + std::to_string(line) + ": ";
}

// Text of people as a name may be: no control characters, not too long, no part of a letter.
std::string as_name(std::string_view text) {
    std::string name;
    while (!text.empty() && name.size() < model::kNameBytesMax) {
        const std::size_t control = model::control_length(text);
        if (control == 0) name += text.front();
        text.remove_prefix(std::max<std::size_t>(control, 1));
    }
    const auto is_inside_letter = [](char byte) { return (byte & 0xC0) == 0x80; };
    if (!text.empty() && is_inside_letter(text.front())) {
        while (!name.empty() && is_inside_letter(name.back())) name.pop_back();
        if (!name.empty()) name.pop_back();
    }
    // What stood on both sides of one may be another one.
    return name.empty() || model::is_name(name) ? name : as_name(name);
}

std::optional<std::int64_t> gpu_ms(std::string_view seconds) {
    constexpr double kMost = 1e12;
    double value = 0;
    const char* const last = seconds.data() + seconds.size();
    const auto [end, error] = std::from_chars(seconds.data(), last, value);
    if (error != std::errc() || end != last || !(value >= 0 && value < kMost)) return std::nullopt;
    return static_cast<std::int64_t>(std::ceil(value * 1000));
}

class RowReader {
  public:
    RowReader(TraceColumns columns, TraceColumns::Row header)
        : columns_(std::move(columns)), profiles_(lowered(header)) {}

    // Nothing, counted in `parsed`, when the row is no job. Errors: Invalid, without the place.
    base::Result<std::optional<TraceJob>> read(TraceColumns::Row row, ParsedTrace& parsed) const {
        LeftOut& left_out = parsed.left_out;
        const std::string found = "found " + std::to_string(row.size()) + " cells, ";
        if (columns_.is_cut(row)) {
            return base::invalid(found + "fewer than the line of column names; is it cut off?");
        }
        if (row.size() > columns_.count()) {
            return base::invalid(found + "more than the " + std::to_string(columns_.count()) +
                                 " names of columns; does a cell hold the separator?");
        }
        if (columns_.is_step(row)) return left_out_as(left_out.steps);
        TraceJob job;
        const std::string_view asked = columns_.cell(row, TraceField::Gpus);
        if (asked.empty()) return left_out_as(left_out.without_gpus);
        const auto gpus = gpus_of(asked);
        if (!gpus) return wrong(row, TraceField::Gpus, kGpuForms);
        const std::int64_t milli = gpus->amount.value;
        const bool is_part = milli > 0 && milli < kMilliPerGpu;
        const std::string_view took = columns_.cell(row, TraceField::Duration);
        const auto work = took.empty() ? 0 : duration_of(took, columns_.unit());
        if (!work) return wrong(row, TraceField::Duration, duration_forms(columns_.unit()));
        const auto at = moment_of(columns_.cell(row, TraceField::Submit), columns_.unit());
        if (!at) return wrong(row, TraceField::Submit, moment_forms(columns_.unit()));
        job.submitted = base::at_ms(*at);
        job.work = Duration{*work};
        job.gpus = is_part ? 1 : static_cast<std::int32_t>(milli / kMilliPerGpu);
        if (is_part) job.share = gpus->amount;
        job.project = as_name(columns_.cell(row, TraceField::Project));
        job.user = as_name(columns_.cell(row, TraceField::User));
        job.name = as_name(columns_.cell(row, TraceField::Name));
        job.command = columns_.cell(row, TraceField::Command);
        job.pool = columns_.cell(row, TraceField::Pool);
        if (const std::string_view text = columns_.cell(row, TraceField::Kind); !text.empty()) {
            const auto kind = codec::from_word<model::JobKind>(lower(text));
            if (!kind) return wrong(row, TraceField::Kind, kKinds);
            job.kind = *kind;
        }
        BERTH_TRY(profile, profiles_.read(row));
        job.profile = profile;
        if (job.gpus == 0) return left_out_as(left_out.without_gpus);
        if (job.work.count() == 0) return left_out_as(left_out.without_duration);
        if (gpus->is_rounded) ++parsed.rounded;
        return job;
    }

  private:
    static ProfileColumns lowered(TraceColumns::Row header) {
        std::vector<std::string> names;
        for (const std::string_view title : header) names.push_back(lower(title));
        return ProfileColumns(std::vector<std::string_view>(names.begin(), names.end()));
    }

    static std::optional<TraceJob> left_out_as(std::int64_t& why) {
        ++why;
        return std::nullopt;
    }

    tl::unexpected<base::Error> wrong(TraceColumns::Row row, TraceField field,
                                      std::string_view wanted) const {
        constexpr std::size_t kShownMax = 60;
        return base::invalid("column \"" + std::string(columns_.title(field)) + "\": found \"" +
                             std::string(columns_.cell(row, field).substr(0, kShownMax)) +
                             "\", wanted " + std::string(wanted));
    }

    TraceColumns columns_;
    ProfileColumns profiles_;
};

}  // namespace

std::string LeftOut::text() const {
    if (rows() == 0) return "";
    std::string text;
    const auto add = [&](std::int64_t count, const char* what) {
        if (count == 0) return;
        text += (text.empty() ? "" : ", ") + std::to_string(count) + what;
    };
    add(without_gpus, " without GPUs");
    add(without_duration, " without duration");
    add(steps, steps == 1 ? " step of another job" : " steps of other jobs");
    return std::to_string(rows()) + (rows() == 1 ? " row" : " rows") + " left out: " + text;
}

std::string ParsedTrace::note() const {
    const std::string text = left_out.text();
    if (rounded == 0) return text;
    return text + (text.empty() ? "" : "; ") + std::to_string(rounded) +
           (rounded == 1 ? " part of a GPU" : " parts of GPUs") + " rounded to thousandths";
}

base::Result<ParsedTrace> parse_trace(std::string_view text, const TraceFile& file) {
    TableText table(text);
    std::optional<RowReader> reader;
    ParsedTrace parsed;
    const auto failed = [&](const base::Error& error) {
        return base::fail(error.code, place(file.file, std::max(table.line(), 1)) + error.message);
    };
    while (true) {
        const auto is_there = table.next();
        if (!is_there) return failed(is_there.error());
        if (!*is_there) break;
        if (!reader) {
            const auto columns = TraceColumns::of(table.cells(), file.format, file.columns);
            if (!columns) return failed(columns.error());
            reader.emplace(*columns, table.cells());
            continue;
        }
        auto job = reader->read(table.cells(), parsed);
        if (!job) return failed(job.error());
        if (*job) parsed.jobs.push_back(std::move(**job));
    }
    if (!reader) {
        return base::invalid(
            place(file.file, 1) +
            "found nothing, wanted a line of column names; formats: " + trace_formats_text());
    }
    std::ranges::stable_sort(parsed.jobs, {}, &TraceJob::submitted);
    if (parsed.jobs.empty()) return parsed;
    const Duration start = parsed.jobs.front().submitted.time_since_epoch();
    for (TraceJob& job : parsed.jobs) job.submitted -= start;
    return parsed;
}

base::Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view file) {
    std::vector<std::int64_t> sizes;
    TableText table(text);
    for (bool is_first = true;; is_first = false) {
        const auto is_there = table.next();
        if (!is_there) return base::invalid(place(file, 1) + is_there.error().message);
        if (!*is_there) break;
        const auto size = gpu_ms(table.cells().front());
        if (size) {
            sizes.push_back(*size);
        } else if (!is_first) {
            return base::invalid(place(file, table.line()) + "wanted GPU-seconds, found \"" +
                                 std::string(table.cells().front()) + "\"");
        }
    }
    if (sizes.empty()) return base::invalid(place(file, 1) + "wanted GPU-seconds, found none");
    return sizes;
}

}  // namespace berth::simulation
