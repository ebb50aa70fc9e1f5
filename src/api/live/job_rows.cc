// SPDX-License-Identifier: Apache-2.0
#include "api/live/job_rows.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::api {
namespace {

// At most one round in this time for each thousand rows: one job that comes changes the position of
// all behind it. Without an event one in that, for what depends on the time.
constexpr base::Duration kRoundOnce{1'000};
constexpr base::Duration kRoundAgain{10'000};
constexpr std::size_t kSaidMax = 1'000;

}  // namespace

void JobRows::begin_anew() {
    const Revision last = revision_;
    *this = {};
    revision_ = last;
    forgotten_ = last;
}

void JobRows::put(model::JobId job, JobLook look, bool is_in_round) {
    Row& row = rows_[job];
    const auto explanation =
        explanations_.settle(row.explanation, look.explanation, is_in_round, next());
    if (explanations_.has_changed(next())) has_changed_ = true;
    const bool waits_elsewhere = !std::ranges::equal(row.places, look.positions, {},
                                                     &QueuePlace::queue, &JobLook::Position::queue);
    const bool is_same = row.line == look.line && row.explanation == explanation &&
                         !waits_elsewhere && row.changed != 0;
    if (waits_elsewhere) row.places = places_in(look.positions, row.places);
    for (std::size_t i = 0; i < row.places.size(); ++i)
        row.places[i].position = look.positions[i].position;
    if (is_same) return;
    row.line = std::move(look.line);
    row.explanation = explanation;
    row.changed = next();
    has_changed_ = true;
}

// Those of queues in which it goes on waiting stay.
std::vector<JobRows::QueuePlace> JobRows::places_in(const std::vector<JobLook::Position>& positions,
                                                    const std::vector<QueuePlace>& before) {
    std::vector<QueuePlace> places;
    for (const JobLook::Position& one : positions) {
        const auto known = std::ranges::find(before, one.queue, &QueuePlace::queue);
        places.push_back({one.queue, one.position, known == before.end() ? 0 : known->place});
    }
    return places;
}

void JobRows::remove(model::JobId job) {
    const auto found = rows_.find(job);
    if (found == rows_.end()) return;
    explanations_.settle(found->second.explanation, {}, false, next());
    rows_.erase(found);
    gone_.emplace_back(next(), job);
    has_changed_ = true;
    if (gone_.size() <= kGoneMax) return;
    forgotten_ = gone_.front().first;
    gone_.pop_front();
}

void JobRows::put_ended(model::JobId job, std::string row) {
    put(job, {std::move(row)}, false);
    if (std::ranges::find(ended_, job) == ended_.end()) ended_.push_back(job);
    if (ended_.size() <= kEndedRowsMax) return;
    remove(ended_.front());
    ended_.pop_front();
}

bool JobRows::look_at(const model::JobRecord& record, const Write& write, bool is_in_round) {
    const bool has_room = rows_.size() < kRowsMax + ended_.size();
    if (!has_room && record.tasks.empty() && !rows_.contains(record.id)) return false;
    put(record.id, write(record), is_in_round);
    return true;
}

void JobRows::look(const lifecycle::State& state, model::TimePoint now, const Write& write,
                   const std::function<void(model::JobId)>& ended) {
    has_changed_ = false;
    for (std::size_t i = 0; i < kRowsPerLook && !touched_.empty(); ++i) {
        const model::JobId job = touched_.extract(touched_.begin()).value();
        const auto found = state.jobs.find(job);
        if (found == state.jobs.end()) {
            ended(job);
        } else {
            look_at((*found).second, write, false);
        }
    }
    go_round(state, now, write);
    if (has_changed_) ++revision_;
    if (!touched_.empty() || sequence_ == state.sequence) return;
    // The first one may be what another server said last, whose rows these are not.
    if (std::exchange(sequence_, state.sequence) < 0) return;
    said_.emplace_back(sequence_, revision_);
    if (said_.size() > kSaidMax) said_.pop_front();
}

void JobRows::go_round(const lifecycle::State& state, model::TimePoint now, const Write& write) {
    if (is_round_over_) {
        const bool is_same = round_sequence_ == state.sequence;
        const auto thousands = static_cast<std::int64_t>(rows_.size() / kRowsPerLook);
        const base::Duration once = kRoundOnce * std::max<std::int64_t>(thousands, 1);
        if (now < round_began_ + (is_same ? std::max(kRoundAgain, once) : once)) return;
        is_round_over_ = false;
    }
    if (!at_.is_valid()) {
        round_sequence_ = state.sequence;
        round_began_ = now;
        left_out_now_ = 0;
        explanations_.begin_round();
    }
    auto at = at_.is_valid() ? state.jobs.upper_bound(at_) : state.jobs.begin();
    for (std::size_t i = 0; i < kRowsPerLook && at != state.jobs.end(); ++i, ++at) {
        at_ = (*at).first;
        if (!look_at((*at).second, write, true)) ++left_out_now_;
    }
    if (at != state.jobs.end()) return;
    at_ = {};
    is_round_over_ = true;
    settle_queues();
    has_changed_ = has_changed_ || !is_complete_ || left_out_ != left_out_now_;
    is_complete_ = true;
    left_out_ = left_out_now_;
}

void JobRows::settle_queues() {
    struct Waiting {
        Row* row;
        QueuePlace* at;
    };
    std::map<std::int64_t, std::vector<Waiting>> queues;
    for (auto& [job, row] : rows_)
        for (QueuePlace& at : row.places) queues[at.queue].push_back({&row, &at});
    for (auto& [queue, waiting] : queues) {
        std::ranges::stable_sort(waiting, {}, [](const Waiting& one) { return one.at->position; });
        std::vector<Place> before;
        std::vector<Place*> places;
        for (const Waiting& one : waiting) {
            before.push_back(one.at->place);
            places.push_back(&one.at->place);
        }
        settle_places(places);
        for (std::size_t i = 0; i < waiting.size(); ++i) {
            if (waiting[i].at->place == before[i]) continue;
            waiting[i].row->changed = next();
            has_changed_ = true;
        }
    }
}

JobRows::Revision JobRows::revision_at(std::int64_t sequence) const {
    const auto found =
        std::ranges::lower_bound(said_, sequence, {}, &std::pair<std::int64_t, Revision>::first);
    return found == said_.end() || found->first != sequence ? 0 : found->second;
}

std::string JobRows::since(Revision revision) const {
    const bool is_whole = revision <= 0 || revision < forgotten_ || revision > revision_;
    std::string text = R"({"whole":)";
    text += is_whole ? "true" : "false";
    text += R"(,"rows":[)";
    bool is_first = true;
    for (const auto& [job, row] : rows_) {
        if (!is_whole && row.changed <= revision) continue;
        if (!is_first) text += ',';
        is_first = false;
        text += row.line;
        if (row.explanation == 0 && row.places.empty()) continue;
        text.back() = ',';
        text += "\"explanation\":" + std::to_string(row.explanation) + ",\"places\":[";
        for (const QueuePlace& at : row.places) {
            if (!text.ends_with('[')) text += ',';
            text += "[" + std::to_string(at.queue) + "," + std::to_string(at.place) + "]";
        }
        text += "]}";
    }
    text += R"(],"gone":[)";
    is_first = true;
    for (const auto& [changed, job] : gone_) {
        if (is_whole || changed <= revision || rows_.contains(job)) continue;
        if (!is_first) text += ',';
        is_first = false;
        text += std::to_string(job.value);
    }
    return text + R"(],"more":)" + std::to_string(left_out_) + R"(,"explanations":)" +
           explanations_.since(is_whole ? 0 : revision) + "}";
}

}  // namespace berth::api
