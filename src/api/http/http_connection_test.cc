// SPDX-License-Identifier: Apache-2.0
//
// One connection over a real pair of sockets; its time is what the test says.
#include "api/http/http_connection.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>

#include "api/http/problem.h"

using namespace berth::api;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kBig = 1024 * 1024;

// Says what the test says, and what it has not said yet when it is woken.
struct Spoken : Stream {
    Piece next(std::function<void()> wake) override {
        if (said.empty()) woken = std::move(wake);
        if (said.empty()) return {};
        const auto piece = std::make_shared<const std::string>(said.front());
        said.erase(said.begin());
        return piece;
    }
    bool is_over() const override { return ends; }
    void say(std::string text) {
        said.push_back(std::move(text));
        wake();
    }
    void wake() {
        if (const auto call = std::exchange(woken, {})) call();
    }

    std::vector<std::string> said;
    std::function<void()> woken;
    bool ends = false;
};

struct Line {
    explicit Line(bool is_local = false) {
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        const Peer peer{is_local, is_local, "ann", ::geteuid()};
        HttpConnection::Socket socket(io);
        socket.assign(boost::asio::generic::stream_protocol(AF_UNIX, 0), ends[1]);
        connection =
            std::make_shared<HttpConnection>(std::move(socket), peer, handler, gate, untaken);
    }
    ~Line() {
        connection->close();
        run();
        if (ends[0] >= 0) ::close(ends[0]);
    }

    void run() {
        io.restart();
        io.poll();
    }
    void start() { connection->start(), run(); }
    void say(const std::string& text) {
        REQUIRE(::send(ends[0], text.data(), text.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(text.size()));
        run();
    }
    // Time goes by, seen from now.
    void after(HttpConnection::Clock::duration time) {
        connection->look(HttpConnection::Clock::now() + time);
        run();
    }
    std::string heard() {
        static char buffer[kBig];
        const ssize_t size = ::recv(ends[0], buffer, sizeof buffer, MSG_DONTWAIT);
        return size > 0 ? std::string(buffer, static_cast<std::size_t>(size)) : "";
    }
    bool has_heard(const std::string& text) { return heard().find(text) != std::string::npos; }
    void hang_up() {
        ::close(ends[0]);
        ends[0] = -1;
        run();
    }

    int ends[2];
    boost::asio::io_context io;
    std::vector<Request> requests;
    std::vector<Respond> parked;
    Handler handler = [this](Request request, Respond respond) {
        if (request.path == "/big") request.body.assign(kBig, 'x');
        if (request.path == "/stream") {
            Response response{200, {}, "text/event-stream", {}};
            response.stream = stream;
            return respond(std::move(response));
        }
        if (request.path != "/park") respond({200, request.body, "text/plain", {}});
        request.body.clear();
        if (request.path == "/park") parked.push_back(std::move(respond));
        requests.push_back(std::move(request));
    };
    std::shared_ptr<Spoken> stream = std::make_shared<Spoken>();
    Gate gate{"bth_1"};
    Untaken untaken;
    std::shared_ptr<HttpConnection> connection;
};

std::string repeated(const std::string& text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
}

const std::string kHost = "Host: localhost\r\n";
const std::string kToken = "Authorization: Bearer bth_1\r\n";

}  // namespace

