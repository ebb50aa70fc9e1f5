// SPDX-License-Identifier: Apache-2.0
#include "simulation/speed_table.h"

#include <algorithm>
#include <charconv>

#include "codec/json.h"

namespace berth::simulation {
namespace {

using codec::Value;
using Job = SpeedTable::Job;

constexpr std::string_view kTogether = "v100";
constexpr std::string_view kSpread = "v100_unconsolidated";
constexpr std::string_view kAlone = "null";

std::string place(std::string_view file, int line) {
    return std::string(file) + ":" + std::to_string(line) + ": ";
}

// "('LM (batch size 10)', 4)"
std::optional<Job> job_named(std::string_view text) {
    constexpr std::string_view kBegin = "('", kBetween = "', ", kEnd = ")";
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

class Reader {
  public:
    explicit Reader(std::string_view file) : file_(file) {}

    base::Result<SpeedTable> read(const Value& root) {
        const Value* together = root.find(kTogether);
        const Value* spread = root.find(kSpread);
        if (!together || !spread) {
            return base::invalid(place(file_, root.line) + "wanted \"" + std::string(kTogether) +
                                 "\" and \"" + std::string(kSpread) + "\"");
        }
        for (const auto& [name, speeds] : together->members) {
            if (base::Status done = read_job(name, speeds, spread->find(name)); !done) {
                return tl::unexpected(done.error());
            }
        }
        return std::move(table_);
    }

  private:
    base::Status read_job(const std::string& name, const Value& speeds, const Value* apart) {
        const auto job = job_named(name);
        if (!job) return wrong(speeds, "wanted a job such as ('LM', 4), found \"" + name + "\"");
        const auto alone = number(speeds.find(kAlone));
        if (!alone) return wrong(speeds, "wanted steps a second behind \"null\"");
        if (*alone == 0) return {};  // it was not measured
        if (const auto speed = number(apart ? apart->find(kAlone) : nullptr)) {
            table_.spread[*job] = std::min(1.0, *speed / *alone);
        }
        for (const auto& [other, pair] : speeds.members) {
            const auto partner = job_named(other);
            if (!partner) continue;
            const auto speed = pair.items.size() == 2 ? number(&pair.items[0]) : std::nullopt;
            if (!speed) return wrong(pair, "wanted the steps a second of two jobs");
            table_.beside[{*job, *partner}] = std::min(1.0, *speed / *alone);
        }
        return {};
    }

    base::Status wrong(const Value& at, const std::string& what) const {
        return base::invalid(place(file_, at.line) + what);
    }

    std::string_view file_;
    SpeedTable table_;
};

}  // namespace

double SpeedTable::spread_of(const Job& job) const {
    const auto above = spread.upper_bound(job);
    if (above == spread.begin() || std::prev(above)->first.first != job.first) return 1;
    return std::prev(above)->second;
}

base::Result<SpeedTable> parse_speed_table(std::string_view text, std::string_view file) {
    const auto root = codec::parse_json(text, file);
    if (!root) return tl::unexpected(root.error());
    return Reader(file).read(*root);
}

}  // namespace berth::simulation
