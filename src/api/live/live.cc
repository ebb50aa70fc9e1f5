// SPDX-License-Identifier: Apache-2.0
#include "api/live/live.h"

#include <algorithm>
#include <utility>

#include "codec/log/event_log.h"

namespace berth::api {
namespace {

constexpr base::Duration kOverviewKept{1'000};

// Its stream is with no connection any more.
bool has_gone(const std::shared_ptr<Feed>& feed) { return feed.use_count() == 1; }

}  // namespace

Stream::Piece Feed::next(std::function<void()> wake) {
    if (is_over_) return {};
    if (live_.is_full()) {
        wake_ = std::move(wake);
        return {};
    }
    static const Piece kSilence = std::make_shared<const std::string>(":\n\n");
    Piece piece = news();
    if (!piece && live_.now() >= said_ + kBeat) piece = kSilence;
    if (piece) said_ = live_.now();
    if (!piece) wake_ = std::move(wake);
    return piece;
}

void Feed::beat(int turn) {
    if (!wake_ || (turn_ != turn && !is_new_ && !is_over_)) return;
    is_new_ = false;
    std::exchange(wake_, {})();
}

void Feed::end() {
    is_over_ = true;
    beat(turn_);
}

bool Live::has_room(const Viewer& viewer, const std::string& owner) const {
    std::size_t alike = 0;
    const bool looks_only = !viewer.rights.has(Right::Submit);
    const bool is_guest = viewer.user != owner;
    for (const auto& feed : feeds_) {
        const Viewer& other = feed->viewer();
        if (is_guest && other.user == viewer.user) ++alike;
        if (!is_guest && looks_only && !other.rights.has(Right::Submit)) ++alike;
    }
    const std::size_t most = is_guest ? kGuestViewersMax : looks_only ? kLookersMax : kViewersMax;
    return feeds_.size() < kViewersMax && alike < most;
}

void Live::add(std::shared_ptr<Feed> feed) {
    if (feed->shows_jobs() && !shows_jobs()) rows_.begin_anew();
    feed->take_turn(next_turn_);
    next_turn_ = (next_turn_ + 1) % kTurns;
    feeds_.push_back(std::move(feed));
}

bool Live::shows_jobs() const {
    return std::ranges::any_of(feeds_, [](const auto& feed) { return feed->shows_jobs(); });
}

void Live::on_events(std::span<const model::Event> events) {
    if (!shows_jobs()) return;
    for (const model::Event& event : events) {
        if (const model::JobId job = codec::job_of(event.body); job.is_valid()) rows_.touch(job);
    }
}

void Live::beat(const Scene& scene) {
    now_ = scene.now;
    std::erase_if(feeds_, has_gone);
    if (shows_jobs()) rows_.look(scene.state, scene.now, scene.row, scene.put_ended);
    if (is_full()) make_room();
    turn_ = (turn_ + 1) % kTurns;
    const auto asked = feeds_;  // one may leave meanwhile
    for (const auto& feed : asked) {
        const std::string& session = feed->viewer().session;
        if (!session.empty() && !scene.has_session(session)) feed->end();
        feed->beat(turn_);
    }
}

// Who reads has taken its piece long before that. What the others have goes with their connections.
void Live::make_room() {
    for (const auto& feed : feeds_) {
        if (feed->is_slow(now_ - kSlow)) feed->end();
    }
}

void Live::end() {
    for (const auto& feed : std::exchange(feeds_, {})) feed->end();
}

void Live::renew_overview(const lifecycle::State& state) {
    if (overview_sequence_ == state.sequence) return;
    if (overview_sequence_ >= 0 && now_ < overview_made_ + kOverviewKept) return;
    overview_ = overview::overview_of(state);
    overview_sequence_ = state.sequence;
    overview_made_ = now_;
    ++overview_version_;
    if (said_.size() > kViewersMax) said_.clear();  // of users who have long gone
}

Stream::Piece Live::overview(const lifecycle::State& state, const std::string& user,
                             const WriteOverview& write) {
    renew_overview(state);
    Said& said = said_[user];
    if (std::exchange(said.version, overview_version_) == overview_version_) return said.piece;
    std::string text = write(overview_);
    if (!said.piece || *said.piece != text) said.piece = row_pieces_.make(std::move(text));
    return said.piece;
}

}  // namespace berth::api
