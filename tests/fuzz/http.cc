// SPDX-License-Identifier: Apache-2.0
//
// A client's connection as the server holds it, over a real pair of sockets; and the address that a
// request names.
#include "api/http/http.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <string>

#include "api/http/http_connection.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"

namespace berth::fuzz {
namespace {

namespace asio = boost::asio;

// Appends what has arrived. False at the end.
bool take(int socket, std::string& out) {
    char bytes[16 * 1024];
    while (true) {
        const ssize_t size = ::recv(socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size == 0) return false;
        if (size < 0) return true;
        out.append(bytes, static_cast<std::size_t>(size));
    }
}

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at))
        ++found, at += part.size();
    return found;
}

}  // namespace

void address(std::string_view input) {
    api::Request request;
    if (!api::parse_target(input, request)) return;
    expect(request.path.size() <= input.size(), "what is decoded is no longer than it was");
    for (const auto& [name, value] : request.query)
        expect(request.find(name) != nullptr && value.size() <= input.size(),
               "what is asked is found by its name");
}

// The first byte says who is at the other end, someone trusted or someone who must show a token,
// and in how long pieces the rest comes: 0 = as one.
void http(std::string_view input) {
    if (input.empty()) return;
    static asio::io_context loop;
    std::size_t asked = 0;
    const api::Handler handler = [&](api::Request request, api::Respond respond) {
        ++asked;
        expect(!request.method.empty(), "a request has a method");
        api::Response response;
        response.body = "[]";
        respond(std::move(response));
    };
    api::Gate gate("secret");
    api::Untaken untaken;
    api::Peer peer;
    const auto first = static_cast<unsigned char>(input.front());
    peer.is_local = peer.is_trusted = first % 2 == 0;
    const std::size_t piece = first / 2 == 0 ? std::string_view::npos : first / 2;
    input.remove_prefix(1);

    int ends[2];
    expect(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0,
           "there are sockets");
    auto connection = std::make_shared<api::HttpConnection>(
        api::HttpConnection::Socket(loop, asio::generic::stream_protocol(AF_UNIX, 0), ends[0]),
        peer, handler, gate, untaken);
    connection->start();
    std::string answers;
    bool is_open = true;
    while (is_open) {
        const ssize_t sent =
            ::send(ends[1], input.data(), std::min(piece, input.size()), MSG_NOSIGNAL);
        if (sent > 0) input.remove_prefix(static_cast<std::size_t>(sent));
        if (input.empty() || sent < 0) ::shutdown(ends[1], SHUT_WR);
        loop.restart();
        const std::size_t steps = loop.poll();
        const std::size_t before = answers.size();
        is_open = take(ends[1], answers);
        expect(!is_open || steps > 0 || answers.size() > before || !input.empty(),
               "a client that has said all is answered and let go");
    }
    connection->close();
    loop.restart();
    loop.poll();
    ::close(ends[1]);
    expect(connection.use_count() == 1, "nothing is left of a connection");
    expect(count(answers, "HTTP/1.1 ") >= asked, "every request is answered");
    expect(answers.empty() || answers.starts_with("HTTP/1.1 "), "an answer is HTTP");
}

}  // namespace berth::fuzz
