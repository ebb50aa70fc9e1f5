// SPDX-License-Identifier: Apache-2.0
#include "api/http/http_connection.h"

#include <poll.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "api/http/problem.h"
#include "api/http/request_parser.h"

namespace berth::api {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
// What is thrown away of a client that sends on after its last answer.
constexpr std::size_t kDrainBytesMax = 2 * kBodyBytesMax;

}  // namespace

HttpConnection::HttpConnection(Socket socket, Peer peer, const Handler& handler, Gate& gate,
                               Untaken& all_untaken)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      handler_(handler),
      gate_(gate),
      parser_(std::make_unique<RequestParser>(peer_.is_local)),
      outbox_(all_untaken),
      last_progress_(Clock::now()),
      request_since_(last_progress_),
      is_known_(peer_.is_trusted) {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::start() { read_more(); }

// What it holds goes at once: the connection itself is forgotten later.
void HttpConnection::close() {
    if (!socket_.is_open()) return;
    boost::system::error_code ignored;
    socket_.close(ignored);
    outbox_.clear();
    stream_ = {};
}

void HttpConnection::turn_away(const Response& answer) {
    is_turned_away_ = true;
    refuse(answer);
}

void HttpConnection::look(Clock::time_point now) {
    const auto quiet = now - last_progress_;
    if (is_draining_ && quiet > kDrainMax) return close();
    const auto untaken_since = outbox_.untaken_since_or(last_progress_);
    const bool is_let_go = stream_ && stream_->is_over();
    if (is_writing_ && (is_let_go || now - untaken_since > kStalledMax)) return close();
    if (is_draining_ || is_writing_) return;
    if (outbox_.expects() && has_gone(now)) return close();
    if (outbox_.expects() && is_brief_ && quiet > kBriefMax) return close();
    if (closes_) return;
    const bool is_in_body = parser_->is_heard;
    // Who has not shown yet that it may ask has to begin at once.
    const bool is_asking = parser_->has_begun || (!is_known_ && !is_in_body);
    if (!is_asking || has_ended_) {
        // A client that waits for a parked answer has every right to be quiet.
        if (!outbox_.expects() && quiet > kIdleMax) close();
        return;
    }
    const auto most = is_in_body ? kBodyMax : peer_.is_local ? kHeaderMax : kNetworkHeaderMax;
    if (now - request_since_ <= most) return;
    const std::string part = is_in_body ? "the body" : "the header";
    refuse(problem(
        408, part + " of the request was not there within " + std::to_string(most.count()) + " s"));
}

// One that has said all may still wait for its answer, and one that has closed does not. Of TCP the
// system tells only that it says no more: its answers have a while to come then.
bool HttpConnection::has_gone(Clock::time_point now) {
    pollfd asked{socket_.native_handle(), POLLRDHUP, 0};
    if (::poll(&asked, 1, 0) != 1) return false;
    if ((asked.revents & (POLLHUP | POLLERR)) != 0) return true;
    return !peer_.is_local && now - last_progress_ > kSaidAllMax;
}

void HttpConnection::read_more() {
    const bool is_done = (closes_ || has_ended_) && !is_draining_ && !stream_;
    if (is_reading_ || is_done || !socket_.is_open()) return;
    if (outbox_.is_full()) return;
    is_reading_ = true;
    inbox_.erase(0, parsed_);
    parsed_ = 0;
    const std::size_t size = inbox_.size();
    inbox_.resize(size + kReadBytes);
    socket_.async_read_some(asio::buffer(inbox_.data() + size, kReadBytes),
                            [self = shared_from_this(), size](
                                const boost::system::error_code& error, std::size_t count) {
                                self->is_reading_ = false;
                                self->inbox_.resize(size + count);
                                if (error) return self->on_end(error);
                                self->on_bytes(count);
                            });
}

// A client that has nothing more to say may still wait for its answers.
void HttpConnection::on_end(const boost::system::error_code& error) {
    const bool is_owed = !stream_ && (is_writing_ || !outbox_.is_empty());
    if (error != asio::error::eof || is_draining_ || !is_owed) return close();
    has_ended_ = true;
    last_progress_ = Clock::now();
    if (has_gone(last_progress_)) close();
}

void HttpConnection::on_bytes(std::size_t size) {
    if (is_draining_ || stream_) {
        parsed_ = inbox_.size();
        drained_ += size;
        return drained_ > kDrainBytesMax ? close() : read_more();
    }
    if (size > 0) last_progress_ = Clock::now();
    if (parse()) read_more();
}

// Closing while the client still sends would take back an answer that it has not read yet.
void HttpConnection::drain() {
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
    is_draining_ = true;
    parsed_ = inbox_.size();
    read_more();
}

bool HttpConnection::parse() {
    while (parsed_ < inbox_.size() && !outbox_.is_full() && !closes_ && socket_.is_open()) {
        boost::system::error_code error;
        auto& request = parser_->request;
        if (!std::exchange(parser_->has_begun, true)) request_since_ = last_progress_;
        parsed_ +=
            request.put(asio::buffer(inbox_.data() + parsed_, inbox_.size() - parsed_), error);
        if (error == http::error::need_more) return true;
        if (error == http::error::body_limit) {
            refuse(problem(413, "a request has at most 1 MiB, this one has more"));
            return false;
        }
        if (error == http::error::header_limit) {
            refuse(problem(431, "the header is too large"));
            return false;
        }
        if (error) {
            refuse(problem(400, "this is not HTTP: " + error.message()));
            return false;
        }
        if (!parser_->is_heard && request.is_header_done() && !hear()) return false;
        if (request.is_done()) {
            dispatch();
            parser_ = std::make_unique<RequestParser>(peer_.is_local);
        }
    }
    return !closes_;
}

bool HttpConnection::hear() {
    const auto& message = parser_->request.get();
    parser_->read_header();
    const auto now = Clock::now();
    const auto asker = gate_.hear(peer_, parser_->sender(), now);
    if (const auto refusal = asker ? parser_->admit(*asker) : asker.error()) {
        refuse(*refusal);
        return false;
    }
    is_known_ = asker->is_known && !is_brief_;
    parser_->is_heard = true;
    request_since_ = now;
    if (message[http::field::expect] != "100-continue" || parser_->request.is_done()) return true;
    static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
    flush_soon();
    outbox_.add(kContinue);
    return socket_.is_open();
}

void HttpConnection::dispatch() {
    auto& message = parser_->request.get();
    // Who has not shown that it may use the server gets one answer.
    closes_ = !message.keep_alive() || is_brief_ || !is_known_;
    const Outbox::Slot slot = outbox_.expect();
    const bool is_head = message.method() == http::verb::head;
    Respond respond = [weak = weak_from_this(), slot, is_head](Response response) {
        response.is_to_head = is_head;
        if (const auto self = weak.lock()) self->answer(slot, std::move(response));
    };
    if (!parser_->has_address) {
        return respond(problem(400, "the address has a broken %-escape"));
    }
    Request request = std::move(parser_->heard);
    request.idempotency_key = text_of(message["Idempotency-Key"]);
    request.body = std::move(message.body());
    request.client = weak_from_this();
    handler_(std::move(request), std::move(respond));
}

// Nothing behind a request that is not read can be read either.
void HttpConnection::refuse(const Response& response) {
    closes_ = true;
    answer(outbox_.expect(), response);
}

void HttpConnection::answer(Outbox::Slot slot, Response response) {
    if (!socket_.is_open() || !outbox_.is_expected(slot)) return;
    if (response.stream && !response.is_to_head) {
        closes_ = true;
        outbox_.end_with(slot);
        stream_ = response.stream;
    }
    std::string text;
    append_response(text, response, closes_ && outbox_.is_last(slot));
    flush_soon();
    outbox_.put(slot, std::move(text));
}

void HttpConnection::flush_soon() {
    if (will_flush_) return;
    will_flush_ = true;
    asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->will_flush_ = false;
        self->flush();
    });
}

