// SPDX-License-Identifier: Apache-2.0
#include "api/past/moment_desk.h"

#include <algorithm>
#include <utility>

namespace berth::api {

base::Result<std::shared_ptr<Moment>> MomentDesk::Fold::moment() const {
    BERTH_TRY(policy_then, model::changed_policy(policy, log.state().policy));
    return std::make_shared<Moment>(at, log.state(), policy_then);
}

void MomentDesk::Fold::turn() {
    dropped.clear();
    found.reset();
    const auto is_there = log.fold_on(at);
    status = is_there ? base::Status{} : tl::unexpected(is_there.error());
    if (!status || !*is_there) return;
    auto made = moment();
    if (made) {
        found = std::move(*made);
    } else {
        status = tl::unexpected(made.error());
    }
}

void MomentDesk::ask(model::TimePoint at, Done done) {
    if (auto known = kept(at)) return done(std::move(known));
    waiting_.push_back({at, std::move(done)});
    if (is_away_) return;
    folded_ = 0;
    begin();
}

void MomentDesk::begin() {
    const model::TimePoint at = waiting_.front().at;
    fold_->at = at;
    fold_->dropped = std::exchange(dropped_, {});
    is_away_ = true;
    folded_ += fold_->log.limits().part;
    if (background_([fold = fold_] { fold->turn(); }, [this] { finish(); })) return;
    is_away_ = false;
    const base::Error error{base::ErrorCode::Exhausted, "too many questions wait for an answer"};
    while (!waiting_.empty()) answer(waiting_.front().at, tl::unexpected(error));
}

void MomentDesk::finish() {
    is_away_ = false;
    begins_ = fold_->log.begins();
    const bool is_known = !fold_->status || fold_->found;
    if (!is_known && folded_ < fold_->log.limits().question) return begin();
    const model::TimePoint at = fold_->at;
    if (!fold_->status) {
        answer(at, tl::unexpected(fold_->status.error()));
    } else if (fold_->found) {
        keep(fold_->found);
        answer(at, std::exchange(fold_->found, {}));
    } else {
        answer(at, base::fail(base::ErrorCode::Exhausted,
                              "the log is still being read: " +
                                  std::to_string(fold_->log.state().sequence) +
                                  " events up to now; ask again"));
    }
    folded_ = 0;
    if (!waiting_.empty() && !is_away_) begin();
}

// Of one that is asked for now, the other ones are older.
std::shared_ptr<Moment> MomentDesk::kept(model::TimePoint at) {
    const auto found = std::ranges::find(kept_, at, [](const auto& each) { return each->now; });
    if (found == kept_.end()) return {};
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
}

void MomentDesk::keep(const std::shared_ptr<Moment>& moment) {
    kept_.push_front(moment);
    if (kept_.size() > kMomentsKept) dropped_.splice(dropped_.end(), kept_, std::prev(kept_.end()));
}

// All who asked for that moment.
void MomentDesk::answer(model::TimePoint at, const base::Result<std::shared_ptr<Moment>>& found) {
    const auto others = std::ranges::stable_partition(
        waiting_, [&](const Waiting& waiting) { return waiting.at == at; });
    std::vector<Waiting> answered(std::make_move_iterator(waiting_.begin()),
                                  std::make_move_iterator(others.begin()));
    waiting_.erase(waiting_.begin(), others.begin());
    for (const Waiting& waiting : answered) waiting.done(found);
}

}  // namespace berth::api
