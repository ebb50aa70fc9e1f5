// SPDX-License-Identifier: Apache-2.0
#include "api/http/http_connection.h"

#include <poll.h>

#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <utility>

#include "api/http/problem.h"
#include "codec/api/http_parser.h"

namespace berth::api {

namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
// What is thrown away of a client that sends on after its last answer.
constexpr std::size_t kDrainBytesMax = 2 * kBodyBytesMax;

std::string_view text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

}  // namespace

struct HttpConnection::Parser {
    explicit Parser(bool is_local) {
        request.eager(false);  // stops behind the header
        const std::size_t header = is_local ? kHeaderBytesMax : kNetworkHeaderBytesMax;
        request.header_limit(static_cast<std::uint32_t>(header));
        request.body_limit(kBodyBytesMax);
    }

    http::request_parser<http::string_body> request;
    bool has_begun = false;
    bool is_heard = false;
    bool has_address = false;  // it could be read, and is in `heard`
    Request heard;

    void read_header() {
        heard.method = text_of(request.get().method_string());
        heard.accepted_encodings = text_of(request.get()[http::field::accept_encoding]);
        heard.known_etags = text_of(request.get()[http::field::if_none_match]);
        has_address = parse_target(text_of(request.get().target()), heard);
    }

    Sender sender() const {
        const auto& message = request.get();
        const std::size_t origins = message.count(http::field::origin);
        const std::string_view origin = text_of(message[http::field::origin]);
        // A page that does not say where it is from, or says it twice, is another site's.
        const bool is_unclear = origins > 1 || (origins == 1 && origin.empty());
        return {text_of(message[http::field::authorization]), text_of(message[http::field::host]),
                is_unclear ? "null" : origin, message.count(http::field::host) == 1,
                has_address && asks_for_no_secrets(heard.method, heard.path)};
    }

    // Beast reads no body of any other coding, and would read what comes as the next request.
    bool is_coding_known() const {
        const auto& message = request.get();
        const std::size_t codings = message.count(http::field::transfer_encoding);
        return codings == 0 ||
               (codings == 1 &&
                boost::beast::iequals(message[http::field::transfer_encoding], "chunked"));
    }

    // The answer to one whose body cannot be read, or to one not known who says too much.
    std::optional<Response> admit(const Asker& asker) {
        heard.user = asker.user;
        heard.rights = asker.rights;
        heard.session = asker.session;
        if (!is_coding_known()) return problem(501, "a body comes as it is, or chunked");
        if (asker.is_known) return {};
        request.body_limit(kUnknownBodyBytesMax);
        if (request.content_length().value_or(0) <= kUnknownBodyBytesMax) return {};
        return problem(413, "without a token a request has at most 4 KiB, this one has more");
    }
};

HttpConnection::HttpConnection(Socket socket, Peer peer, const Handler& handler, Gate& gate,
                               Untaken& all_untaken)
    : socket_(std::move(socket)),
      peer_(std::move(peer)),
      handler_(handler),
      gate_(gate),
      parser_(std::make_unique<Parser>(peer_.is_local)),
      all_untaken_(all_untaken),
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
    has_taken(untaken_);
    answers_.clear();
    unsent_ = {};
}

void HttpConnection::turn_away(const Response& answer) {
    is_turned_away_ = true;
    refuse(answer);
}

void HttpConnection::look(Clock::time_point now) {
    const auto quiet = now - last_progress_;
    if (is_draining_ && quiet > kDrainMax) return close();
    if (is_writing_ && now - untaken_since_ > kStalledMax) return close();
    if (is_draining_ || is_writing_) return;
    if (!answers_.empty() && has_gone(now)) return close();
    if (!answers_.empty() && is_brief_ && quiet > kBriefMax) return close();
    if (closes_) return;
    const bool is_in_body = parser_->is_heard;
    // Who has not shown yet that it may ask has to begin at once.
    const bool is_asking = parser_->has_begun || (!is_known_ && !is_in_body);
    if (!is_asking || has_ended_) {
        // A client that waits for a parked answer has every right to be quiet.
        if (answers_.empty() && quiet > kIdleMax) close();
        return;
    }
    const auto most = is_in_body ? kBodyMax : peer_.is_local ? kHeaderMax : kNetworkHeaderMax;
    if (now - request_since_ <= most) return;
    refuse(problem(408, "the " + std::string(is_in_body ? "body" : "header") +
                            " of the request was not there within " + std::to_string(most.count()) +
                            " s"));
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
    const bool is_done = (closes_ || has_ended_) && !is_draining_;
    if (is_reading_ || is_done || !socket_.is_open()) return;
    if (is_full()) return;
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
    last_progress_ = Clock::now();
    if (has_gone(last_progress_)) close();
}

void HttpConnection::on_bytes(std::size_t size) {
    if (is_draining_) {
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
    while (parsed_ < inbox_.size() && !is_full() && !closes_ && socket_.is_open()) {
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
            parser_ = std::make_unique<Parser>(peer_.is_local);
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
    unsent_ += kContinue;
    flush_soon();
    owe(kContinue.size());
    return socket_.is_open();
}

void HttpConnection::dispatch() {
    auto& message = parser_->request.get();
    // Who has not shown that it may use the server gets one answer.
    closes_ = !message.keep_alive() || is_brief_ || !is_known_;
    const std::uint64_t slot = first_slot_ + answers_.size();
    answers_.emplace_back();
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
    const std::uint64_t slot = first_slot_ + answers_.size();
    answers_.emplace_back();
    answer(slot, response);
}

void HttpConnection::answer(std::uint64_t slot, Response response) {
    if (!socket_.is_open()) return;
    const bool is_last = closes_ && slot + 1 == first_slot_ + answers_.size();
    std::string& text = answers_[slot - first_slot_].emplace();
    append_response(text, response, is_last);
    flush_soon();
    owe(text.size());
}

void HttpConnection::owe(std::size_t size) {
    if (untaken_ == 0) untaken_since_ = Clock::now();
    untaken_ += size;
    all_untaken_.bytes += size;
    if (all_untaken_.bytes > kAllUntakenBytesMax) all_untaken_.make_room();
}

void HttpConnection::has_taken(std::size_t size) {
    untaken_since_ = Clock::now();
    untaken_ -= size;
    all_untaken_.bytes -= size;
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
    sending_ = std::exchange(unsent_, {});
    asio::async_write(
        socket_, asio::buffer(sending_),
        [self = shared_from_this()](const boost::system::error_code& error, std::size_t size) {
            self->is_writing_ = false;
            self->sending_ = {};
            if (error) return self->close();
            if (!self->is_open()) return;
            self->has_taken(size);
            self->last_progress_ = self->untaken_since_;
            self->flush();
            if (self->is_writing_) return;
            // While a read is under way the inbox belongs to it.
            if (!self->is_reading_ && self->parse()) self->read_more();
            const bool is_last = self->closes_ || self->has_ended_;
            if (is_last && self->answers_.empty()) self->drain();
        });
}

}  // namespace berth::api
