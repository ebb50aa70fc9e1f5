// SPDX-License-Identifier: Apache-2.0
#include "api/past/replay_desk.h"

#include <algorithm>
#include <utility>

namespace berth::api {

using model::ReplayState;

base::Result<std::int64_t> ReplayDesk::begin(simulation::RerunQuestion question) {
    const auto under_way = static_cast<std::size_t>(std::ranges::count_if(
        replays_, [](const auto& one) { return one.second.work != nullptr; }));
    if (under_way >= kReplaysAtOnce) {
        return base::fail(
            base::ErrorCode::Exhausted,
            std::to_string(under_way) + " replays are under way, as many as can be at once");
    }
    last_ = std::max(last_ + 1, base::to_ms(question.to));
    auto work = std::make_shared<simulation::Rerun>(std::move(question), open_log_);
    replays_[last_] = {work->answer(), std::move(work)};
    replays_[last_].known.id = last_;
    forget_oldest();
    go_on(last_);
    return last_;
}

const model::WhatIfReplay* ReplayDesk::find(std::int64_t id) const {
    const auto found = replays_.find(id);
    return found == replays_.end() ? nullptr : &found->second.known;
}

bool ReplayDesk::cancel(std::int64_t id) {
    const auto found = replays_.find(id);
    if (found == replays_.end()) return false;
    model::WhatIfReplay& known = found->second.known;
    if (!model::is_final(known.state)) known.state = ReplayState::Cancelled;
    return true;
}

void ReplayDesk::go_on(std::int64_t id) {
    Replay& replay = replays_.at(id);
    if (background_([work = replay.work] { work->turn(); }, [this, id] { came_back(id); })) return;
    replay.known.state = ReplayState::Failed;
    replay.known.problem = "too much else is asked of the server's other thread; ask again";
    replay.work.reset();
}

void ReplayDesk::came_back(std::int64_t id) {
    Replay& replay = replays_.at(id);
    if (replay.known.state == ReplayState::Cancelled) {
        // What it has piled up is put away over there.
        auto work = std::make_shared<std::shared_ptr<simulation::Rerun>>(std::move(replay.work));
        background_([work] { work->reset(); }, [] {});
        return;
    }
    replay.known = replay.work->answer();
    replay.known.id = id;
    if (!model::is_final(replay.known.state)) return go_on(id);
    replay.work.reset();
}

void ReplayDesk::forget_oldest() {
    while (replays_.size() > kReplaysKept) {
        const auto oldest = std::ranges::find_if(
            replays_, [](const auto& one) { return one.second.work == nullptr; });
        replays_.erase(oldest);
    }
}

}  // namespace berth::api
