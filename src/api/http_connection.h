// SPDX-License-Identifier: Apache-2.0
//
// How does one client's connection live? Requests are read one behind the other without waiting
// for answers (pipelining), answers leave in the order of the requests. All answers that become
// ready in one turn of the loop leave in one write.
//
// Bounds: kHeaderBytesMax, kBodyBytesMax, kPipelinedMax requests in flight; reading pauses while
// the client does not take its answers. Beast parses; it is included in http_connection.cc alone.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "api/access.h"
#include "api/http.h"

namespace berth::api {

inline constexpr std::size_t kHeaderBytesMax = 64 * 1024;
inline constexpr std::size_t kBodyBytesMax = 1024 * 1024;
inline constexpr std::size_t kPipelinedMax = 256;
inline constexpr std::size_t kUnsentBytesMax = 4 * 1024 * 1024;
inline constexpr std::chrono::seconds kIdleMax{120};     // between two requests
inline constexpr std::chrono::seconds kStalledMax{30};   // in the middle of a request or answer

struct HttpSettings {
    Handler handler;
    std::string token;  // what TCP clients must show
};

inline constexpr std::chrono::seconds kDrainMax{2};      // after the last answer

class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
  public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    using Clock = std::chrono::steady_clock;

    HttpConnection(Socket socket, Peer peer, const HttpSettings& settings);
    ~HttpConnection();

    void start();
    void close();
    bool is_open() const { return socket_.is_open(); }
    // No request has come, or an answer has not been taken, for too long.
    bool is_stale(Clock::time_point now) const;

  private:
    struct Parser;

    void read_more();
    void on_bytes(std::size_t size);
    void on_end(const boost::system::error_code& error);
    // False when no more can be read: the request was bad, or the connection ends.
    bool parse();
    void dispatch();
    void refuse(int status, const std::string& detail);
    void answer(std::uint64_t slot, Response response);
    void drain();
    void flush_soon();
    void flush();

    Socket socket_;
    Peer peer_;
    const HttpSettings& settings_;
    std::unique_ptr<Parser> parser_;
    std::string inbox_;                // read, not yet parsed
    std::size_t parsed_ = 0;           // of the inbox
    std::deque<std::optional<std::string>> answers_;  // in the order of the requests
    std::uint64_t first_slot_ = 0;     // number of answers_.front()
    std::string sending_;
    std::string unsent_;
    Clock::time_point last_progress_;
    bool is_reading_ = false;
    bool is_writing_ = false;
    bool will_flush_ = false;
    bool closes_ = false;              // after the last answer
    bool has_ended_ = false;           // the client says no more
    bool is_draining_ = false;         // has said its last word and waits for the client's end
};

}  // namespace berth::api
