// SPDX-License-Identifier: Apache-2.0
//
// How does one connection to the API server live? One exchange after the other on it (HTTP/1.1,
// keep-alive), the answer handed on in pieces as it arrives. Between two exchanges it listens, so
// that a server that closes is noticed before the next request is sent and not by losing it.
//
// Beast parses; it is included in connection.cc alone.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "kube/client/transport/channel.h"
#include "kube/client/transport/outcome.h"

namespace berth::kube::client {

inline constexpr std::size_t kAnswerHeaderBytesMax = 64 * 1024;

class Connection {
  public:
    struct End {
        // NotSent: no byte of the request can have reached the server. Broken: some may have.
        enum class Kind { Whole, NotSent, Broken };
        Kind kind = Kind::Broken;
        Head head;
        std::string why;
    };
    // False: no more of this answer is wanted; the exchange ends as Broken.
    using Piece = std::function<bool(const Head&, std::string_view)>;
    // May destroy the connection.
    using Ended = std::function<void(End)>;

    explicit Connection(std::unique_ptr<Channel> channel);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    // Opens the channel at the first exchange. None is under way.
    void exchange(std::string request, Piece piece, Ended ended);

    // Another exchange may follow the last one.
    bool is_usable() const { return !is_closed_; }

  private:
    struct Parser;

    void send();
    void listen();
    void take(std::string_view bytes);
    void take_end();
    // False when the exchange is over, and perhaps this with it.
    bool parse(std::string_view bytes);
    void end(End::Kind kind, std::string why);
    void close();

    std::unique_ptr<Channel> channel_;
    std::unique_ptr<Parser> parser_;
    std::string unparsed_;  // a part that means nothing yet: half a header, half a chunk's size
    std::string request_;
    Piece piece_;
    Ended ended_;
    Head head_;
    bool is_open_ = false;
    bool is_closed_ = false;
    bool is_listening_ = false;
    bool is_writing_ = false;
};

}  // namespace berth::kube::client
