// SPDX-License-Identifier: Apache-2.0
#include "kube/client/transport/tls_dialer.h"

#include <netinet/tcp.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <utility>

namespace berth::kube::client {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Error = boost::system::error_code;

base::Error unavailable(const std::string& place, const std::string& what, const Error& error) {
    return {base::ErrorCode::Unavailable, place + ": " + what + ": " + error.message()};
}

void set(tcp::socket& socket, int option, int value) {
    ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value);
}

}  // namespace

struct TlsDialer::Target {
    explicit Target(asio::io_context& on) : loop(on) {}

    asio::io_context& loop;
    asio::ssl::context context{asio::ssl::context::tls_client};
    std::string host;
    std::string port;
    std::string name;  // what the certificate has to say
    bool is_verified = true;
};

namespace {

// What the callbacks of a channel hold, so that it lives until the loop has let go of it. Its own
// TLS state is freed with it; nothing is called once the channel is gone.
template <class Target>
struct Session {
    explicit Session(std::shared_ptr<Target> to)
        : target(std::move(to)), resolver(target->loop), stream(target->loop, target->context) {}

    std::shared_ptr<Target> target;
    tcp::resolver resolver;
    asio::ssl::stream<tcp::socket> stream;
    // What is read and written: the loop may come to it after the channel is gone.
    std::array<char, 16 * 1024> reading;  // a record of TLS
    std::string writing;
    bool is_gone = false;
};

template <class Target>
class TlsChannel final : public Channel {
  public:
    explicit TlsChannel(const std::shared_ptr<Target>& target)
        : session_(std::make_shared<Session<Target>>(target)) {}

    ~TlsChannel() override {
        session_->is_gone = true;
        session_->resolver.cancel();
        Error ignored;
        session_->stream.lowest_layer().close(ignored);
    }

    void open(Done done) override {
        const std::string place = session_->target->host + ":" + session_->target->port;
        session_->resolver.async_resolve(
            session_->target->host, session_->target->port,
            [session = session_, place, then = std::move(done)](const Error& error,
                                                                const auto& found) {
                if (session->is_gone) return;
                if (error) return then(tl::unexpected(unavailable(place, "no address", error)));
                connect(session, place, found, then);
            });
    }

    void write(std::string bytes, Done done) override {
        session_->writing = std::move(bytes);
        asio::async_write(
            session_->stream, asio::buffer(session_->writing),
            [session = session_, then = std::move(done)](const Error& error, std::size_t) {
                if (session->is_gone) return;
                if (error) return then(base::fail(base::ErrorCode::Unavailable, error.message()));
                then({});
            });
    }

    void read(Got got) override {
        session_->stream.async_read_some(
            asio::buffer(session_->reading),
            [session = session_, then = std::move(got)](const Error& error, std::size_t size) {
                if (session->is_gone) return;
                if (size > 0) return then(std::string_view(session->reading.data(), size));
                if (error == asio::error::eof) return then(std::string_view{});
                then(base::fail(base::ErrorCode::Unavailable, error.message()));
            });
    }

  private:
    using Held = std::shared_ptr<Session<Target>>;

    static void connect(const Held& session, const std::string& place,
                        const tcp::resolver::results_type& found, const Done& then) {
        asio::async_connect(
            session->stream.next_layer(), found,
            [session, place, then](const Error& error, const tcp::endpoint&) {
                if (session->is_gone) return;
                if (error) return then(tl::unexpected(unavailable(place, "cannot connect", error)));
                shake_hands(session, place, then);
            });
    }

    static void shake_hands(const Held& session, const std::string& place, const Done& then) {
        tcp::socket& socket = session->stream.next_layer();
        Error ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        socket.set_option(asio::socket_base::keep_alive(true), ignored);
        set(socket, TCP_KEEPIDLE, 15);
        set(socket, TCP_KEEPINTVL, 5);
        set(socket, TCP_KEEPCNT, 3);
        const Target& target = *session->target;
        if (target.is_verified) {
            session->stream.set_verify_mode(asio::ssl::verify_peer);
            session->stream.set_verify_callback(asio::ssl::host_name_verification(target.name));
        }
        Error is_none;
        asio::ip::make_address(target.name, is_none);
        // A name, not an address, is sent to the server.
        if (is_none) SSL_set_tlsext_host_name(session->stream.native_handle(), target.name.c_str());
        session->stream.async_handshake(
            asio::ssl::stream_base::client, [session, place, then](const Error& error) {
                if (session->is_gone) return;
                if (error) {
                    return then(tl::unexpected(unavailable(place, "TLS is refused", error)));
                }
                then({});
            });
    }

    Held session_;
};

}  // namespace

base::Result<std::unique_ptr<TlsDialer>> TlsDialer::make(asio::io_context& loop,
                                                         const Access& access) {
    auto target = std::make_shared<Target>(loop);
    target->host = access.host;
    target->port = access.port;
    target->name = access.server_name.empty() ? access.host : access.server_name;
    target->is_verified = !access.is_unverified;
    asio::ssl::context& context = target->context;
    Error error;
    context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
    const auto wrong = [&](const char* what) {
        return base::invalid(std::string(what) + " cannot be used: " + error.message());
    };
    if (access.ca_pem.empty()) {
        context.set_default_verify_paths(error);
    } else {
        context.add_certificate_authority(asio::buffer(access.ca_pem), error);
    }
    if (error) return wrong("the certificate authority");
    if (!access.certificate_pem.empty()) {
        context.use_certificate_chain(asio::buffer(access.certificate_pem), error);
        if (error) return wrong("the client certificate");
        context.use_private_key(asio::buffer(access.key_pem), asio::ssl::context::pem, error);
        if (error) return wrong("the client key");
    }
    return std::unique_ptr<TlsDialer>(new TlsDialer(std::move(target)));
}

TlsDialer::TlsDialer(std::shared_ptr<Target> target) : target_(std::move(target)) {}
TlsDialer::~TlsDialer() = default;

std::unique_ptr<Channel> TlsDialer::dial() { return std::make_unique<TlsChannel<Target>>(target_); }

}  // namespace berth::kube::client
