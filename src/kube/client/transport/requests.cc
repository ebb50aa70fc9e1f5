// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/requests.h"

#include <algorithm>
#include <array>
#include <utility>

namespace berth::kube::client {
namespace {

std::string_view name_of(Method method) {
    static constexpr std::array<std::string_view, 5> kNames{"GET", "POST", "PUT", "PATCH",
                                                            "DELETE"};
    return kNames[static_cast<std::size_t>(method)];
}

Outcome not_sent(std::string why) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::NotSent;
    outcome.message = std::move(why);
    return outcome;
}

Outcome unknown(std::string why) {
    Outcome outcome;
    outcome.kind = Outcome::Kind::Unknown;
    outcome.message = std::move(why);
    return outcome;
}

}  // namespace

struct Requests::Task {
    Task(Request asked, Done then, Timers& timers)
        : request(std::move(asked)), done(std::move(then)), deadline(timers) {}

    Request request;
    Done done;
    Timer deadline;
    std::unique_ptr<Connection> connection;
    std::string body;
    bool has_renewed = false;
};

struct Requests::Stream {
    Request request;
    Piece piece;
    Done done;
    std::unique_ptr<Connection> connection;
    std::string refusal;  // the body of what is no 2xx
    bool has_renewed = false;
};

Requests::Requests(const Access& access, Dialer& dialer, Credentials& credentials, Timers& timers)
    : host_(access.host + ":" + access.port),
      base_path_(access.base_path),
      dialer_(dialer),
      credentials_(credentials),
      timers_(timers) {
    if (access.host.find(':') != std::string::npos) host_ = "[" + access.host + "]:" + access.port;
}

Requests::~Requests() { *is_here_ = false; }

void Requests::soon(std::function<void()> call) {
    timers_.start(base::Duration{0}, [here = is_here_, then = std::move(call)] {
        if (*here) then();
    });
}

void Requests::send(Request request, Done done) {
    if (line_.size() >= kWaitingMax && !request.goes_first) {
        return soon([then = std::move(done)] {
            then(not_sent("more than " + std::to_string(kWaitingMax) + " requests wait"));
        });
    }
    const auto task = std::make_shared<Task>(std::move(request), std::move(done), timers_);
    task->deadline.start(task->request.patience(), [this, weak = std::weak_ptr(task)] {
        const auto late = weak.lock();
        if (!late) return;
        const bool is_sent = late->connection != nullptr;
        finish(late, is_sent ? unknown("no answer in time") : not_sent("no time left to send it"));
    });
    if (task->request.goes_first) {
        line_.push_front(task);
    } else {
        line_.push_back(task);
    }
    soon([this] { go_on(); });
}

void Requests::go_on() {
    while (!line_.empty() &&
           (under_way_.size() < kConnectionsMax || line_.front()->request.goes_first)) {
        const auto task = line_.front();
        line_.pop_front();
        under_way_.push_back(task);
        begin(task);
    }
}

void Requests::begin(const std::shared_ptr<Task>& task) {
    credentials_.authorize([this, here = is_here_,
                            weak = std::weak_ptr(task)](const base::Result<std::string>& header) {
        const auto mine = weak.lock();
        if (!*here || !mine) return;
        if (!header) return finish(mine, not_sent(header.error().message));
        exchange(mine, *header);
    });
}

// The connection is the task's, so what it calls must not keep the task.
void Requests::exchange(const std::shared_ptr<Task>& task, const std::string& authorization) {
    task->body = std::move(task->request.room);
    task->body.clear();
    task->connection = take_connection();
    task->connection->exchange(
        text_of(task->request, authorization),
        [weak = std::weak_ptr(task)](const Head&, std::string_view piece) {
            const auto mine = weak.lock();
            if (!mine || mine->body.size() + piece.size() > kAnswerBytesMax) return false;
            mine->body += piece;
            return true;
        },
        [this, weak = std::weak_ptr(task)](const Connection::End& end) {
            if (const auto mine = weak.lock()) take_end(mine, end);
        });
}

void Requests::take_end(const std::shared_ptr<Task>& task, const Connection::End& end) {
    if (end.kind == Connection::End::Kind::NotSent) return finish(task, not_sent(end.why));
    if (end.kind == Connection::End::Kind::Broken) return finish(task, unknown(end.why));
    keep_connection(std::move(task->connection));
    if (end.head.code == 401 && !std::exchange(task->has_renewed, true)) {
        credentials_.renew();
        return begin(task);
    }
    finish(task, outcome_of(task->request.effect(), end.head, std::move(task->body)));
}

