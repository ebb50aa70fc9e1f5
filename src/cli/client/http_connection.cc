// SPDX-License-Identifier: Apache-2.0
#include "cli/client/http_connection.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>

#include "runtime/socket_address.h"

namespace berth::cli {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kLineMax = 64 * 1024;
constexpr int kHeadersMax = 100;

std::int64_t steady_ms() {
    using std::chrono::duration_cast;
    return duration_cast<base::Duration>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

std::string reason_of(int error) { return std::strerror(error); }

base::Result<int> connect_unix(const std::string& path) {
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) return fail(ErrorCode::Internal, "cannot make a socket: " + reason_of(errno));
    const runtime::SocketAddress address(path);
    int error = address.error();
    if (error == 0 && ::connect(file, address.get(), address.size()) != 0) error = errno;
    if (error == 0) return file;
    ::close(file);
    const ErrorCode code = error == EACCES ? ErrorCode::Forbidden : ErrorCode::Unavailable;
    return fail(code, "the server is not running: nothing answers at " + path + " (" +
                          reason_of(error) + ")");
}

base::Result<int> connect_tcp(const std::string& host, const std::string& port) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const std::string place = host + ":" + port;
    if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
        return fail(ErrorCode::Unavailable, "cannot find " + place + ": " + ::gai_strerror(error));
    }
    int last_error = 0;
    for (const addrinfo* one = found; one; one = one->ai_next) {
        const int file = ::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, 0);
        if (file >= 0 && ::connect(file, one->ai_addr, one->ai_addrlen) == 0) {
            const int yes = 1;
            ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
            ::freeaddrinfo(found);
            return file;
        }
        last_error = errno;
        if (file >= 0) ::close(file);
    }
    ::freeaddrinfo(found);
    return fail(ErrorCode::Unavailable, "the server is not running: nothing answers at " + place +
                                            " (" + reason_of(last_error) + ")");
}

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

std::string_view trimmed_value(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

base::Result<std::size_t> parse_size(std::string_view text, int radix) {
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, radix);
    if (error != std::errc() || end == text.data() || size > kResponseBytesMax) {
        return fail(ErrorCode::Internal, "the server's answer has an impossible length");
    }
    return size;
}

std::string request_text(const HttpRequest& request, const ServerAddress& address) {
    const bool is_ipv6 = address.host.find(':') != std::string::npos;
    const std::string host = is_ipv6 ? "[" + address.host + "]" : address.host;
    std::string text(request.method);
    text += " " + request.target + " HTTP/1.1\r\nHost: ";
    text += address.socket.empty() ? host + ":" + address.port : "localhost";
    text += "\r\n";
    if (!address.token.empty()) text += "Authorization: Bearer " + address.token + "\r\n";
    for (const auto& [name, value] : request.headers) text += name + ": " + value + "\r\n";
    if (!request.body.empty()) text += "Content-Type: application/json\r\n";
    if (request.method != "GET") {
        text += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    }
    return text + "\r\n" + request.body;
}

}  // namespace

std::string_view HttpResponse::header(std::string_view lower_case_name) const {
    for (const auto& [name, value] : headers) {
        if (name == lower_case_name) return value;
    }
    return {};
}

bool HttpResponse::is_turned_away() const {
    return status == 503 && !header("retry-after").empty() && header("connection") == "close";
}

HttpConnection::HttpConnection(ServerAddress address, int interrupt)
    : address_(std::move(address)), interrupt_(interrupt) {}

HttpConnection::~HttpConnection() { close(); }

void HttpConnection::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    received_.clear();
}

base::Status HttpConnection::connect() {
    BERTH_TRY(file, address_.socket.empty() ? connect_tcp(address_.host, address_.port)
                                            : connect_unix(address_.socket));
    ::fcntl(file, F_SETFL, O_NONBLOCK);
    socket_ = file;
    return {};
}

base::Result<HttpResponse> HttpConnection::send(const HttpRequest& request,
                                                base::Duration patience) {
    const std::string text = request_text(request, address_);
    const std::int64_t deadline_ms = steady_ms() + patience.count();
    const bool was_kept = socket_ >= 0;
    has_sent_ = false;
    if (!was_kept) BERTH_TRY_VOID(connect());
    auto response = exchange(text, request.method != "HEAD", deadline_ms);
    const bool is_broken = !response && response.error().code == ErrorCode::Unavailable;
    if (is_broken && was_kept && request.method == "GET") {
        close();
        BERTH_TRY_VOID(connect());
        response = exchange(text, true, deadline_ms);
    }
    if (!response || response->header("connection") == "close") close();
    return response;
}

