// SPDX-License-Identifier: Apache-2.0
//
// The client over real sockets and TLS, to a server in the same loop.
#include <doctest/doctest.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "doubles/kube_api/certificates.h"
#include "doubles/steady_clock.h"
#include "kube/client/transport/loop_timers.h"
#include "kube/client/transport/requests.h"
#include "kube/client/transport/tls_dialer.h"

namespace {

namespace asio = boost::asio;
using namespace berth;
using namespace berth::kube::client;
using asio::ip::tcp;
using tests::kube_api::Authority;
using tests::kube_api::Signed;

// Answers every request with what it was, and keeps who asked.
class EchoServer {
  public:
    EchoServer(asio::io_context& loop, const Authority& authority, const std::string& names)
        : loop_(loop), acceptor_(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        const Signed mine = authority.sign("server", names);
        context_.use_certificate_chain(asio::buffer(mine.certificate_pem));
        context_.use_private_key(asio::buffer(mine.key_pem), asio::ssl::context::pem);
        context_.add_certificate_authority(asio::buffer(authority.pem()));
        context_.set_verify_mode(asio::ssl::verify_peer);
        accept();
    }
    std::string port() const { return std::to_string(acceptor_.local_endpoint().port()); }
    void close_all() {
        for (const auto& peer : peers_) peer->stream.lowest_layer().close();
    }

    int connections = 0;
    std::vector<std::string> seen;     // first lines of requests
    std::vector<std::string> clients;  // by their certificates
    std::string extra_header;

  private:
    struct Peer {
        Peer(tcp::socket socket, asio::ssl::context& context)
            : stream(std::move(socket), context) {}
        asio::ssl::stream<tcp::socket> stream;
        std::string inbox;
        std::string answer;
    };

    void accept() {
        acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
            if (error) return;
            ++connections;
            auto peer = std::make_shared<Peer>(std::move(socket), context_);
            peers_.push_back(peer);
            peer->stream.async_handshake(
                asio::ssl::stream_base::server,
                [this, peer](const boost::system::error_code& refused) {
                    if (refused) return;
                    if (X509* shown = SSL_get1_peer_certificate(peer->stream.native_handle())) {
                        char name[100];
                        X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName,
                                                  name, sizeof name);
                        clients.emplace_back(name);
                        X509_free(shown);
                    }
                    read(peer);
                });
            accept();
        });
    }

    void read(const std::shared_ptr<Peer>& peer) {
        asio::async_read_until(
            peer->stream, asio::dynamic_buffer(peer->inbox), "\r\n\r\n",
            [this, peer](const boost::system::error_code& error, std::size_t size) {
                if (error) return;
                const std::string head = peer->inbox.substr(0, size);
                peer->inbox.erase(0, size);
                seen.push_back(head.substr(0, head.find("\r\n")));
                peer->answer = "HTTP/1.1 200 OK\r\n" + extra_header +
                               "Content-Length: " + std::to_string(head.size()) + "\r\n\r\n" + head;
                asio::async_write(peer->stream, asio::buffer(peer->answer),
                                  [this, peer](const boost::system::error_code& lost, std::size_t) {
                                      if (!lost) read(peer);
                                  });
            });
    }

    asio::io_context& loop_;
    tcp::acceptor acceptor_;
    asio::ssl::context context_{asio::ssl::context::tls_server};
    std::vector<std::shared_ptr<Peer>> peers_;
};

struct World {
    explicit World(const std::string& names = "IP:127.0.0.1,DNS:kube")
        : server(loop, authority, names) {
        access.host = "127.0.0.1";
        access.port = server.port();
        access.ca_pem = authority.pem();
    }

    void connect() {
        auto made = TlsDialer::make(loop, access);
        REQUIRE_MESSAGE(made, made.error().message);
        dialer = std::move(*made);
        credentials = std::make_unique<Credentials>(access, nullptr, clock);
        requests = std::make_unique<Requests>(access, *dialer, *credentials, timers);
    }

    Outcome ask(Request request) {
        Outcome got;
        bool is_there = false;
        requests->send(std::move(request), [&](Outcome outcome) {
            got = std::move(outcome);
            is_there = true;
        });
        while (!is_there && loop.run_one() > 0) {
        }
        return got;
    }

