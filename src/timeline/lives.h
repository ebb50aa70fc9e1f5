// SPDX-License-Identifier: Apache-2.0
//
// What was every job, and when? Folds the events of the log into the spans of all jobs (spans.h),
// and finds those that touch a time.
//
// Trusts: events in order, from any point of the log on; of a job that began before it, what its
// next event says. Guarantees: the spans of a job are those that spans.h makes of its events.
// Keeps all jobs that have not ended, and of those that have the kEndedKept that ended last.
// Cost: of an event O(tasks of its job + log jobs), of a question O(spans of all jobs).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/answer/cluster_timeline.h"
#include "timeline/spans.h"

namespace berth::timeline {

inline constexpr std::size_t kEndedKept = 20'000;
// Of the nodes of one gang these are remembered.
inline constexpr std::size_t kLifeNodesMax = 1'024;

// Which jobs, and when? Empty texts and no node: all.
struct SpansAsked {
    model::TimePoint from;
    model::TimePoint to;  // later than `from`
    std::string project = {};
    std::string user = {};
    std::optional<model::NodeId> node = {};  // that it was on
    model::JobId after{0};  // those behind that number
    std::size_t jobs_max = 1'000;
    std::size_t spans_max = 5'000;  // reached by one job, it is the last of its page
};

class Lives {
  public:
    // `begins_late`: the events are not those of the whole log.
    explicit Lives(bool begins_late = false) : begins_late_(begins_late) {}

    void read(const model::Event& event);

    // One page; no sentence, no `now` and nothing expected.
    model::ClusterTimeline page(const SpansAsked& asked) const;
    // "project/name"; empty: not known.
    std::string name_of(model::JobId job) const;
    std::size_t jobs() const { return jobs_.size(); }

  private:
    struct Life {
        std::string name;
        std::string project;
        std::string user;
        model::MilliGpu gpus{0};
        Spans spans{kLifeNodesMax};
    };

    void forget_oldest();

    bool begins_late_;
    std::optional<model::TimePoint> known_from_;
    std::map<model::JobId, Life> jobs_;
    std::set<std::pair<model::TimePoint, model::JobId>> ended_;
};

}  // namespace berth::timeline
