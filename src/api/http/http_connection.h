// SPDX-License-Identifier: Apache-2.0
//
// How does one client's connection live? Requests are read one behind the other without waiting
// for answers (pipelining), answers leave in the order of the requests. All answers that become
// ready in one turn of the loop leave in one write.
//
// The gate is asked when a header is there: of a request that may not be heard no byte of the body
// is kept. A connection that is ended from here always gets the reason first, except one that idles
// between two requests.
//
// Bounds: the sizes and times below, kPipelinedMax requests in flight. While the client does not
// take its answers nothing more is read or answered. Beast parses; it is included in
// http_connection.cc alone.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/http/access.h"
#include "api/http/gate.h"
#include "api/http/http.h"

namespace berth::api {

inline constexpr std::size_t kHeaderBytesMax = 64 * 1024;
inline constexpr std::size_t kNetworkHeaderBytesMax = 16 * 1024;
inline constexpr std::size_t kBodyBytesMax = 1024 * 1024;
inline constexpr std::size_t kUnknownBodyBytesMax = 4096;  // of who has not shown a token
inline constexpr std::size_t kPipelinedMax = 256;
inline constexpr std::size_t kUntakenBytesMax = 4 * 1024 * 1024;  // of one connection
inline constexpr std::size_t kAllUntakenBytesMax = 64 * 1024 * 1024;
inline constexpr std::chrono::seconds kIdleMax{120};  // between two requests
inline constexpr std::chrono::seconds kHeaderMax{10};  // for a header, from its first byte
inline constexpr std::chrono::seconds kNetworkHeaderMax{5};  // the same on TCP, from the beginning
inline constexpr std::chrono::seconds kBodyMax{30};  // for a body, from the end of its header
inline constexpr std::chrono::seconds kStalledMax{30};  // in the middle of an answer
inline constexpr std::chrono::seconds kDrainMax{2};  // after the last answer
inline constexpr std::chrono::seconds kBriefMax{5};  // for an answer on a kept place
inline constexpr std::chrono::seconds kSaidAllMax{5};  // on TCP, from the client's last word

// The bytes of all answers that clients have not taken yet, for all connections of a server.
struct Untaken {
    std::size_t bytes = 0;
    std::function<void()> make_room;  // called when they are more than kAllUntakenBytesMax
};

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    using Clock = std::chrono::steady_clock;

    HttpConnection(Socket socket, Peer peer, const Handler& handler, Gate& gate,
                   Untaken& all_untaken);
    ~HttpConnection();

    void start();
    // From now on it hears one request that is answered soon: kept places are for those, and ports
    // at which anyone may ask, who stays unknown.
    void be_brief() { is_brief_ = true; }
    // Says this instead of reading anything, and ends.
    void turn_away(const Response& answer);
    void close();
    bool is_open() const { return socket_.is_open(); }
    const Peer& peer() const { return peer_; }
    // It may use the server, or has shown that it may.
    bool is_known() const { return is_known_; }
    bool is_turned_away() const { return is_turned_away_; }
    // There are answers of which its client has taken nothing since then.
    bool has_untaken() const { return untaken_ > 0; }
    Clock::time_point untaken_since() const { return untaken_since_; }
    // Ends what has taken too long, and what no client waits for any more.
    void look(Clock::time_point now);

  private:
    struct Parser;

    void read_more();
    void on_bytes(std::size_t size);
    void on_end(const boost::system::error_code& error);
    // False when no more can be read: the request was bad, or the connection ends.
    bool parse();
    // False when the request whose header is there is not read on.
    bool hear();
    void dispatch();
    void refuse(const Response& answer);
    void answer(std::uint64_t slot, Response response);
    // May close this connection or another one.
    void owe(std::size_t size);
    void has_taken(std::size_t size);
    bool is_full() const {
        return answers_.size() >= kPipelinedMax || untaken_ >= kUntakenBytesMax;
    }
    bool has_gone(Clock::time_point now);
    void drain();
    void flush_soon();
    void flush();

    Socket socket_;
    Peer peer_;
    const Handler& handler_;
    Gate& gate_;
    std::unique_ptr<Parser> parser_;
    std::string inbox_;  // read, not yet parsed
    std::size_t parsed_ = 0;  // of the inbox
    std::deque<std::optional<std::string>> answers_;  // in the order of the requests
    std::uint64_t first_slot_ = 0;  // number of answers_.front()
    std::string sending_;
    std::string unsent_;
    Untaken& all_untaken_;
    std::size_t untaken_ = 0;  // bytes of what is ready, unsent or under way
    Clock::time_point untaken_since_;
    Clock::time_point last_progress_;
    Clock::time_point
        request_since_;  // the first byte of the one that is being read, or its body's
    std::size_t drained_ = 0;
    bool is_known_ = false;
    bool is_turned_away_ = false;
    bool is_brief_ = false;
    bool is_reading_ = false;
    bool is_writing_ = false;
    bool will_flush_ = false;
    bool closes_ = false;  // after the last answer
    bool has_ended_ = false;  // the client says no more
    bool is_draining_ = false;  // has said its last word and waits for the client's end
};

}  // namespace berth::api
