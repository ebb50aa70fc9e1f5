// SPDX-License-Identifier: Apache-2.0
//
// Whose memory can the next job class have? JobClasses come and go with every job that is tried.
#pragma once

#include <vector>

#include "cluster/jobs/queue.h"

namespace berth::cluster {

// Empty job classes, for the next ones: their memory is used again.
class FreeClasses {
  public:
    FreeClasses() = default;
    FreeClasses(const FreeClasses&) {}  // a copy begins without
    FreeClasses& operator=(const FreeClasses&) { return *this; }
    FreeClasses(FreeClasses&&) = default;
    FreeClasses& operator=(FreeClasses&&) = default;

    // The job class of this key, made where there is none.
    JobClass& at(JobClasses& job_classes, const JobClassKey& key);
    // Takes out the job class, which is empty.
    void close(JobClasses& job_classes, JobClasses::iterator job_class) {
        spare_.push_back(job_classes.extract(job_class));
    }

  private:
    std::vector<JobClasses::node_type> spare_;
};

}  // namespace berth::cluster
