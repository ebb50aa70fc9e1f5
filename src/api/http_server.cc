// SPDX-License-Identifier: Apache-2.0
#include "api/http_server.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <list>
#include <optional>

namespace berth::api {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;

struct HttpServer::Impl {
    Impl(asio::io_context& io, HttpSettings its_settings)
        : loop(io), settings(std::move(its_settings)), local(io), network(io), sweep_timer(io) {}

    template <typename Acceptor, typename MakePeer>
    void accept(Acceptor& acceptor, MakePeer make_peer) {
        acceptor.async_accept([this, &acceptor, make_peer](const boost::system::error_code& error,
                                                           auto socket) {
            if (!acceptor.is_open()) return;
            // Out of descriptors: try again when the sweep has closed some.
            if (error)
                return accept_later([this, &acceptor, make_peer] { accept(acceptor, make_peer); });
            const Peer peer = make_peer(socket);
            add(HttpConnection::Socket(std::move(socket)), peer);
            accept(acceptor, make_peer);
        });
    }

    void add(HttpConnection::Socket socket, const Peer& peer) {
        if (connections.size() >= kConnectionsMax) forget_closed();
        if (connections.size() >= kConnectionsMax) return;
        auto connection = std::make_shared<HttpConnection>(std::move(socket), peer, settings);
        connection->start();
        connections.push_back(std::move(connection));
    }

    void forget_closed() {
        connections.remove_if([](const auto& connection) { return !connection->is_open(); });
    }

    void accept_later(std::function<void()> again) { waiting.push_back(std::move(again)); }

    void sweep() {
        sweep_timer.expires_after(std::chrono::seconds(1));
        sweep_timer.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            const auto now = HttpConnection::Clock::now();
            for (const auto& connection : connections) {
                if (connection->is_open() && connection->is_stale(now)) connection->close();
            }
            forget_closed();
            for (const auto& again : std::exchange(waiting, {})) again();
            sweep();
        });
    }

    asio::io_context& loop;
    HttpSettings settings;
    stream_protocol::acceptor local;
    tcp::acceptor network;
    asio::steady_timer sweep_timer;
    std::list<std::shared_ptr<HttpConnection>> connections;
    std::vector<std::function<void()>> waiting;
};

HttpServer::HttpServer(asio::io_context& loop, HttpSettings settings)
    : impl_(std::make_unique<Impl>(loop, std::move(settings))) {
    impl_->sweep();
}

HttpServer::~HttpServer() {
    for (const auto& connection : impl_->connections) connection->close();
}

base::Status HttpServer::listen_unix(const std::string& path) {
    if (path.size() >= sizeof(sockaddr_un::sun_path)) {
        return base::fail(base::ErrorCode::Unavailable,
                          "socket path \"" + path + "\" is longer than the " +
                              std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                              " bytes the system allows; choose a shorter --data");
    }
    ::unlink(path.c_str());
    boost::system::error_code error;
    impl_->local.open(stream_protocol(), error);
    // The name appears with these rights: nobody else can slip in between.
    const mode_t before = ::umask(0177);
    if (!error) impl_->local.bind(stream_protocol::endpoint(path), error);
    ::umask(before);
    if (!error) impl_->local.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot listen on \"" + path + "\": " + error.message());
    }
    impl_->accept(impl_->local, [](stream_protocol::socket& socket) {
        return unix_peer(socket.native_handle());
    });
    return {};
}

base::Result<int> HttpServer::listen_tcp(int port) {
    const tcp::endpoint place(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port));
    boost::system::error_code error;
    impl_->network.open(place.protocol(), error);
    if (!error) impl_->network.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) impl_->network.bind(place, error);
    if (!error) impl_->network.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        boost::system::error_code ignored;
        impl_->network.close(ignored);
        return base::fail(
            base::ErrorCode::Unavailable,
            "cannot listen on 127.0.0.1:" + std::to_string(port) + ": " + error.message());
    }
    impl_->accept(impl_->network, [](tcp::socket& socket) {
        boost::system::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        return network_peer();
    });
    return static_cast<int>(impl_->network.local_endpoint().port());
}

void HttpServer::stop_accepting() {
    boost::system::error_code ignored;
    impl_->local.close(ignored);
    impl_->network.close(ignored);
}

}  // namespace berth::api
