// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/demo_facts.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <variant>

namespace berth::cli {
namespace {

// Follows who holds what, event by event.
class Fold {
  public:
    DemoFacts run(std::span<const model::Event> events) {
        for (const model::Event& event : events) {
            time_ = event.time;
            std::visit([this](const auto& body) { take(body); }, event.body);
            note_extremes();
        }
        return std::move(facts_);
    }

  private:
    template <typename Other>
    void take(const Other&) {}

    void take(const model::JobSubmitted& event) {
        JobFacts& job = facts_.jobs[event.job];
        job.name = event.spec.name;
        job.project = event.spec.project;
        job.submitted = time_;
        ++waiting_[job.project];
        ++not_started_[job.project];
    }
    void take(const model::JobStarting& event) {
        JobFacts& job = facts_.jobs[event.job];
        job.attempts = event.attempt;
        held_[event.job] = event.tasks;
        if (event.attempt == 1) --not_started_[job.project];
        --waiting_[job.project];
        if (left_.contains(event.job)) job.away += time_ - left_[event.job];
        left_.erase(event.job);
    }
    void take(const model::JobRunning& event) {
        JobFacts& job = facts_.jobs[event.job];
        if (job.running) return;
        job.running = time_;
        job.wait = time_ - job.submitted;
    }
    void take(const model::JobPaused& event) {
        JobFacts& job = facts_.jobs[event.job];
        ++job.pauses;
        if (!event.saved) ++job.killed_pauses;
        leave(event.job, job);
    }
    void take(const model::AttemptLost& event) { leave(event.job, facts_.jobs[event.job]); }
    void take(const model::JobFinished& event) {
        facts_.jobs[event.job].succeeded = event.state == model::JobState::Succeeded;
        held_.erase(event.job);
    }

    void leave(model::JobId id, const JobFacts& job) {
        held_.erase(id);
        left_[id] = time_;
        ++waiting_[job.project];
    }

    void note_extremes() {
        model::MilliGpu all{0};
        std::map<std::string, model::MilliGpu> by_project;
        std::map<std::pair<model::NodeId, int>, model::MilliGpu> by_gpu;
        for (const auto& [id, tasks] : held_) {
            for (const model::TaskPlacement& task : tasks) {
                for (int gpu = 0; gpu < model::kGpusPerNodeMax; ++gpu) {
                    if ((task.gpu_mask >> gpu & 1U) == 0) continue;
                    all += task.share;
                    by_project[facts_.jobs[id].project] += task.share;
                    model::MilliGpu& held = by_gpu[{task.node, gpu}] += task.share;
                    facts_.gpu_held_max = std::max(facts_.gpu_held_max, held);
                }
            }
        }
        facts_.held_max = std::max(facts_.held_max, all);
        for (const auto& [project, count] : waiting_) {
            if (count <= 0 || not_started_[project] > 0) continue;
            const auto [lowest, is_new] = facts_.held_min.emplace(project, by_project[project]);
            if (!is_new) lowest->second = std::min(lowest->second, by_project[project]);
        }
    }