TEST_CASE("of a request that may not be heard no byte of the body is read into memory") {
    Line line;
    line.start();
    line.say("POST /x HTTP/1.1\r\n" + kHost + "Content-Length: 1000000\r\n\r\nfirst bytes");
    CHECK(line.has_heard("HTTP/1.1 401 "));
    CHECK(line.requests.empty());
    CHECK_FALSE(line.connection->is_known());
    line.say(std::string(10'000, 'x'));  // it may continue for a while, and no client listens
    CHECK(line.connection->is_open());
    line.after(kDrainMax + 1s);
    CHECK_FALSE(line.connection->is_open());
}

TEST_CASE("who has shown the token sends a body, in pieces or after a 100 Continue") {
    Line line;
    line.start();
    line.say("POST /x HTTP/1.1\r\n" + kHost + kToken +
             "Expect: 100-continue\r\nContent-Length: 6\r\n\r\n");
    CHECK(line.connection->is_known());
    CHECK(line.has_heard("HTTP/1.1 100 Continue"));
    line.say("abc");
    CHECK(line.heard().empty());
    line.say("def");
    CHECK(line.has_heard("abcdef"));
    line.say("POST /x HTTP/1.1\r\n" + kHost + kToken + "Transfer-Encoding: chunked\r\n\r\n3");
    line.say("\r\nabc\r\n0\r\n\r\n");
    CHECK(line.has_heard("abc"));
}

TEST_CASE("a body of nothing may come a byte at a time") {
    Line line;
    line.start();
    line.say("POST /x HTTP/1.1\r\n" + kHost + kToken + "Transfer-Encoding: chunked\r\n\r\n");
    for (const char byte : std::string("0\r\n\r\n")) line.say(std::string(1, byte));
    CHECK(line.has_heard("HTTP/1.1 200 "));
}

TEST_CASE("every request of a connection shows the token") {
    Line line;
    line.start();
    line.say("GET /x HTTP/1.1\r\n" + kHost + kToken + "\r\n");
    CHECK(line.has_heard("HTTP/1.1 200 "));
    line.say("GET /api/x HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.has_heard("HTTP/1.1 401 "));
}

TEST_CASE("who shows no token gets one page, whatever else it asks for behind it") {
    Line line;
    line.start();
    line.say("GET /x HTTP/1.1\r\n" + kHost + "\r\nGET /y HTTP/1.1\r\n" + kHost + kToken + "\r\n");
    CHECK(line.has_heard("HTTP/1.1 200 "));
    REQUIRE(line.requests.size() == 1);
    CHECK(line.requests.front().rights == Rights());
    CHECK_FALSE(line.connection->is_known());
}

TEST_CASE("a body of another coding is not taken for the next request") {
    for (const char* coding : {"xchunked", "identity", "gzip, chunked"}) {
        CAPTURE(coding);
        Line line;
        line.start();
        line.say("POST /x HTTP/1.1\r\n" + kHost + kToken + "Transfer-Encoding: " + coding +
                 "\r\n\r\nPOST /y HTTP/1.1\r\n" + kHost + kToken + "\r\n");
        CHECK(line.has_heard("HTTP/1.1 501 "));
        CHECK(line.requests.empty());
    }
}

TEST_CASE("who shows no token any more is not known any more") {
    Line line;
    line.start();
    line.say("GET /x HTTP/1.1\r\n" + kHost + kToken + "\r\n");
    CHECK(line.connection->is_known());
    line.say("GET /x HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.has_heard("Connection: close"));
    CHECK_FALSE(line.connection->is_known());
}

TEST_CASE("who signs in says little") {
    for (const std::string body : {"Content-Length: 5000\r\n\r\n",
                                   "Transfer-Encoding: chunked\r\n\r\n"
                                   "2000\r\n"}) {
        CAPTURE(body);
        Line line;
        line.start();
        line.say("POST /api/v1/session HTTP/1.1\r\n" + kHost + body + std::string(5000, 'x'));
        CHECK(line.has_heard("HTTP/1.1 413 "));
        CHECK(line.requests.empty());
    }
}

TEST_CASE("a page that says twice or not at all where it is from is none of ours") {
    for (const std::string origin : {"Origin: \r\n", "Origin:\r\nOrigin: http://localhost\r\n",
                                     "Origin: http://localhost\r\nOrigin: http://evil\r\n"}) {
        CAPTURE(origin);
        Line line;
        line.start();
        line.say("GET /x HTTP/1.1\r\n" + kHost + kToken + origin + "\r\n");
        CHECK(line.has_heard("HTTP/1.1 403 "));
    }
}

TEST_CASE("HEAD is answered without a body") {
    Line line(true);
    line.start();
    line.say("HEAD /big HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.heard().ends_with("\r\n\r\n"));
    line.say("HEAD /%zz HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.heard().ends_with("\r\n\r\n"));
}

TEST_CASE("a header has to be there in time, however its bytes drip") {
    for (const bool is_local : {false, true}) {
        CAPTURE(is_local);
        Line line(is_local);
        line.start();
        line.say("GET /x HT");
        const auto most = is_local ? kHeaderMax : kNetworkHeaderMax;
        line.after(most - 1s);
        CHECK(line.heard().empty());
        line.say("TP");
        line.after(most + 1s);
        CHECK(line.has_heard("HTTP/1.1 408 "));
    }
}

TEST_CASE("a stranger who says nothing is sent away, the owner who idles between requests is not") {
    Line stranger;
    stranger.start();
    stranger.after(kNetworkHeaderMax + 1s);
    CHECK(stranger.has_heard("HTTP/1.1 408 "));
    Line owner(true);
    owner.start();
    owner.after(kNetworkHeaderMax + 1s);
    owner.after(kHeaderMax + 1s);
    CHECK(owner.connection->is_open());
    CHECK(owner.heard().empty());
    owner.after(kIdleMax + 1s);
    CHECK_FALSE(owner.connection->is_open());
}

TEST_CASE("a body has to be there in time") {
    Line line(true);
    line.start();
    line.say("POST /x HTTP/1.1\r\n" + kHost + "Content-Length: 6\r\n\r\nabc");
    line.after(kHeaderMax + 1s);
    CHECK(line.heard().empty());
    line.after(kBodyMax + 1s);
    CHECK(line.has_heard("the body of the request was not there within 30 s"));
    CHECK(line.requests.empty());
}

TEST_CASE("what waits for an answer ends when its client has closed") {
    for (const std::string last : {"\r\n", "Connection: close\r\n\r\n"}) {
        CAPTURE(last);
        Line line(true);
        line.start();
        line.say("GET /park HTTP/1.1\r\n" + kHost + last);
        line.after(59s);
        CHECK(line.connection->is_open());
        line.hang_up();
        line.after(1s);
        CHECK_FALSE(line.connection->is_open());
    }
}

TEST_CASE("a client on the socket that has said all it has to say still hears its answer") {
    Line line(true);
    line.start();
    line.say("GET /park HTTP/1.1\r\n" + kHost + "\r\n");
    ::shutdown(line.ends[0], SHUT_WR);
    line.run();
    line.after(59s);
    REQUIRE(line.parked.size() == 1);
    line.parked.front()({200, "at last", "text/plain", {}});
    line.run();
    CHECK(line.has_heard("at last"));
}

TEST_CASE("who does not take its answers is answered no further, and has all of them in the end") {
    Line line(true);
    line.start();
    line.say(repeated("GET /big HTTP/1.1\r\n" + kHost + "\r\n", kPipelinedMax));
    CHECK(line.requests.size() == 4);  // of 1 MiB each
    std::size_t bytes = 0;
    for (std::string piece = "more"; !piece.empty(); line.run()) {
        piece = line.heard();
        bytes += piece.size();
    }
    CHECK(line.requests.size() == kPipelinedMax);
    CHECK(bytes > kPipelinedMax * kBig);
    CHECK(line.connection->is_open());
}

TEST_CASE("who is turned away hears why, whatever it has sent") {
    Line line(true);
    line.say("GET /x HTTP/1.1\r\n" + kHost + "\r\n");
    line.connection->turn_away(busy(503, "too many", 1));
    line.run();
    const std::string heard = line.heard();
    CHECK(heard.find("HTTP/1.1 503 ") == 0);
    CHECK(heard.find("Retry-After: 1") != std::string::npos);
    CHECK(heard.find("Connection: close") != std::string::npos);
    CHECK(line.requests.empty());
}

TEST_CASE("a stream comes behind its header, piece after piece, until it is over") {
    Line line;
    line.start();
    line.stream->said = {"one", "two"};
    line.say("GET /stream HTTP/1.1\r\n" + kHost + kToken + "\r\n");
    const std::string heard = line.heard();
    CHECK(heard.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
    CHECK(heard.find("Content-Length") == std::string::npos);
    CHECK(heard.ends_with("Connection: close\r\n\r\nonetwo"));
    line.after(kIdleMax + 1s);  // it may be silent for long
    line.stream->say("three");
    line.run();
    CHECK(line.heard() == "three");
    line.stream->ends = true;
    line.stream->wake();
    line.run();
    line.after(kDrainMax + 1s);
    CHECK_FALSE(line.connection->is_open());
}

TEST_CASE("nothing behind a stream is asked for, and nothing is kept of what its client sends") {
    Line line(true);
    line.start();
    line.say("GET /x HTTP/1.1\r\n" + kHost + "\r\nGET /stream HTTP/1.1\r\n" + kHost +
             "\r\nGET /y HTTP/1.1\r\n" + kHost + "\r\n");
    line.say("GET /z HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.requests.size() == 1);
    CHECK(line.connection->is_streaming());
    line.stream->say("one");
    line.run();
    CHECK(line.heard().ends_with("\r\n\r\none"));
    for (int i = 0; i < 40 && line.connection->is_open(); ++i) line.say(std::string(100'000, 'x'));
    CHECK_FALSE(line.connection->is_open());
}

TEST_CASE("a stream ends with its client, and with one that takes no piece for long") {
    Line gone(true);
    gone.start();
    gone.say("GET /stream HTTP/1.1\r\n" + kHost + "\r\n");
    gone.hang_up();
    CHECK_FALSE(gone.connection->is_open());
    Line slow(true);
    slow.start();
    slow.say("GET /stream HTTP/1.1\r\n" + kHost + "\r\n");
    slow.stream->say(std::string(4 * kBig, 'x'));
    slow.run();
    slow.after(kStalledMax + 1s);
    CHECK_FALSE(slow.connection->is_open());
    CHECK(slow.stream.use_count() == 1);
}

TEST_CASE("a stream that is over ends, whatever its client has not taken") {
    Line line(true);
    line.start();
    line.say("GET /stream HTTP/1.1\r\n" + kHost + "\r\n");
    line.stream->say(std::string(4 * kBig, 'x'));
    line.run();
    line.after(1s);
    CHECK(line.connection->is_open());
    line.stream->ends = true;
    line.after(1s);
    CHECK_FALSE(line.connection->is_open());
}

TEST_CASE("HEAD of a stream is its header") {
    Line line(true);
    line.start();
    line.say("HEAD /stream HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.heard().ends_with("\r\n\r\n"));
    CHECK_FALSE(line.connection->is_streaming());
    line.say("GET /x HTTP/1.1\r\n" + kHost + "\r\n");
    CHECK(line.has_heard("HTTP/1.1 200 "));
}
