// SPDX-License-Identifier: Apache-2.0
//
// Who is shown what changes while it changes? Each viewer is a stream that is asked for its next
// piece once a second, in turns, so that a thousand of them never hold up a decision for long.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/http/rights.h"
#include "api/http/stream.h"
#include "api/live/job_rows.h"
#include "api/live/pieces.h"
#include "model/event.h"
#include "overview/overview.h"

namespace berth::api {

inline constexpr std::size_t kViewersMax = 2'000;
inline constexpr std::size_t kLookersMax = 1'000;  // of them, that may only look
inline constexpr std::size_t kGuestViewersMax = 64;  // of one user who is not the server's
inline constexpr std::size_t kPieceBytesMax = 64 * 1024 * 1024;  // not taken yet, of all viewers
inline constexpr base::Duration kBeat{5'000};  // the longest silence
inline constexpr base::Duration kSlow{2'000};  // for a piece, when there is no room
inline constexpr int kTurns = 10;  // beats between two questions to one viewer

struct Viewer {
    std::string user;
    Rights rights;
    std::string session;  // its stream ends with it; empty = it has none
};

class Live;

// One viewer's stream; what it is shown is in `news`.
class Feed : public Stream {
  public:
    Feed(const Live& live, Viewer viewer) : live_(live), viewer_(std::move(viewer)) {}

    Piece next(std::function<void()> wake) final;
    bool is_over() const final { return is_over_; }

    // Asks it again, when it waits and it is its turn, or was asked once alone.
    void beat(int turn);
    void take_turn(int turn) { turn_ = turn; }
    void end();
    // It has not taken all of its last piece, which it got before then.
    bool is_slow(model::TimePoint before) const { return !wake_ && said_ < before; }
    virtual bool shows_jobs() const = 0;
    const Viewer& viewer() const { return viewer_; }

  protected:
    // What it has not been shown yet; null = nothing.
    virtual Piece news() = 0;

  private:
    const Live& live_;
    Viewer viewer_;
    std::function<void()> wake_;
    model::TimePoint said_;
    int turn_ = 0;
    bool is_new_ = true;
    bool is_over_ = false;
};

// What there is to show now.
struct Scene {
    const lifecycle::State& state;
    model::TimePoint now;
    JobRows::Write row;
    std::function<void(model::JobId)> put_ended;  // calls JobRows::put_ended, if it is known
    std::function<bool(const std::string&)> has_session;
};

class Live {
  public:
    // Whether one more such viewer has room.
    bool has_room(const Viewer& viewer, const std::string& owner) const;
    void add(std::shared_ptr<Feed> feed);
    // Rows are kept while there are viewers of jobs; the first one finds none.
    bool shows_jobs() const;

    void on_events(std::span<const model::Event> events);
    // To be called every kTick while is_empty() is false.
    void beat(const Scene& scene);
    void end();
    bool is_empty() const { return feeds_.empty(); }
    // Clients are to take some of what is there first.
    bool is_full() const { return row_pieces_.bytes() + event_pieces_.bytes() > kPieceBytesMax; }
    model::TimePoint now() const { return now_; }  // of the last beat

    JobRows& rows() { return rows_; }
    Pieces& row_pieces() { return row_pieces_; }
    Pieces& event_pieces() { return event_pieces_; }
    using WriteOverview = std::function<std::string(const overview::Overview&)>;
    // How things stand for that user, at most a second old: the same piece until it says another
    // thing.
    Stream::Piece overview(const lifecycle::State& state, const std::string& user,
                           const WriteOverview& write);

  private:
    struct Said {
        std::int64_t version = 0;
        Stream::Piece piece;
    };

    void renew_overview(const lifecycle::State& state);

    void make_room();

    std::vector<std::shared_ptr<Feed>> feeds_;
    JobRows rows_;
    Pieces row_pieces_;
    Pieces event_pieces_;
    overview::Overview overview_;
    std::int64_t overview_version_ = 0;
    std::map<std::string, Said> said_;  // by user
    std::int64_t overview_sequence_ = -1;
    model::TimePoint overview_made_;
    model::TimePoint now_;
    int turn_ = 0;
    int next_turn_ = 0;  // of the next viewer
};

}  // namespace berth::api