    asio::io_context loop;
    tests::SteadyClock clock;
    LoopTimers timers{loop, clock};
    Authority authority;
    EchoServer server;
    Access access;
    std::unique_ptr<TlsDialer> dialer;
    std::unique_ptr<Credentials> credentials;
    std::unique_ptr<Requests> requests;
};

}  // namespace

TEST_CASE("requests go over TLS, one connection for all of them, with the token") {
    World world;
    world.access.token = "secret";
    world.access.base_path = "/k8s/c-1";
    world.connect();
    for (int i = 0; i < 3; ++i) {
        const Outcome outcome = world.ask({Method::Get, "/api/v1/pods?limit=1"});
        REQUIRE_MESSAGE(outcome.is_done(), outcome.message);
        CHECK(outcome.body.starts_with("GET /k8s/c-1/api/v1/pods?limit=1 HTTP/1.1\r\n"));
        CHECK(outcome.body.find("Authorization: Bearer secret\r\n") != std::string::npos);
        CHECK(outcome.body.find("User-Agent: berth\r\n") != std::string::npos);
    }
    CHECK(world.server.connections == 1);
    CHECK(world.server.clients.empty());
}

TEST_CASE("a client certificate is shown") {
    World world;
    const Signed mine = world.authority.sign("susan", "");
    world.access.certificate_pem = mine.certificate_pem;
    world.access.key_pem = mine.key_pem;
    world.connect();
    CHECK(world.ask({Method::Get, "/"}).is_done());
    CHECK(world.server.clients == std::vector<std::string>{"susan"});
}

TEST_CASE("a server of another authority, or of another name, gets nothing") {
    World other_authority;
    const Authority stranger;
    other_authority.access.ca_pem = stranger.pem();
    other_authority.access.token = "secret";
    other_authority.connect();
    Outcome outcome = other_authority.ask({Method::Get, "/"});
    CHECK(outcome.kind == Outcome::Kind::NotSent);
    CHECK(outcome.message.find("TLS is refused") != std::string::npos);
    CHECK(other_authority.server.seen.empty());

    World other_name("DNS:kube");
    other_name.connect();
    outcome = other_name.ask({Method::Get, "/"});
    CHECK(outcome.kind == Outcome::Kind::NotSent);
    CHECK(other_name.server.seen.empty());
    // The same server is right under the name that its certificate has.
    other_name.access.server_name = "kube";
    other_name.connect();
    CHECK(other_name.ask({Method::Get, "/"}).is_done());
}

TEST_CASE("a kept connection that the server has closed is not used again") {
    World world;
    world.connect();
    CHECK(world.ask({Method::Get, "/1"}).is_done());
    world.server.close_all();
    // The loop hears of it before the next request is sent.
    world.loop.poll();
    const Outcome outcome = world.ask({Method::Post, "/2", "{}"});
    CHECK_MESSAGE(outcome.is_done(), outcome.message);
    CHECK(world.server.connections == 2);

    world.server.extra_header = "Connection: close\r\n";
    CHECK(world.ask({Method::Get, "/3"}).is_done());
    CHECK(world.ask({Method::Get, "/4"}).is_done());
    CHECK(world.server.connections == 3);
}

TEST_CASE("no server at the address: the request is not sent, and the place is named") {
    World world;
    world.access.port = "1";
    world.connect();
    const Outcome outcome = world.ask({Method::Post, "/", "{}"});
    CHECK(outcome.kind == Outcome::Kind::NotSent);
    CHECK(outcome.message.starts_with("127.0.0.1:1: cannot connect: "));
}

TEST_CASE("certificates that cannot be read are refused") {
    World world;
    world.access.ca_pem = "no certificate";
    CHECK_FALSE(TlsDialer::make(world.loop, world.access));
    world.access.ca_pem = world.authority.pem();
    world.access.certificate_pem = world.authority.pem();
    world.access.key_pem = "no key";
    CHECK_FALSE(TlsDialer::make(world.loop, world.access));
}
