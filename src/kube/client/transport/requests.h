// SPDX-License-Identifier: Apache-2.0
//
// How are requests sent? Over kept connections, a limited number of them at once, the others in a
// queue. A request lives from the moment it is handed over: time in the queue counts, and after
// NotSent or Unknown at the end of its time nothing of it will be sent. What goes first (Leases)
// waits for none of the others: who leads goes on leading, however much is to be written.
//
// A long answer (watch) has a connection of its own and comes in pieces.
// For one thread: that of the timers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "kube/client/identity/credentials.h"
#include "kube/client/transport/channel.h"
#include "kube/client/transport/connection.h"
#include "kube/client/transport/outcome.h"
#include "kube/client/transport/timers.h"

namespace berth::kube::client {

inline constexpr base::Duration kWritePatience = std::chrono::seconds(4);
inline constexpr base::Duration kReadPatience = std::chrono::seconds(10);
// Closed by us before the server does (90 s), which a request could meet half-way.
inline constexpr base::Duration kIdleConnectionMax = std::chrono::seconds(30);
inline constexpr std::size_t kConnectionsMax = 16;
inline constexpr std::size_t kWaitingMax = 65'536;
inline constexpr std::size_t kAnswerBytesMax = std::size_t{64} << 20;

enum class Method { Get, Post, Put, Patch, Delete };

struct Request {
    Method method = Method::Get;
    std::string target;  // /api/v1/pods?limit=500
    std::string body = {};
    std::string_view content_type = "application/json";
    std::string room = {};  // where the answer goes: a body that was read before, for its memory
    bool goes_first = false;  // past all that wait, on a connection more where it must

    Effect effect() const { return method == Method::Get ? Effect::None : Effect::Write; }
    base::Duration patience() const {
        return method == Method::Get ? kReadPatience : kWritePatience;
    }
};

// A long answer. Destroying it ends the exchange, and nothing is called any more.
class LongAnswer {
  public:
    virtual ~LongAnswer() = default;
};

class Requests {
  public:
    using Done = std::function<void(Outcome)>;
    // False: no more of the answer is wanted.
    using Piece = std::function<bool(std::string_view)>;

    Requests(const Access& access, Dialer& dialer, Credentials& credentials, Timers& timers);
    ~Requests();

    // `done` is called once, never before this returns; not at all when Requests goes before.
    void send(Request request, Done done);

    // `piece` gets what a 2xx answer brings, and must not destroy it; `done` tells its end, Done
    // when it was whole, and may. The caller limits its time.
    std::unique_ptr<LongAnswer> open(Request request, Piece piece, Done done);

    std::size_t under_way() const { return under_way_.size(); }

  private:
    struct Task;
    struct Stream;
    class Long;
    struct Idle {
        std::unique_ptr<Connection> connection;
        base::TimePoint since;
    };

    void go_on();
    void begin(const std::shared_ptr<Task>& task);
    void exchange(const std::shared_ptr<Task>& task, const std::string& authorization);
    void take_end(const std::shared_ptr<Task>& task, const Connection::End& end);
    void finish(std::shared_ptr<Task> task, Outcome outcome);
    void begin(const std::shared_ptr<Stream>& stream);
    void exchange(const std::shared_ptr<Stream>& stream, const std::string& authorization);
    void take_end(const std::shared_ptr<Stream>& stream, const Connection::End& end);
    std::unique_ptr<Connection> take_connection();
    void keep_connection(std::unique_ptr<Connection> connection);
    std::string text_of(const Request& request, const std::string& authorization) const;
    void soon(std::function<void()> call);

    std::string host_;
    std::string base_path_;
    Dialer& dialer_;
    Credentials& credentials_;
    Timers& timers_;
    std::deque<std::shared_ptr<Task>> line_;
    std::list<std::shared_ptr<Task>> under_way_;
    std::deque<Idle> idle_;  // the latest last
    std::shared_ptr<bool> is_here_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube::client
