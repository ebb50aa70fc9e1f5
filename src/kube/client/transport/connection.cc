// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/connection.h"

#include <boost/asio/buffer.hpp>
#include <utility>

#include "base/check.h"
#include "codec/api/http_parser.h"

namespace berth::kube::client {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

constexpr int kLeastCode = 100;

}  // namespace

struct Connection::Parser {
    // A body that is handed on and not kept.
    struct Body {
        struct value_type {
            std::function<bool(std::string_view)> take;
        };
        class reader {
          public:
            template <bool is_request, class Fields>
            reader(http::header<is_request, Fields>&, value_type& value) : value_(value) {}

            void init(const boost::optional<std::uint64_t>&, boost::system::error_code& error) {
                error = {};
            }
            template <class Buffers>
            std::size_t put(const Buffers& buffers, boost::system::error_code& error) {
                std::size_t size = 0;
                error = {};
                for (auto at = asio::buffer_sequence_begin(buffers);
                     at != asio::buffer_sequence_end(buffers) && !error; ++at) {
                    const asio::const_buffer part(*at);
                    size += part.size();
                    const bool is_wanted =
                        value_.take({static_cast<const char*>(part.data()), part.size()});
                    if (!is_wanted) error = http::error::body_limit;
                }
                return size;
            }
            void finish(boost::system::error_code& error) { error = {}; }

          private:
            value_type& value_;
        };
    };

    http::response_parser<Body> answer;
    bool is_heard = false;  // the header is there

    Parser() {
        answer.eager(true);
        answer.header_limit(static_cast<std::uint32_t>(kAnswerHeaderBytesMax));
        answer.body_limit(boost::none);
    }
};

Connection::Connection(std::unique_ptr<Channel> channel) : channel_(std::move(channel)) {}
Connection::~Connection() = default;

void Connection::exchange(std::string request, Piece piece, Ended ended) {
    BERTH_CHECK(!ended_, "one exchange at a time");  // ours: who has a connection waits for its end
    request_ = std::move(request);
    piece_ = std::move(piece);
    ended_ = std::move(ended);
    head_ = {};
    parser_ = std::make_unique<Parser>();
    parser_->answer.get().body().take = [this](std::string_view bytes) {
        if (!std::exchange(parser_->is_heard, true)) {
            const auto& answer = parser_->answer.get();
            const auto asked = answer[http::field::retry_after];
            head_ = {static_cast<int>(answer.result_int()),
                     parse_retry_after({asked.data(), asked.size()})};
        }
        return bytes.empty() || (head_.code >= kLeastCode && piece_(head_, bytes));
    };
    if (is_open_) return send();
    channel_->open([this](const base::Status& opened) {
        if (!opened) return end(End::Kind::NotSent, opened.error().message);
        is_open_ = true;
        listen();
        send();
    });
}

void Connection::send() {
    if (is_closed_) return end(End::Kind::NotSent, "the server has closed the connection");
    is_writing_ = true;
    channel_->write(std::move(request_), [this](const base::Status& written) {
        is_writing_ = false;
        // An answer may be on its way all the same: it says why no more is read of us.
        if (!written && !is_listening_ && ended_) end(End::Kind::Broken, written.error().message);
    });
}

void Connection::listen() {
    if (is_listening_ || is_closed_) return;
    is_listening_ = true;
    channel_->read([this](base::Result<std::string_view> got) {
        is_listening_ = false;
        if (got && !got->empty()) return take(*got);
        if (got) return take_end();
        close();
        if (ended_) end(End::Kind::Broken, got.error().message);
    });
}

void Connection::take(std::string_view bytes) {
    if (!ended_) return close();  // no request waits for it
    if (unparsed_.empty()) {
        if (parse(bytes)) listen();
        return;
    }
    unparsed_ += bytes;
    if (parse(std::exchange(unparsed_, {}))) listen();
}

void Connection::take_end() {
    close();
    if (!ended_) return;
    // Half an answer may be one when the connection is its end.
    boost::system::error_code error = http::error::end_of_stream;
    if (parser_->answer.got_some()) parser_->answer.put_eof(error);
    if (error)
        return end(End::Kind::Broken,
                   "the server has closed the connection without a whole answer");
    end(End::Kind::Whole, {});
}

bool Connection::parse(std::string_view bytes) {
    auto& answer = parser_->answer;
    boost::system::error_code error;
    while (!bytes.empty() && !answer.is_done() && !error) {
        bytes.remove_prefix(answer.put(asio::buffer(bytes.data(), bytes.size()), error));
    }
    if (error && error != http::error::need_more) {
        const bool is_unwanted = error == http::error::body_limit;
        end(End::Kind::Broken, is_unwanted ? "no more of the answer was wanted"
                                           : "this is not HTTP: " + error.message());
        return false;
    }
    if (!answer.is_done()) {
        unparsed_ = bytes;
        return true;
    }
    // One that answers before it has heard all has said its last word.
    if (!answer.keep_alive() || !bytes.empty() || is_writing_) close();
    listen();
    end(End::Kind::Whole, {});
    return false;
}

void Connection::end(End::Kind kind, std::string why) {
    if (kind == End::Kind::Whole) {
        parser_->answer.get().body().take({});  // of an empty body
        if (head_.code < kLeastCode) {
            kind = End::Kind::Broken;
            why = "this is not HTTP: no status";
        }
    }
    if (kind != End::Kind::Whole) close();
    const Ended ended = std::exchange(ended_, nullptr);
    End result{kind, head_, std::move(why)};
    ended(std::move(result));
}

void Connection::close() { is_closed_ = true; }

}  // namespace berth::kube::client
