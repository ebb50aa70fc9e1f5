// SPDX-License-Identifier: Apache-2.0
#include "simulation/speed/speed_table.h"

#include <algorithm>
#include <charconv>

#include "codec/text/json.h"

namespace berth::simulation {
namespace {

using codec::Value;
using Job = SpeedTable::Job;

constexpr std::string_view kNoPartner = "null";

std::string file_line(std::string_view file, int line) {
    return std::string(file) + ":" + std::to_string(line) + ": ";
}

// "('LM (batch size 10)', 4)"
std::optional<Job> job_named(std::string_view text) {
    constexpr std::string_view kBegin = "('";
    constexpr std::string_view kBetween = "', ";
    constexpr std::string_view kEnd = ")";
    const std::size_t middle = text.rfind(kBetween);
    if (!text.starts_with(kBegin) || !text.ends_with(kEnd) || middle == std::string_view::npos) {
        return std::nullopt;
    }
    Job job{text.substr(kBegin.size(), middle - kBegin.size()), 0};
    const std::string_view gpus =
        text.substr(middle + kBetween.size(), text.size() - middle - kBetween.size() - 1);
    const auto [end, error] = std::from_chars(gpus.data(), gpus.data() + gpus.size(), job.second);
    if (error != std::errc() || end != gpus.data() + gpus.size()) return std::nullopt;
    return job;
}

std::optional<double> number(const Value* value) {
    double found = 0;
    if (!value || value->kind != Value::Kind::Number) return std::nullopt;
    const std::string& text = value->text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (error != std::errc() || end != text.data() + text.size() || found < 0) return std::nullopt;
    return found;
}

class TableReader {
  public:
    TableReader(const Value& root, std::string_view file) : root_(root), file_(file) {}

    base::Result<SpeedTable> read(std::span<const std::string> models) {
        table_.on_models.clear();
        for (const std::string& model : models) {
            const Value* together = root_.find(model);
            const Value* spread = root_.find(model + "_unconsolidated");
            if (!together || !spread) return has_no(model);
            table_.on_models.emplace_back();
            base::Status done = table_.on_models.size() == 1 ? read_first(*together, *spread)
                                                             : read_other(*together, *spread);
            if (!done) return tl::unexpected(done.error());
        }
        return std::move(table_);
    }

  private:
    base::Status read_first(const Value& together, const Value& spread) {
        for (const auto& [name, speeds] : together.members) {
            const auto job = job_named(name);
            if (!job)
                return wrong(speeds, "wanted a job such as ('LM', 4), found \"" + name + "\"");
            const auto alone = number(speeds.find(kNoPartner));
            if (!alone) return wrong(speeds, "wanted steps a second behind \"null\"");
            if (*alone == 0) continue;  // it was not measured
            full_speed_[*job] = {name, *alone};
            table_.on_models[0][*job] = {1, spread_part(name, *alone, spread).value_or(1)};
            for (const auto& [other, pair] : speeds.members) {
                const auto partner = job_named(other);
                if (!partner) continue;
                const auto speed = pair.items.size() == 2 ? number(&pair.items[0]) : std::nullopt;
                if (!speed) return wrong(pair, "wanted the steps a second of two jobs");
                table_.beside[{*job, *partner}] = std::min(1.0, *speed / *alone);
            }
        }
        return {};
    }

    base::Status read_other(const Value& together, const Value& spread) {
        for (const auto& [job, full] : full_speed_) {
            SpeedTable::Alone& here = table_.on_models.back()[job];
            const auto alone = speed_of(full.name, together);
            here = {alone.value_or(0) / full.speed, 0};
            if (here.together == 0) continue;
            here.spread =
                here.together *
                spread_part(full.name, *alone, spread).value_or(table_.on_models[0].at(job).spread);
        }
        return {};
    }

    static std::optional<double> speed_of(const std::string& name, const Value& jobs) {
        const Value* speeds = jobs.find(name);
        return number(speeds ? speeds->find(kNoPartner) : nullptr);
    }

    // Of its speed together, on the same model.
    static std::optional<double> spread_part(const std::string& name, double together,
                                             const Value& spread) {
        const auto speed = speed_of(name, spread);
        if (!speed || *speed == 0) return std::nullopt;
        return std::min(1.0, *speed / together);
    }

    tl::unexpected<base::Error> has_no(const std::string& model) const {
        constexpr std::string_view kSpread = "_unconsolidated";
        std::string known;
        for (const auto& [name, jobs] : root_.members) {
            if (root_.find(name + std::string(kSpread)))
                known += (known.empty() ? "" : ", ") + name;
        }
        return base::invalid(file_line(file_, root_.line) + "wanted \"" + model + "\" and \"" +
                             model + std::string(kSpread) + "\", found " +
                             (known.empty() ? "no model of GPU" : known));
    }

    base::Status wrong(const Value& at, const std::string& what) const {
        return base::invalid(file_line(file_, at.line) + what);
    }

    struct FullSpeed {
        std::string name;  // as the table writes the job
        double speed = 0;  // steps a second, together on the first model
    };

    const Value& root_;
    std::string_view file_;
    std::map<Job, FullSpeed> full_speed_;
    SpeedTable table_;
};

}  // namespace

SpeedTable::Alone SpeedTable::alone(const Job& job, std::size_t model) const {
    const auto& measured = on_models[model];
    const auto above = measured.upper_bound(job);
    if (above == measured.begin() || std::prev(above)->first.first != job.first) return {};
    return std::prev(above)->second;
}

base::Result<SpeedTable> parse_speed_table(std::string_view text, std::string_view file,
                                           std::span<const std::string> models) {
    const auto root = codec::parse_json(text, file);
    if (!root) return tl::unexpected(root.error());
    return TableReader(*root, file).read(models);
}

}  // namespace berth::simulation
