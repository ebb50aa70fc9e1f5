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
// take its answers nothing more is read or answered.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "api/http/access.h"
#include "api/http/gate.h"
#include "api/http/http.h"
#include "api/http/outbox.h"

namespace berth::api {

inline constexpr std::chrono::seconds kIdleMax{120};  // between two requests
inline constexpr std::chrono::seconds kHeaderMax{10};  // for a header, from its first byte
inline constexpr std::chrono::seconds kNetworkHeaderMax{5};  // the same on TCP, from the beginning
inline constexpr std::chrono::seconds kBodyMax{30};  // for a body, from the end of its header
inline constexpr std::chrono::seconds kStalledMax{30};  // in the middle of an answer
inline constexpr std::chrono::seconds kDrainMax{2};  // after the last answer
inline constexpr std::chrono::seconds kBriefMax{5};  // for an answer on a kept place
inline constexpr std::chrono::seconds kSaidAllMax{5};  // on TCP, from the client's last word

struct RequestParser;

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    using Clock = Outbox::Clock;

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
    // It is sent a stream, and asks for nothing any more.
    bool is_streaming() const { return stream_ != nullptr; }
    const Outbox& outbox() const { return outbox_; }
    // Ends what has taken too long, and what no client waits for any more.
    void look(Clock::time_point now);

  private:
    void read_more();
    void on_bytes(std::size_t size);
    void on_end(const boost::system::error_code& error);
    // False when no more can be read: the request was bad, or the connection ends.
    bool parse();
    // False when the request whose header is there is not read on.
    bool hear();
    void dispatch();
    void refuse(const Response& answer);
    // May close this connection or another one.
    void answer(Outbox::Slot slot, Response response);
    bool has_gone(Clock::time_point now);
    void drain();
    void flush_soon();
    void flush();
    void go_on();
    void send_next();

    Socket socket_;
    Peer peer_;
    const Handler& handler_;
    Gate& gate_;
    std::unique_ptr<RequestParser> parser_;
    std::string inbox_;  // read, not yet parsed
    std::size_t parsed_ = 0;  // of the inbox
    Outbox outbox_;
    std::string sending_;
    std::shared_ptr<Stream> stream_;  // behind the last answer
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
