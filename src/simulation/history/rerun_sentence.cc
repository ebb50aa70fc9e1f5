// SPDX-License-Identifier: Apache-2.0
#include "simulation/history/rerun_sentence.h"

#include <algorithm>

#include "overview/spoken_time.h"

namespace berth::simulation {
namespace {

using model::ReplaySides;

std::string said(Duration time) {
    return overview::spoken(std::chrono::round<std::chrono::seconds>(time));
}

Duration difference(const ReplaySides& sides) {
    return sides.changed.mean_wait - sides.as_set.mean_wait;
}

// Less than a second, or a hundredth of the wait, is no difference.
bool is_felt(const ReplaySides& sides) {
    const Duration least = std::max(Duration{1'000}, sides.as_set.mean_wait / 100);
    return std::chrono::abs(difference(sides)) >= least;
}

std::string count_of(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string waits(const ReplaySides& all) {
    const std::string as_set = said(all.as_set.mean_wait);
    const std::string changed = said(all.changed.mean_wait);
    if (!is_felt(all) || as_set == changed) {
        return "Jobs would have waited as long on average, " + as_set;
    }
    return "Jobs would have waited " + changed + " on average, not " + as_set;
}

std::string pauses(const ReplaySides& all) {
    const std::int64_t now = all.as_set.pauses;
    const std::int64_t then = all.changed.pauses;
    if (now == then) return "";
    return ", with " + count_of(then, "pause") + " in place of " + std::to_string(now);
}

std::string winners_and_losers(const model::WhatIfReplay& answer) {
    if (answer.projects.size() < 2) return "";
    const ReplaySides& winner = answer.projects.front();
    const ReplaySides& loser = answer.projects.back();
    std::string text;
    if (difference(winner) < Duration{} && is_felt(winner)) {
        text += "; " + winner.project + " gains most, " + said(-difference(winner)) + " a job";
    }
    if (difference(loser) > Duration{} && is_felt(loser)) {
        text += "; " + loser.project + " loses most, " + said(difference(loser)) + " a job";
    }
    return text;
}

}  // namespace

std::string rerun_sentence(const model::WhatIfReplay& answer) {
    // What the others gain is no gain then.
    if (answer.never_end > 0) {
        const ReplaySides& loser = answer.projects.back();
        const std::int64_t its = loser.as_set.jobs - loser.changed.jobs;
        std::string text = count_of(answer.never_end, "job") + " would never have ended";
        if (answer.projects.size() > 1 && its > 0) {
            text += its == answer.never_end ? ", all of " + loser.project
                                            : ", " + std::to_string(its) + " of " + loser.project;
        }
        return text + ".";
    }
    if (answer.all.as_set.jobs == 0) return "No job has ended, so nothing can be compared.";
    return waits(answer.all) + pauses(answer.all) + winners_and_losers(answer) + ".";
}

std::string trust_sentence(const model::WhatIfReplay& answer) {
    const std::string both = "Both sides are simulated, from the same submissions and run times.";
    if (answer.all.as_set.jobs == 0) return both;
    return both + " As it was set, the simulation has jobs wait " +
           said(answer.all.as_set.mean_wait) + " on average; really they waited " +
           said(answer.all.really.mean_wait) + ".";
}

}  // namespace berth::simulation
