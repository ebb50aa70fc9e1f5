// SPDX-License-Identifier: Apache-2.0
#include "api/http_connection.h"

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "api/problem.h"

namespace berth::api {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;

std::string_view text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct HttpConnection::Parser {
    Parser() {
        request.eager(true);
        request.header_limit(static_cast<std::uint32_t>(kHeaderBytesMax));
        request.body_limit(kBodyBytesMax);
    }

    http::request_parser<http::string_body> request;
    bool has_begun = false;
    bool was_continued = false;
};

HttpConnection::HttpConnection(Socket socket, Peer peer, const HttpSettings& settings)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      settings_(settings),
      parser_(std::make_unique<Parser>()),
      last_progress_(Clock::now()) {}

HttpConnection::~HttpConnection() = default;

void HttpConnection::start() { read_more(); }

void HttpConnection::close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
}

bool HttpConnection::is_stale(Clock::time_point now) const {
    const auto quiet = now - last_progress_;
    if (is_draining_) return quiet > kDrainMax;
    const bool is_stalled = is_writing_ || parser_->has_begun;
    if (is_stalled) return quiet > kStalledMax;
    // A client that waits for a parked answer has every right to be quiet.
    return answers_.empty() && quiet > kIdleMax;
}

void HttpConnection::read_more() {
    const bool is_done = (closes_ || has_ended_) && !is_draining_;
    if (is_reading_ || is_done || !socket_.is_open()) return;
    if (answers_.size() >= kPipelinedMax || unsent_.size() >= kUnsentBytesMax) return;
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
    const bool is_owed = !answers_.empty() || is_writing_ || !unsent_.empty();
    if (error != asio::error::eof || is_draining_ || !is_owed) return close();
    has_ended_ = true;
}

void HttpConnection::on_bytes(std::size_t size) {
    if (size > 0 && !is_draining_) last_progress_ = Clock::now();
    if (is_draining_) parsed_ = inbox_.size();
    if (is_draining_ || parse()) read_more();
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
    while (parsed_ < inbox_.size() && answers_.size() < kPipelinedMax && !closes_) {
        boost::system::error_code error;
        auto& request = parser_->request;
        parser_->has_begun = true;
        parsed_ +=
            request.put(asio::buffer(inbox_.data() + parsed_, inbox_.size() - parsed_), error);
        if (error == http::error::need_more) {
            if (request.is_header_done() && !parser_->was_continued &&
                request.get()[http::field::expect] == "100-continue") {
                parser_->was_continued = true;
                unsent_ += "HTTP/1.1 100 Continue\r\n\r\n";
                flush_soon();
            }
            return true;
        }
        if (error == http::error::body_limit) return refuse(413, "the body is too large"), false;
        if (error == http::error::header_limit)
            return refuse(431, "the header is too large"), false;
        if (error) return refuse(400, "this is not HTTP: " + error.message()), false;
        if (!request.is_done()) continue;
        dispatch();
        parser_ = std::make_unique<Parser>();
    }
    return !closes_;
}

void HttpConnection::dispatch() {
    auto& message = parser_->request.get();
    closes_ = !message.keep_alive();
    const std::uint64_t slot = first_slot_ + answers_.size();
    answers_.emplace_back();
    if (!peer_.is_trusted && peer_.is_local) {
        return answer(slot, problem(403, "user " + peer_.user + " may not use this server"));
    }
    if (!peer_.is_trusted &&
        !shows_token(text_of(message[http::field::authorization]), settings_.token)) {
        return answer(slot, problem(401,
                                    "wanted \"Authorization: Bearer TOKEN\" with the token "
                                    "in the server's data directory"));
    }
    Request request;
    if (!parse_target(text_of(message.target()), request)) {
        return answer(slot, problem(400, "the address has a broken %-escape"));
    }
    request.method = text_of(message.method_string());
    request.idempotency_key = text_of(message["Idempotency-Key"]);
    request.user = peer_.user;
    request.body = std::move(message.body());
    settings_.handler(std::move(request), [weak = weak_from_this(), slot](Response response) {
        if (const auto self = weak.lock()) self->answer(slot, std::move(response));
    });
}

// Nothing behind a request that cannot be read can be read either.
void HttpConnection::refuse(int status, const std::string& detail) {
    closes_ = true;
    const std::uint64_t slot = first_slot_ + answers_.size();
    answers_.emplace_back();
    answer(slot, problem(status, detail));
}

void HttpConnection::answer(std::uint64_t slot, Response response) {
    if (!socket_.is_open()) return;
    const bool is_last = closes_ && slot + 1 == first_slot_ + answers_.size();
    append_response(answers_[slot - first_slot_].emplace(), response, is_last);
    flush_soon();
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
    while (!answers_.empty() && answers_.front()) {
        unsent_ += *answers_.front();
        answers_.pop_front();
        ++first_slot_;
    }
    if (is_writing_ || unsent_.empty() || !socket_.is_open()) return;
    is_writing_ = true;
    last_progress_ = Clock::now();
    sending_.clear();
    sending_.swap(unsent_);
    asio::async_write(
        socket_, asio::buffer(sending_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t) {
            self->is_writing_ = false;
            self->last_progress_ = Clock::now();
            if (error) return self->close();
            self->flush();
            if (self->is_writing_) return;
            // While a read is under way the inbox belongs to it.
            if (!self->is_reading_ && self->parse()) self->read_more();
            const bool is_last = self->closes_ || self->has_ended_;
            if (is_last && self->answers_.empty()) self->drain();
        });
}

}  // namespace berth::api