base::Result<HttpResponse> HttpConnection::exchange(const std::string& text, bool wants_body,
                                                    std::int64_t deadline_ms) {
    has_sent_ = true;
    BERTH_TRY(is_whole, write_all(text, deadline_ms));
    HttpResponse response;
    BERTH_TRY(status_line, read_line(deadline_ms));
    if (!status_line.starts_with("HTTP/1.") || status_line.size() < 12) {
        return fail(ErrorCode::Internal, "what answers there is not a Berth server");
    }
    std::from_chars(status_line.data() + 9, status_line.data() + 12, response.status);
    for (int count = 0;; ++count) {
        BERTH_TRY(line, read_line(deadline_ms));
        if (line.empty()) break;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos || count >= kHeadersMax) {
            return fail(ErrorCode::Internal, "the server's answer has a broken header");
        }
        response.headers.emplace_back(lower_case(std::string_view(line).substr(0, colon)),
                                      trimmed_value(std::string_view(line).substr(colon + 1)));
    }
    const bool has_body = wants_body && response.status != 204 && response.status != 304;
    if (has_body) BERTH_TRY_VOID(read_body(response, deadline_ms));
    if (!is_whole) close();
    return response;
}

base::Status HttpConnection::wait_for(short events, std::int64_t deadline_ms) const {
    for (;;) {
        pollfd wanted[2] = {{socket_, events, 0}, {interrupt_, POLLIN, 0}};
        const std::int64_t left = std::max<std::int64_t>(0, deadline_ms - steady_ms());
        const int slice = static_cast<int>(std::min<std::int64_t>(left, 60'000));
        const int ready = ::poll(wanted, interrupt_ >= 0 ? 2 : 1, slice);
        if (ready < 0 && errno != EINTR) {
            return fail(ErrorCode::Internal, "poll: " + reason_of(errno));
        }
        if (wanted[1].revents != 0) return fail(ErrorCode::Timeout, "interrupted");
        if (ready > 0 && wanted[0].revents != 0) return {};
        if (left == 0) return fail(ErrorCode::Timeout, "the server did not answer in time");
    }
}

base::Result<bool> HttpConnection::write_all(std::string_view text, std::int64_t deadline_ms) {
    while (!text.empty()) {
        const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
        if (sent > 0) {
            text.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno == EAGAIN || errno == EINTR) {
            BERTH_TRY_VOID(wait_for(POLLIN | POLLOUT, deadline_ms));
            char byte = 0;
            if (::recv(socket_, &byte, 1, MSG_PEEK) >= 0) return false;
        } else {
            return false;
        }
    }
    return true;
}

// Reads first and waits only when nothing is there: a kept connection usually has its answer in
// one piece.
base::Status HttpConnection::read_more(std::int64_t deadline_ms) {
    char buffer[64 * 1024];
    for (;;) {
        const ssize_t count = ::recv(socket_, buffer, sizeof(buffer), 0);
        if (count > 0) {
            received_.append(buffer, static_cast<std::size_t>(count));
            return {};
        }
        if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
            return fail(ErrorCode::Unavailable, "the server closed the connection");
        }
        BERTH_TRY_VOID(wait_for(POLLIN, deadline_ms));
    }
}

base::Result<std::string> HttpConnection::read_line(std::int64_t deadline_ms) {
    std::size_t end = 0;
    while ((end = received_.find("\r\n")) == std::string::npos) {
        if (received_.size() > kLineMax) {
            return fail(ErrorCode::Internal, "the server's answer has an endless header");
        }
        BERTH_TRY_VOID(read_more(deadline_ms));
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 2);
    return line;
}

base::Status HttpConnection::read_body(HttpResponse& response, std::int64_t deadline_ms) {
    if (lower_case(response.header("transfer-encoding")) == "chunked") {
        return read_chunks(response, deadline_ms);
    }
    const std::string_view length = response.header("content-length");
    if (length.empty()) {  // the body ends with the connection
        for (;;) {
            const base::Status more = read_more(deadline_ms);
            if (!more && more.error().code != ErrorCode::Unavailable) return more;
            if (!more || received_.size() > kResponseBytesMax) break;
        }
        response.body.swap(received_);
        close();
        return {};
    }
    BERTH_TRY(size, parse_size(length, 10));
    while (received_.size() < size) BERTH_TRY_VOID(read_more(deadline_ms));
    response.body = received_.substr(0, size);
    received_.erase(0, size);
    return {};
}

base::Status HttpConnection::read_chunks(HttpResponse& response, std::int64_t deadline_ms) {
    for (;;) {
        BERTH_TRY(line, read_line(deadline_ms));
        BERTH_TRY(size, parse_size(line, 16));
        if (size == 0) break;
        if (response.body.size() + size > kResponseBytesMax) {
            return fail(ErrorCode::Internal, "the server's answer is too long");
        }
        while (received_.size() < size + 2) BERTH_TRY_VOID(read_more(deadline_ms));
        response.body.append(received_, 0, size);
        received_.erase(0, size + 2);
    }
    for (;;) {
        BERTH_TRY(trailer, read_line(deadline_ms));
        if (trailer.empty()) return {};
    }
}

}  // namespace berth::cli
