// SPDX-License-Identifier: Apache-2.0
#include "recorded_life.h"

#include <fstream>
#include <set>
#include <string_view>

#include "companion_lines.h"
#include "contested_script.h"
#include "random_script.h"
#include "scenario/render.h"
#include "scenario/stage.h"

namespace berth::proof {
namespace {

constexpr int kEvents = 30;
constexpr model::Duration kWokenWithin{INT64_C(24) * 3600 * 1000};

// Verbs that ask for a plan, and verbs that ask for words about one.
const std::set<std::string, std::less<>> kDecides{"decide", "plan"};
const std::set<std::string, std::less<>> kExplains{"why",        "sum",   "when",
                                                   "suggestion", "order", "account"};

class Recorder {
  public:
    void play(const std::string& line) {
        const auto parsed = scenario::parse_script(line);
        if (parsed && parsed->commands.empty()) return;  // a comment
        Step step{line, {}, {}};
        if (!parsed) {
            step.plan.push_back("# refused: " + parsed.error().message);
        } else {
            answer(parsed->commands.front(), step);
        }
        life.push_back(std::move(step));
    }

    const scenario::Stage& stage() const { return stage_; }

    std::vector<Step> life;

  private:
    void answer(const scenario::Command& command, Step& step) {
        const auto printed = stage_.play(command);
        if (!printed) {
            step.plan.push_back("# refused: " + printed.error().message);
            return;
        }
        for (const std::string& line : *printed) {
            const bool explains = kExplains.contains(command.verb) || line.starts_with("wait ");
            (explains ? step.verdicts : step.plan).push_back("> " + line);
        }
        if (kDecides.contains(command.verb)) add_details(stage_.last_plan(), step.plan);
    }

    void add_details(const model::Plan& plan, std::vector<std::string>& lines) const {
        const auto add = [&](const model::JobId job, const std::string& what) {
            lines.push_back("# " + scenario::name_of(stage_.state(), job) + what);
        };
        for (const auto& start : plan.starts) add(start.job, ranks(start));
        for (const auto& held : plan.reservations) add(held.job, ranks(held));
        for (const auto& move : plan.moves) add(move.job, ranks(move) + cost(move));
        for (const auto& pause : plan.pauses) add(pause.job, cost(pause));
        for (const auto& backfill_reservation : plan.backfill) {
            add(backfill_reservation.job,
                " is in " + std::to_string(backfill_reservation.unknown) + " unknown ways");
        }
        if (!plan.next_wakeup) return;
        lines.push_back("# wakes in " + std::to_string((*plan.next_wakeup - stage_.now()).count()) +
                        "ms");
    }

    template <typename Action>
    std::string ranks(const Action& action) const {
        std::string text = " by rule " + std::to_string(static_cast<int>(action.rule));
        for (const model::TaskPlacement& task : action.tasks) {
            text += " " + std::to_string(task.task) + "@" +
                    scenario::places(stage_.state().cluster, {task});
        }
        return text;
    }

    template <typename Stop>
    static std::string cost(const Stop& stop) {
        return " loses " + std::to_string(stop.cost.unsaved_gpu_ms) + " + " +
               std::to_string(stop.cost.restart_gpu_ms) + " ms of a GPU" +
               (stop.is_wasteful ? ", against the budget" : "");
    }

    scenario::Stage stage_;
};

// Sometimes the next thing that happens is that time comes to the moment the plan names.
void sleep_until_woken(base::Rng& rng, Recorder& recorder) {
    const auto& wakeup = recorder.stage().last_plan().next_wakeup;
    if (!wakeup || !rng.chance(1, 3)) return;
    const model::Duration left = *wakeup - recorder.stage().now();
    if (left <= model::Duration{0} || left > kWokenWithin) return;
    recorder.play("advance " + std::to_string(left.count()) + "ms");
    recorder.play("decide");
}

}  // namespace

std::vector<Step> life_of_seed(std::uint64_t seed) {
    base::Rng rng(seed);
    const bool has_companions = seed % 2 == 0;
    const auto extended = [&](const std::string& line) {
        return has_companions ? with_companions(rng, line) : line;
    };
    const Setting setting = any_setting(rng);
    Recorder recorder;
    for (const std::string& line : setting.fixed) recorder.play(line);
    if (has_companions) {
        for (const auto& line : random_host_nodes(rng, setting.pools)) recorder.play(line);
    }
    for (const std::string& line : setting.shuffled) recorder.play(extended(line));
    recorder.play("decide");
    Course course;
    for (int i = 1; i <= kEvents; ++i) {
        const std::string event = random_event(rng, setting, recorder.stage().state(), course);
        recorder.play(extended(event));
        for (const auto& line : losses_by(event, recorder.stage().state())) recorder.play(line);
        if (event != "decide" && rng.chance(1, 2)) recorder.play("decide");
        sleep_until_woken(rng, recorder);
        if (i % 10 == 0) recorder.play("settle");
    }
    return recorder.life;
}

std::vector<Step> life_of_scenario(const std::filesystem::path& file) {
    Recorder recorder;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with('>')) recorder.play(line);
    }
    return recorder.life;
}

}  // namespace berth::proof
