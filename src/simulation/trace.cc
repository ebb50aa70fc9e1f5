// SPDX-License-Identifier: Apache-2.0
#include "simulation/trace.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "codec/words.h"

namespace berth::simulation {
namespace {

// How a format writes a time.
enum class Unit { Seconds, MillisecondsRounded, DateTime };

struct Format {
    std::string_view name;
    std::string_view submitted, work, gpus, project, user, job_name;
    Unit unit_submitted = Unit::Seconds;
    Unit unit_work = Unit::Seconds;
    std::string_view mark = {};  // a column that tells it from the others
    std::string_view kind = {}, pool = {};
};

constexpr Format kFormats[] = {
    {.name = "muri",
     .submitted = "submit_time",
     .work = "duration",
     .gpus = "num_gpu",
     .project = "",
     .user = "",
     .job_name = "model_name",
     .unit_submitted = Unit::MillisecondsRounded,
     .unit_work = Unit::MillisecondsRounded,
     .mark = "batch_size"},
    {"tiresias", "submit_time", "duration", "num_gpu", "", "", "model_name"},
    {"philly", "timestamp", "duration", "num_gpus", "cluster", "", "", Unit::DateTime},
    {"shockwave", "arrival_time_s", "duration_s", "scale_factor", "", "", "job_type"},
    {.name = "berth",
     .submitted = "submit_s",
     .work = "duration_s",
     .gpus = "gpus",
     .project = "project",
     .user = "user",
     .job_name = "name",
     .kind = "kind",
     .pool = "pool"},
};

constexpr auto kFormatNames = [] {
    std::array<std::string_view, std::size(kFormats)> names;
    std::ranges::transform(kFormats, names.begin(), &Format::name);
    return names;
}();

using Row = std::vector<std::string_view>;

// The cells of one line. A comma inside brackets or quotes does not part cells.
void split(std::string_view line, Row& cells) {
    cells.clear();
    std::size_t start = 0;
    bool is_quoted = false;
    for (std::size_t at = 0; at <= line.size(); ++at) {
        if (at < line.size() && line[at] == '"') is_quoted = !is_quoted;
        if (at < line.size() && (line[at] != ',' || is_quoted)) continue;
        std::string_view cell = line.substr(start, at - start);
        if (cell.size() > 1 && cell.front() == '"') cell = cell.substr(1, cell.size() - 2);
        cells.push_back(cell);
        start = at + 1;
    }
}

std::optional<std::int64_t> digits(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "2017-10-09 07:01:55", in a calendar without zones.
std::optional<std::int64_t> date_time_ms(std::string_view text) {
    constexpr std::string_view kForm = "2017-10-09 07:01:55";
    if (text.size() != kForm.size()) return std::nullopt;
    std::int64_t parts[6];
    constexpr std::size_t kStarts[] = {0, 5, 8, 11, 14, 17};
    for (std::size_t part = 0; part < 6; ++part) {
        const auto number = digits(text.substr(kStarts[part], part == 0 ? 4 : 2));
        if (!number) return std::nullopt;
        parts[part] = *number;
    }
    using namespace std::chrono;
    const sys_days day = year{static_cast<int>(parts[0])} / month{static_cast<unsigned>(parts[1])} /
                         std::chrono::day{static_cast<unsigned>(parts[2])};
    return duration_cast<milliseconds>(day.time_since_epoch() + hours{parts[3]} +
                                       minutes{parts[4]} + std::chrono::seconds{parts[5]})
        .count();
}

enum class Rounding { Down, Up };

std::optional<std::int64_t> time_ms(std::string_view text, Unit unit, Rounding rounding) {
    constexpr double kLongest = 1e12;  // seconds
    if (unit == Unit::DateTime) return date_time_ms(text);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!(value >= 0 && value < kLongest)) return std::nullopt;
    const auto rounded = [&](double exact) {
        return static_cast<std::int64_t>(rounding == Rounding::Up ? std::ceil(exact)
                                                                  : std::floor(exact));
    };
    return unit == Unit::Seconds ? rounded(value * 1000) : rounded(value / 1000) * 1000;
}

class Reader {
  public:
    Reader(const Format& format, const Row& header) : format_(format) {
        submitted_ = column(header, format.submitted);
        work_ = column(header, format.work);
        gpus_ = column(header, format.gpus);
        project_ = column(header, format.project);
        user_ = column(header, format.user);
        name_ = column(header, format.job_name);
        kind_ = column(header, format.kind);
        pool_ = column(header, format.pool);
    }

    // The column that is missing, or nothing.
    std::string_view missing() const {
        if (!submitted_) return format_.submitted;
        if (!work_) return format_.work;
        return gpus_ ? "" : format_.gpus;
    }

