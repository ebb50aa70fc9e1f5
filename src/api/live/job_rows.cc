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
    row.position = look.position;
    const bool is_same = row.line == look.line && row.explanation == explanation &&
                         row.queue == look.queue && row.changed != 0;
    if (is_same) return;
    if (row.queue != look.queue) row.place = 0;
    row = {std::move(look.line), explanation, look.queue, look.position, row.place, next()};
    has_changed_ = true;
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
    std::map<std::int64_t, std::vector<Row*>> queues;
    for (auto& [job, row] : rows_)
        if (row.queue != 0) queues[row.queue].push_back(&row);
    for (auto& [queue, rows] : queues) {
        std::ranges::stable_sort(rows, {}, &Row::position);
        std::vector<Place> before;
        std::vector<Place*> places;
        for (Row* row : rows) {
            before.push_back(row->place);
            places.push_back(&row->place);
        }
        settle_places(places);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i]->place == before[i]) continue;
            rows[i]->changed = next();
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
        if (row.explanation == 0 && row.queue == 0) continue;
        text.back() = ',';
        text += "\"explanation\":" + std::to_string(row.explanation) +
                ",\"queue\":" + std::to_string(row.queue) +
                ",\"place\":" + std::to_string(row.place) + "}";
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
