// SPDX-License-Identifier: Apache-2.0
#include "api/http/http_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <list>

#include "api/http/problem.h"
#include "runtime/socket_address.h"

namespace berth::api {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;

namespace {

constexpr int kRetrySeconds = 1;

using Connections = std::list<std::shared_ptr<HttpConnection>>;

// Those in the list that are open, ask, and are of this kind.
template <typename IsOne>
std::size_t count(const Connections& connections, IsOne is_one) {
    return static_cast<std::size_t>(std::ranges::count_if(connections, [&](const auto& each) {
        return each->is_open() && !each->is_turned_away() && !each->is_streaming() && is_one(*each);
    }));
}

Response full(const std::string& whose, std::size_t most) {
    return busy(503, whose + " " + std::to_string(most) + " connections here; try again later",
                kRetrySeconds);
}

// IPv4's are among IPv6's, where there are any.
asio::ip::address all_addresses() {
    const int socket = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) return asio::ip::address_v4::any();
    ::close(socket);
    return asio::ip::address_v6::any();
}

// One that cannot even be refused in turn. What it has sent may take this back from it.
void hang_up(HttpConnection::Socket& socket, const Response& answer) {
    std::string text;
    append_response(text, answer, true);
    [[maybe_unused]] const ssize_t sent =
        ::send(socket.native_handle(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

struct HttpServer::Impl {
    Impl(asio::io_context& io, HttpSettings settings)
        : loop(io),
          handler(std::move(settings.handler)),
          hears(settings.hears),
          gate(std::move(settings.token), settings.sessions, settings.hears),
          local(io),
          network(io),
          sweep_timer(io) {
        untaken.make_room = [this] { close_slowest(); };
    }

    template <typename Acceptor, typename Welcome>
    void accept(Acceptor& acceptor, Welcome welcome) {
        acceptor.async_accept(
            [this, &acceptor, welcome](const boost::system::error_code& error, auto socket) {
                if (!acceptor.is_open()) return;
            // Out of descriptors: try again when the sweep has closed some.
                if (error)
                    return accept_later([this, &acceptor, welcome] { accept(acceptor, welcome); });
                (this->*welcome)(HttpConnection::Socket(std::move(socket)));
                accept(acceptor, welcome);
            });
    }

    // Each user has its own budget, so that none shuts out another. The server's own user gets in
    // for a moment beside a thousand streams of its own, to end the jobs that have them or the
    // server.
    void welcome_local(HttpConnection::Socket socket) {
        forget_closed(local_clients);
        const Peer peer = unix_peer(socket.native_handle());
        const bool is_owner = peer.uid == ::geteuid();
        const std::size_t most = is_owner ? kConnectionsMax : kGuestConnectionsMax;
        const std::size_t there = count(local_clients, [&](const HttpConnection& other) {
            return other.peer().uid == peer.uid;
        });
        if (there < most) return add(local_clients, std::move(socket), peer);
        if (is_owner && there < most + kKeptConnectionsMax) {
            add(local_clients, std::move(socket), peer);
            return local_clients.back()->be_brief();
        }
        turn_away(local_clients, std::move(socket), peer, full("user " + peer.user + " has", most));
    }

    // Of those that have shown no token yet the oldest goes when a new one comes: who means to ask
    // has asked long before that. Where none is wanted no client has one, and each is heard once:
    // so a probe is heard whatever other clients do.
    void welcome_network(HttpConnection::Socket socket) {
        boost::system::error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        forget_closed(network_clients);
        const auto is_unknown = [](const HttpConnection& other) { return !other.is_known(); };
        const std::size_t unknown = count(network_clients, is_unknown);
        const std::size_t known = count(network_clients, std::not_fn(is_unknown));
        if (known >= kNetworkConnectionsMax) {
            return turn_away(network_clients, std::move(socket), network_peer(),
                             full("the TCP port has", kNetworkConnectionsMax));
        }
        if (unknown >= kUnknownConnectionsMax) {
            const auto oldest = std::ranges::find_if(network_clients, [&](const auto& each) {
                return each->is_open() && !each->is_turned_away() && is_unknown(*each);
            });
            (*oldest)->turn_away(full("the TCP port has, without the token,", unknown));
        }
        add(network_clients, std::move(socket), network_peer());
        if (hears == Hears::Anyone) network_clients.back()->be_brief();
    }

    void add(Connections& clients, HttpConnection::Socket socket, const Peer& peer) {
        clients.push_back(
            std::make_shared<HttpConnection>(std::move(socket), peer, handler, gate, untaken));
        clients.back()->start();
    }

    // It gets the reason, and stays until it has read it.
    void turn_away(Connections& clients, HttpConnection::Socket socket, const Peer& peer,
                   const Response& answer) {
        const auto leaving = static_cast<std::size_t>(
            std::ranges::count_if(clients, &HttpConnection::is_turned_away,
                                  [](const auto& each) -> const HttpConnection& { return *each; }));
        if (leaving >= kTurnedAwayMax) return hang_up(socket, answer);
        clients.push_back(
            std::make_shared<HttpConnection>(std::move(socket), peer, handler, gate, untaken));
        clients.back()->turn_away(answer);
    }

    // Of those with answers to take the one goes that has taken nothing for longest: who reads its
    // answers has taken something a moment ago.
    void close_slowest() {
        while (untaken.bytes > kAllUntakenBytesMax) {
            HttpConnection* slowest = nullptr;
            for (Connections* clients : {&local_clients, &network_clients}) {
                for (const auto& each : *clients) {
                    const Outbox& owed = each->outbox();
                    if (!owed.has_untaken()) continue;
                    if (!slowest || owed.untaken_since() < slowest->outbox().untaken_since())
                        slowest = each.get();
                }
            }
            slowest->close();
        }
    }

    static void forget_closed(Connections& clients) {
        clients.remove_if([](const auto& connection) { return !connection->is_open(); });
    }

    void accept_later(std::function<void()> again) { waiting.push_back(std::move(again)); }

    void sweep() {
        sweep_timer.expires_after(std::chrono::seconds(1));
        sweep_timer.async_wait([this](const boost::system::error_code& error) {
            if (error) return;
            const auto now = HttpConnection::Clock::now();
            for (Connections* clients : {&local_clients, &network_clients}) {
                for (const auto& connection : *clients) {
                    if (connection->is_open()) connection->look(now);
                }
                forget_closed(*clients);
            }
            for (const auto& again : std::exchange(waiting, {})) again();
            sweep();
        });
    }

    asio::io_context& loop;
    Handler handler;
    Hears hears;
    Gate gate;
    Untaken untaken;
    stream_protocol::acceptor local;
    tcp::acceptor network;
    asio::steady_timer sweep_timer;
    Connections local_clients;
    Connections network_clients;
    std::vector<std::function<void()>> waiting;
};

HttpServer::HttpServer(asio::io_context& loop, HttpSettings settings)
    : impl_(std::make_unique<Impl>(loop, std::move(settings))) {
    impl_->sweep();
}

HttpServer::~HttpServer() {
    for (const auto& connection : impl_->local_clients) connection->close();
    for (const auto& connection : impl_->network_clients) connection->close();
}

base::Status HttpServer::listen_unix(const std::string& path) {
    const runtime::SocketAddress address(path);
    boost::system::error_code error(address.error(), boost::system::system_category());
    ::unlink(path.c_str());
    if (!error) impl_->local.open(stream_protocol(), error);
    // The name appears with these rights: no other user can slip in between.
    const mode_t before = ::umask(0177);
    if (!error) impl_->local.bind(stream_protocol::endpoint(address.path()), error);
    ::umask(before);
    if (!error) impl_->local.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot listen on \"" + path + "\": " + error.message());
    }
    impl_->accept(impl_->local, &Impl::welcome_local);
    return {};
}

base::Result<int> HttpServer::listen_tcp(int port) { return listen_tcp("127.0.0.1", port); }

base::Result<int> HttpServer::listen_tcp(const std::string& address, int port) {
    boost::system::error_code error;
    const asio::ip::address place =
        address.empty() ? all_addresses() : asio::ip::make_address(address, error);
    const tcp::endpoint endpoint(place, static_cast<unsigned short>(port));
    if (!error) impl_->network.open(endpoint.protocol(), error);
    if (!error) impl_->network.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && place.is_v6()) impl_->network.set_option(asio::ip::v6_only(false), error);
    if (!error) impl_->network.bind(endpoint, error);
    if (!error) impl_->network.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        boost::system::error_code ignored;
        impl_->network.close(ignored);
        return base::fail(
            base::ErrorCode::Unavailable,
            "cannot listen on " + address + ":" + std::to_string(port) + ": " + error.message());
    }
    impl_->accept(impl_->network, &Impl::welcome_network);
    return static_cast<int>(impl_->network.local_endpoint().port());
}

void HttpServer::stop_accepting() {
    boost::system::error_code ignored;
    impl_->local.close(ignored);
    impl_->network.close(ignored);
}

}  // namespace berth::api
