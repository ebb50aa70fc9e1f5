// SPDX-License-Identifier: Apache-2.0
//
// Whose pause costs a project the least, and who is protected for now? An account of the running
// preemptible jobs of one project, by their next units (units.h). Its lists are of the time before
// any trial; its sums are of now.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "base/sorted_runs.h"
#include "cluster/jobs/units.h"

namespace berth::cluster {

struct Losses {
    // [1]: those whose next unit a minimum run protects, [0]: all others.
    std::array<base::SortedRuns<LossKey>, 2> cheapest_first;
    base::SortedRuns<std::pair<TimePoint, JobId>> protected_until;
    std::uint64_t stamp = 0;  // another whenever one of the lists changes
    int jobs = 0;
    int protected_jobs = 0;
    MilliGpu protected_gpus{0};  // theirs at least, elastic tasks left aside
    MilliGpu largest{0};  // no unit was ever larger
};

// How long a job is protected after a start where no project says: rule R11.
struct MinimumRuns {
    model::Duration least{0};
    int restarts = 0;  // but this many of its restart costs

    bool operator==(const MinimumRuns&) const = default;
};

// Keeps such accounts, as of one time.
class LossBook {
  public:
    enum class InTrial { No, Yes };
    // Adds a job, or takes it out as it was added: sign +1 or -1.
    void count(Losses& losses, const Shape& shape, const Job& job, int sign, InTrial in_trial);
    // Where it is only later, what is said of jobs stays true but of those whose protection ends
    // meanwhile; else all have to be counted anew.
    bool is_only_later(const MinimumRuns& runs, TimePoint now) const {
        return runs == runs_ && now >= now_;
    }
    void set(const MinimumRuns& runs, TimePoint now);
    // Of the first one.
    void end_protection(Losses& losses, const Shape& shape, const Job& job);

  private:
    TimePoint protected_until(const Job& job) const;

    MinimumRuns runs_;
    TimePoint now_;
    std::uint64_t last_stamp_ = 0;
};

}  // namespace berth::cluster