    DemoFacts facts_;
    base::TimePoint time_;
    std::map<model::JobId, std::vector<model::TaskPlacement>> held_;
    std::map<model::JobId, base::TimePoint> left_;
    std::map<std::string, int> waiting_;
    std::map<std::string, int> not_started_;
};

std::string ms(base::Duration duration) { return std::to_string(duration.count()) + " ms"; }

std::string seconds(base::Duration duration) {
    return base::format_thousandths(duration.count() / 100 * 100) + " s";
}

bool is_owner(const DemoStory& story, const JobFacts& job) {
    return std::find(story.owners.begin(), story.owners.end(), job.project) != story.owners.end();
}

Promise owners_served(const DemoStory& story, const DemoFacts& facts) {
    int jobs = 0;
    int served = 0;
    base::Duration longest{0};
    for (const auto& [id, job] : facts.jobs) {
        if (!is_owner(story, job)) continue;
        ++jobs;
        if (job.running && job.wait <= kOwnerWaitMax) ++served;
        longest = std::max(longest, job.wait);
    }
    return {jobs > 0 && served == jobs, "the owners' " + std::to_string(served) + " of " +
                                            std::to_string(jobs) + " jobs ran within " +
                                            ms(kOwnerWaitMax) + ": at most " + ms(longest) +
                                            " from submit to running"};
}

Promise paused_not_killed(const DemoStory& story, const DemoFacts& facts) {
    int pauses = 0;
    int killed = 0;
    int others = 0;
    for (const auto& [id, job] : facts.jobs) {
        (job.project == story.borrower ? pauses : others) += job.pauses;
        killed += job.killed_pauses;
    }
    return {pauses == 4 && killed == 0 && others == 0,
            std::to_string(pauses) + " of " + story.borrower +
                "'s jobs were paused for 4 owners' jobs, " + std::to_string(pauses - killed) +
                " saved in time, no other job was paused"};
}

Promise guarantee_held(const DemoStory& story, const DemoFacts& facts) {
    const auto lowest = facts.held_min.find(story.borrower);
    const model::MilliGpu held =
        lowest == facts.held_min.end() ? model::MilliGpu{0} : lowest->second;
    return {held >= story.quota, story.borrower + " never used fewer than " + base::format(held) +
                                     " GPUs while more of its jobs waited (quota " +
                                     base::format(story.quota) + ")"};
}

Promise nothing_lost(const DemoStory& story, const DemoFacts& facts,
                     const std::map<model::JobId, StepFacts>& steps) {
    StepFacts sum;
    bool is_kept = !steps.empty();
    int jobs = 0;
    for (const auto& [id, step] : steps) {
        const auto job = facts.jobs.find(id);
        if (job == facts.jobs.end() || job->second.project != story.borrower) continue;
        ++jobs;
        sum.done += step.done;
        sum.repeated += step.repeated;
        sum.missing += step.missing;
        is_kept = is_kept && step.last == story.steps;
    }
    is_kept = is_kept && sum.repeated == 0 && sum.missing == 0 && sum.done == jobs * story.steps;
    return {is_kept, "steps lost: " + std::to_string(sum.repeated + sum.missing) + "; " +
                         story.borrower + "'s " + std::to_string(jobs) + " jobs did " +
                         std::to_string(sum.done) + " steps, each of them once, despite " +
                         "their pauses"};
}

}  // namespace

DemoFacts facts_of(std::span<const model::Event> events) { return Fold().run(events); }

StepFacts steps_in(std::span<const std::string> logs) {
    constexpr std::string_view kWord = "step ";
    StepFacts facts;
    std::set<int> seen;
    for (const std::string& log : logs) {
        std::size_t start = 0;
        while (start < log.size()) {
            const std::size_t end = std::min(log.find('\n', start), log.size());
            const std::string_view line = std::string_view(log).substr(start, end - start);
            start = end + 1;
            if (!line.starts_with(kWord)) continue;
            int step = 0;
            const char* digits = line.data() + kWord.size();
            if (std::from_chars(digits, line.data() + line.size(), step).ec != std::errc())
                continue;
            if (!seen.insert(step).second) ++facts.repeated;
            facts.last = std::max(facts.last, step);
        }
    }
    facts.done = static_cast<int>(seen.size());
    facts.missing = facts.last - facts.done;
    return facts;
}

std::vector<Promise> judge(const DemoStory& story, const DemoFacts& facts,
                           const std::map<model::JobId, StepFacts>& steps) {
    int succeeded = 0;
    base::Duration longest_wait{0};
    base::Duration longest_away{0};
    for (const auto& [id, job] : facts.jobs) {
        if (job.succeeded) ++succeeded;
        longest_wait = std::max(longest_wait, job.wait);
        longest_away = std::max(longest_away, job.away);
    }
    const auto all = static_cast<int>(facts.jobs.size());
    return {
        {facts.held_max == story.gpus && facts.gpu_held_max == base::kWholeGpu,
         "all " + base::format(story.gpus) + " GPUs were used at once (" +
             base::format(facts.held_max) + " at most), and no GPU was used by two jobs"},
        owners_served(story, facts),
        paused_not_killed(story, facts),
        guarantee_held(story, facts),
        nothing_lost(story, facts, steps),
        {all > 0 && succeeded == all, std::to_string(succeeded) + " of " + std::to_string(all) +
                                          " jobs finished; longest wait to start " +
                                          ms(longest_wait) + ", longest pause " +
                                          seconds(longest_away)},
    };
}

}  // namespace berth::cli
