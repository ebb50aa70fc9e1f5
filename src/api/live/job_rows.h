// SPDX-License-Identifier: Apache-2.0
//
// How do all jobs look, and which look other than before? What happens to a job is seen at once;
// what it is said to wait for changes with other jobs too, so each is looked at again in rounds.
// Why they wait is said apart from them, once for all that wait alike, and in which order by places
// that stay: what changes for ten thousand jobs at once is a few bytes.
//
// A viewer is a number: the revision that it has seen. Cost: a look O(kRowsPerLook); `since`
// O(rows).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/live/explanations.h"
#include "api/live/places.h"
#include "lifecycle/apply.h"

namespace berth::api {

inline constexpr std::size_t kRowsPerLook = 1'000;
inline constexpr std::size_t kRowsMax = 10'000;  // of jobs that wait; those that run are all there
inline constexpr std::size_t kEndedRowsMax = 100;
inline constexpr std::size_t kGoneMax = 10'000;  // that are remembered

// A job as it was looked at; texts are JSON.
struct JobLook {
    std::string line;  // what it is by itself
    std::string explanation = {};  // empty = it waits for nothing
    struct Position {
        std::int64_t queue = 0;
        int position = 0;
    };
    // In each queue in which it waits; the first one is what is said of it.
    std::vector<Position> positions = {};
};

class JobRows {
  public:
    using Revision = std::int64_t;
    using Write = std::function<JobLook(const model::JobRecord&)>;

    // Forgets all rows; revisions go on, so that none is taken for one before.
    void begin_anew();
    // Something happened to it, or it ended.
    void touch(model::JobId job) { touched_.insert(job); }
    // One that is no longer among the live ones; the newest stay.
    void put_ended(model::JobId job, std::string row);

    // Looks at jobs that were touched, then at the next of the round. `ended` is called for each
    // touched job that is none of the live ones.
    void look(const lifecycle::State& state, model::TimePoint now, const Write& write,
              const std::function<void(model::JobId)>& ended);

    // Of the newest change; 0 while not all jobs were looked at.
    Revision revision() const { return is_complete_ ? revision_ : 0; }
    // Every event up to this one is in the rows.
    std::int64_t sequence() const { return sequence_; }
    // What a viewer had seen to whom this was the last sequence that was said; 0 = not known any
    // more.
    Revision revision_at(std::int64_t sequence) const;
    // Rows and jobs without one that are new since then:
    //   {"whole":false,"rows":[...],"gone":[7],"more":0,"explanations":{"3":{...}}}
    // With `whole` there are no others; `more` jobs wait that have no row. A row that waits has the
    // number of its explanation and, for each queue, [queue, place]; a place of 0 comes with the
    // next round. Its position is that among the places of its first queue.
    std::string since(Revision revision) const;

  private:
    struct QueuePlace {
        std::int64_t queue = 0;
        int position = 0;
        Place place = 0;
    };
    struct Row {
        std::string line;
        Explanations::Number explanation = 0;
        std::vector<QueuePlace> places;
        Revision changed = 0;
    };

    void put(model::JobId job, JobLook look, bool is_in_round);
    void remove(model::JobId job);
    // False when there is no room for it.
    bool look_at(const model::JobRecord& record, const Write& write, bool is_in_round);
    void settle_queues();
    static std::vector<QueuePlace> places_in(const std::vector<JobLook::Position>& positions,
                                             const std::vector<QueuePlace>& before);
    void go_round(const lifecycle::State& state, model::TimePoint now, const Write& write);
    Revision next() const { return revision_ + 1; }

    std::map<model::JobId, Row> rows_;
    Explanations explanations_;
    std::set<model::JobId> touched_;
    std::deque<model::JobId> ended_;  // that have a row, the newest last
    std::deque<std::pair<Revision, model::JobId>> gone_;
    Revision forgotten_ = 0;  // the newest revision of which something gone is not remembered
    std::deque<std::pair<std::int64_t, Revision>> said_;  // sequence, and the revision then
    Revision revision_ = 0;
    std::int64_t sequence_ = -1;
    bool has_changed_ = false;  // in this look
    bool is_complete_ = false;
    model::JobId at_;  // of the round; looked at last
    bool is_round_over_ = false;
    std::int64_t round_sequence_ = -1;
    model::TimePoint round_began_;
    std::size_t left_out_ = 0;
    std::size_t left_out_now_ = 0;  // in this round
};

}  // namespace berth::api