void HttpConnection::flush() {
    if (is_writing_ || !socket_.is_open()) return;
    sending_ = outbox_.take();
    if (sending_.empty()) return;
    is_writing_ = true;
    last_progress_ = Clock::now();
    asio::async_write(
        socket_, asio::buffer(sending_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
            self->is_writing_ = false;
            self->sending_ = {};
            if (error) return self->close();
            if (!self->is_open()) return;
            self->outbox_.has_left(size);
            self->last_progress_ = Clock::now();
            self->flush();
            if (!self->is_writing_) self->go_on();
        });
}

// All that was ready has left.
void HttpConnection::go_on() {
    // While a read is under way the inbox belongs to it.
    if (!is_reading_ && parse()) read_more();
    if (outbox_.expects() || !(closes_ || has_ended_)) return;
    if (!stream_) return drain();
    if (!is_reading_) parsed_ = inbox_.size();
    read_more();  // until its client has gone
    send_next();
}

void HttpConnection::send_next() {
    if (is_writing_ || !stream_) return;
    const Stream::Piece piece = stream_->next([weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->send_next();
    });
    if (!piece) return stream_->is_over() ? drain() : void();
    is_writing_ = true;
    last_progress_ = Clock::now();
    asio::async_write(
        socket_, asio::buffer(*piece),
        [self = shared_from_this(), piece](const boost::system::error_code& error, std::size_t) {
            self->is_writing_ = false;
            self->last_progress_ = Clock::now();
            error ? self->close() : self->send_next();
        });
}

}  // namespace berth::api