void Requests::finish(std::shared_ptr<Task> task, Outcome outcome) {
    task->deadline.stop();
    std::erase(line_, task);
    under_way_.remove(task);
    // What is not over is cut off: no answer may come on it later.
    task->connection.reset();
    if (!line_.empty()) soon([this] { go_on(); });
    task->done(std::move(outcome));
}

// What the caller holds: with it the exchange ends.
class Requests::Long final : public LongAnswer {
  public:
    explicit Long(std::shared_ptr<Stream> stream) : stream_(std::move(stream)) {}

  private:
    std::shared_ptr<Stream> stream_;
};

std::unique_ptr<LongAnswer> Requests::open(Request request, Piece piece, Done done) {
    auto stream = std::make_shared<Stream>();
    stream->request = std::move(request);
    stream->piece = std::move(piece);
    stream->done = std::move(done);
    soon([this, weak = std::weak_ptr(stream)] {
        if (const auto mine = weak.lock()) begin(mine);
    });
    return std::make_unique<Long>(std::move(stream));
}

void Requests::begin(const std::shared_ptr<Stream>& stream) {
    credentials_.authorize([this, here = is_here_,
                            weak = std::weak_ptr(stream)](const base::Result<std::string>& header) {
        const auto mine = weak.lock();
        if (!*here || !mine) return;
        if (!header) return mine->done(not_sent(header.error().message));
        exchange(mine, *header);
    });
}

void Requests::exchange(const std::shared_ptr<Stream>& stream, const std::string& authorization) {
    stream->refusal.clear();
    stream->connection = take_connection();
    stream->connection->exchange(
        text_of(stream->request, authorization),
        [weak = std::weak_ptr(stream)](const Head& head, std::string_view piece) {
            const auto mine = weak.lock();
            if (!mine) return false;
            if (head.code >= 200 && head.code < 300) return mine->piece(piece);
            if (mine->refusal.size() + piece.size() > kAnswerBytesMax) return false;
            mine->refusal += piece;
            return true;
        },
        [this, weak = std::weak_ptr(stream)](const Connection::End& end) {
            if (const auto mine = weak.lock()) take_end(mine, end);
        });
}

void Requests::take_end(const std::shared_ptr<Stream>& stream, const Connection::End& end) {
    if (end.kind == Connection::End::Kind::NotSent) return stream->done(not_sent(end.why));
    if (end.kind == Connection::End::Kind::Broken) return stream->done(unknown(end.why));
    keep_connection(std::move(stream->connection));
    if (end.head.code == 401 && !std::exchange(stream->has_renewed, true)) {
        credentials_.renew();
        return begin(stream);
    }
    stream->done(outcome_of(Effect::None, end.head, std::move(stream->refusal)));
}

std::unique_ptr<Connection> Requests::take_connection() {
    while (!idle_.empty()) {
        Idle last = std::move(idle_.back());
        idle_.pop_back();
        const bool is_fresh = timers_.now() - last.since < kIdleConnectionMax;
        if (is_fresh && last.connection->is_usable()) return std::move(last.connection);
    }
    return std::make_unique<Connection>(dialer_.dial());
}

void Requests::keep_connection(std::unique_ptr<Connection> connection) {
    if (!connection->is_usable()) return;
    idle_.push_back({std::move(connection), timers_.now()});
    if (idle_.size() > kConnectionsMax) idle_.pop_front();
}

// A user agent that begins with curl/ would get JSON with white space.
std::string Requests::text_of(const Request& request, const std::string& authorization) const {
    std::string text(name_of(request.method));
    text += " " + base_path_ + request.target + " HTTP/1.1\r\nHost: " + host_ +
            "\r\nUser-Agent: berth\r\nAccept: application/json\r\n";
    if (!authorization.empty()) text += "Authorization: " + authorization + "\r\n";
    if (request.method != Method::Get) {
        text += "Content-Type: ";
        text += request.content_type;
        text += "\r\nContent-Length: " + std::to_string(request.body.size()) + "\r\n";
    }
    return text + "\r\n" + request.body;
}

}  // namespace berth::kube::client
