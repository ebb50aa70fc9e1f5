// SPDX-License-Identifier: Apache-2.0
#include "simulation/audit.h"

#include <algorithm>

namespace berth::simulation {
namespace {

constexpr std::size_t kComplaintsMax = 10;

class Auditor {
  public:
    Auditor(const Experiment& experiment, const Replay& replay)
        : experiment_(experiment),
          replay_(replay),
          busy_until_(static_cast<std::size_t>(experiment.machines.gpus()), TimePoint::min()),
          jobs_(experiment.trace.size()) {}

    std::vector<std::string> complaints() {
        std::vector<const Stay*> stays;
        for (const Stay& stay : replay_.stays) stays.push_back(&stay);
        std::ranges::stable_sort(stays, {}, &Stay::from);
        for (const Stay* stay : stays) look_at(*stay);
        for (std::size_t job = 0; job < jobs_.size(); ++job) look_at_sum(job);
        return std::move(found_);
    }

  private:
    struct Seen {
        TimePoint last = TimePoint::min();
        Duration held{};
        int stays = 0;
    };

    void look_at(const Stay& stay) {
        const auto number = static_cast<std::size_t>(stay.job);
        const TraceJob& job = experiment_.trace[number];
        Seen& seen = jobs_[number];
        check(stay.from <= stay.to && stay.from >= job.submitted, number, "time runs backwards");
        check(seen.last <= stay.from, number, "it runs twice at once");
        for (const std::int32_t gpu : replay_.gpus_of(stay, job.gpus)) {
            TimePoint& busy_until = busy_until_[static_cast<std::size_t>(gpu)];
            check(busy_until <= stay.from, number, "GPU " + std::to_string(gpu) + " is not free");
            // Held by this stay from now on: a list that names it twice finds it busy.
            busy_until = std::max(stay.to, stay.from + Duration{1});
        }
        if (stay.from == stay.to) release(stay, job.gpus);
        seen.last = stay.to;
        seen.held += stay.to - stay.from;
        ++seen.stays;
    }

    // A stay of no length holds nothing.
    void release(const Stay& stay, std::int32_t gpus) {
        for (const std::int32_t gpu : replay_.gpus_of(stay, gpus)) {
            busy_until_[static_cast<std::size_t>(gpu)] = stay.to;
        }
    }

    void look_at_sum(std::size_t number) {
        const JobRecord& record = replay_.jobs[number];
        const Seen& seen = jobs_[number];
        const Duration work = experiment_.trace[number].work;
        check(record.held == seen.held, number, "its time on GPUs is not the sum of its stays");
        if (!record.end) return;
        const Duration restarts = experiment_.restart_cost * (seen.stays - 1);
        check(seen.held >= work && seen.held <= work + restarts, number,
              "ended after " + base::format(seen.held) + " on GPUs for " + base::format(work) +
                  " of work");
        check(*record.end == seen.last, number, "its end is not that of its last stay");
    }

    void check(bool holds, std::size_t job, const std::string& complaint) {
        if (holds || found_.size() == kComplaintsMax) return;
        found_.push_back("job " + std::to_string(job) + ": " + complaint);
    }

    const Experiment& experiment_;
    const Replay& replay_;
    std::vector<TimePoint> busy_until_;
    std::vector<Seen> jobs_;
    std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> audit(const Experiment& experiment, const Replay& replay) {
    return Auditor(experiment, replay).complaints();
}

}  // namespace berth::simulation