    // Errors: what is wrong, without the place.
    base::Result<TraceJob> read(const Row& row) const {
        TraceJob job;
        const auto submitted =
            time_ms(cell(row, submitted_), format_.unit_submitted, Rounding::Down);
        if (!submitted) return wrong(row, format_.submitted, submitted_, "a time");
        const auto work = time_ms(cell(row, work_), format_.unit_work, Rounding::Up);
        if (!work) return wrong(row, format_.work, work_, "a duration");
        const auto gpus = digits(cell(row, gpus_));
        if (!gpus || *gpus < 0 || *gpus > kGpusMax) {
            return wrong(row, format_.gpus, gpus_, "a number of GPUs");
        }
        job.submitted = base::at_ms(*submitted);
        job.work = Duration{*work};
        job.gpus = static_cast<std::int32_t>(*gpus);
        job.project = cell(row, project_);
        job.user = cell(row, user_);
        job.name = cell(row, name_);
        job.pool = cell(row, pool_);
        if (const std::string_view text = cell(row, kind_); !text.empty()) {
            const auto kind = codec::from_word<model::JobKind>(text);
            if (!kind) return wrong(row, format_.kind, kind_, kKinds);
            job.kind = *kind;
        }
        return job;
    }

  private:
    static constexpr std::int64_t kGpusMax = 1'000'000;
    static constexpr std::string_view kKinds = "build, train or inference";
    using Column = std::optional<std::size_t>;

    static Column column(const Row& header, std::string_view name) {
        const auto found = std::ranges::find(header, name);
        if (name.empty() || found == header.end()) return std::nullopt;
        return static_cast<std::size_t>(found - header.begin());
    }

    static std::string_view cell(const Row& row, Column column) {
        return column && *column < row.size() ? row[*column] : std::string_view();
    }

    static tl::unexpected<base::Error> wrong(const Row& row, std::string_view name, Column column,
                                             std::string_view wanted) {
        return base::invalid(std::string(name) + ": wanted " + std::string(wanted) + ", found \"" +
                             std::string(cell(row, column)) + "\"");
    }

    const Format& format_;
    Column submitted_, work_, gpus_, project_, user_, name_, kind_, pool_;
};

const Format* format_of(std::string_view wanted, const Row& header) {
    for (const Format& format : kFormats) {
        if (!wanted.empty() && format.name != wanted) continue;
        const bool fits = Reader(format, header).missing().empty() &&
                          (format.mark.empty() || std::ranges::count(header, format.mark) > 0);
        if (fits || !wanted.empty()) return &format;
    }
    return nullptr;
}

// Takes the next line, without its end, off the front of `text`.
std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

std::string place(std::string_view file, int line) {
    return std::string(file) + ":" + std::to_string(line) + ": ";
}

}  // namespace

std::span<const std::string_view> trace_formats() { return kFormatNames; }

base::Result<Trace> parse_trace(std::string_view text, std::string_view format_name,
                                std::string_view file) {
    Row row;
    std::optional<Reader> reader;
    std::optional<ProfileColumns> profiles;
    Trace trace;
    for (int line = 1; !text.empty(); ++line) {
        const std::string_view content = next_line(text);
        if (content.empty()) continue;
        split(content, row);
        if (!reader) {
            const Format* format = format_of(format_name, row);
            if (!format) {
                return base::invalid(place(file, line) +
                                     "no known trace has these columns; wanted, for " +
                                     "example: submit_s,duration_s,gpus");
            }
            reader.emplace(*format, row);
            profiles.emplace(row);
            if (reader->missing().empty()) continue;
            return base::invalid(place(file, line) + "no column \"" +
                                 std::string(reader->missing()) + "\", which a " +
                                 std::string(format->name) + " trace has");
        }
        auto job = reader->read(row);
        if (!job) return base::invalid(place(file, line) + job.error().message);
        const auto profile = profiles->read(row);
        if (!profile) return base::invalid(place(file, line) + profile.error().message);
        job->profile = *profile;
        if (job->gpus > 0 && job->work.count() > 0) trace.push_back(std::move(*job));
    }
    if (!reader)
        return base::invalid(place(file, 1) + "wanted a line of column names, found nothing");
    std::ranges::stable_sort(trace, {}, &TraceJob::submitted);
    return trace;
}

base::Result<std::vector<std::int64_t>> parse_sizes(std::string_view text, std::string_view file) {
    std::vector<std::int64_t> sizes;
    for (int line = 1; !text.empty(); ++line) {
        const std::string_view content = next_line(text);
        const auto size = time_ms(content, Unit::Seconds, Rounding::Up);
        if (size) {
            sizes.push_back(*size);
        } else if (line > 1 && !content.empty()) {
            return base::invalid(place(file, line) + "wanted GPU-seconds, found \"" +
                                 std::string(content) + "\"");
        }
    }
    if (sizes.empty()) return base::invalid(place(file, 1) + "wanted GPU-seconds, found none");
    return sizes;
}

}  // namespace berth::simulation
