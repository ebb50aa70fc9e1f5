// SPDX-License-Identifier: Apache-2.0
#include "served.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "doubles/kube_api/certificates.h"
#include "doubles/kube_api/server.h"
#include "doubles/kube_api/store.h"

namespace berth::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using tests::kube_api::Held;
using tests::kube_api::Object;
using tests::kube_api::Store;

constexpr std::size_t kEventsAtOnce = 50;

std::uint64_t number_behind(const std::string& text, std::string_view name) {
    std::uint64_t number = 0;
    const std::size_t at = text.find(name);
    if (at == std::string::npos) return 0;
    std::from_chars(text.data() + at + name.size(), text.data() + text.size(), number);
    return number;
}

class Answers {
  public:
    Answers(int pods, std::uint64_t events) : store_(1), dice_(2), left_(events) {
        for (; created_ < pods; ++created_) pods_.push_back(create());
    }

    void serve(asio::ssl::stream<tcp::socket>& stream) {
        std::string inbox;
        for (;;) {
            boost::system::error_code error;
            const std::size_t size =
                asio::read_until(stream, asio::dynamic_buffer(inbox), "\r\n\r\n", error);
            if (error) return;
            const std::string head = inbox.substr(0, size);
            inbox.erase(0, size);
            const bool is_watch = head.find("watch=1") != std::string::npos;
            if (!(is_watch ? watch(stream, head) : list(stream, head))) return;
        }
    }

  private:
    using Stream = asio::ssl::stream<tcp::socket>;

    Held create() {
        const std::string name = "train-" + std::to_string(created_) + "-x7k2p";
        return store_.create("pods", "ml", name);
    }

    static bool say(Stream& stream, const std::string& text) {
        boost::system::error_code error;
        asio::write(stream, asio::buffer(text), error);
        return !error;
    }

    static bool say(Stream& stream, const char* code, const std::string& body) {
        return say(stream, std::string("HTTP/1.1 ") + code + "\r\nContent-Length: " +
                               std::to_string(body.size()) + "\r\n\r\n" + body);
    }

    static bool say_chunk(Stream& stream, const std::string& text) {
        char size[20];
        const auto end = std::to_chars(size, size + sizeof size, text.size(), 16).ptr;
        return say(stream, std::string(size, end) + "\r\n" + text + "\r\n");
    }

    bool list(Stream& stream, const std::string& head) {
        const std::uint64_t from = number_behind(head, "continue=");
        if (from == 0) listed_ = store_.snapshot("pods");
        const std::uint64_t to =
            std::min<std::uint64_t>(listed_.size(), from + number_behind(head, "limit="));
        std::string body =
            R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
            std::to_string(store_.version()) + R"(","continue":")" +
            (to < listed_.size() ? std::to_string(to) : "") + R"("},"items":[)";
        for (std::uint64_t i = from; i < to; ++i) body += (i == from ? "" : ",") + listed_[i]->json;
        return say(stream, "200 OK", body + "]}");
    }

    // Four of five change a pod, the others take one away and make another one.
    void change_something() {
        const std::size_t at = dice_.index(pods_.size());
        if (left_ < 2 || dice_.chance(4, 5)) {
            Object now = *pods_[at];
            now.content = static_cast<int>(dice_.between(0, 99));
            pods_[at] = store_.change(now);
            --left_;
            return;
        }
        store_.remove(pods_[at]);
        ++created_;
        pods_[at] = create();
        left_ -= 2;
    }

    bool watch(Stream& stream, const std::string& head) {
        using Clock = std::chrono::steady_clock;
        if (!std::exchange(has_been_old_, true) || left_ == 0) {
            return say(stream, "410 Gone",
                       tests::kube_api::status_of(410, "Expired", "too old resource version"));
        }
        const auto end =
            Clock::now() + std::chrono::seconds(number_behind(head, "timeoutSeconds="));
        if (!say(stream, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")) return false;
        while (left_ > 0 && Clock::now() < end) {
            const std::uint64_t version = store_.version();
            for (std::size_t i = 0; i < kEventsAtOnce && left_ > 0; ++i) change_something();
            std::string text;
            for (const auto& event : store_.events_since("pods", version)) {
                text += R"({"type":")" + event.type + R"(","object":)" + event.object->json + "}\n";
            }
            store_.compact(0);
            if (!say_chunk(stream, text)) return false;
        }
        // A watch that ends as soon as it has begun would be taken for a mistake.
        std::this_thread::sleep_until(std::min(end, Clock::now() + std::chrono::seconds(2)));
        return say_chunk(stream, "");
    }

    Store store_;
    base::Rng dice_;
    std::uint64_t left_;
    int created_ = 0;
    std::vector<Held> pods_;
    tests::kube_api::Snapshot listed_;
    bool has_been_old_ = false;
};

}  // namespace

Served serve(int pods, std::uint64_t events) {
    const tests::kube_api::Authority authority;
    const auto mine = authority.sign("server", "IP:127.0.0.1");
    asio::io_context loop;
    tcp::acceptor acceptor(loop, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    Served served{std::to_string(acceptor.local_endpoint().port()), authority.pem(), 0};
    loop.notify_fork(asio::io_context::fork_prepare);
    served.process = ::fork();
    if (served.process != 0) {
        loop.notify_fork(asio::io_context::fork_parent);
        return served;
    }
    loop.notify_fork(asio::io_context::fork_child);
    asio::ssl::context context(asio::ssl::context::tls_server);
    context.use_certificate_chain(asio::buffer(mine.certificate_pem));
    context.use_private_key(asio::buffer(mine.key_pem), asio::ssl::context::pem);
    Answers answers(pods, events);
    for (;;) {
        asio::ssl::stream<tcp::socket> stream(acceptor.accept(), context);
        boost::system::error_code error;
        stream.lowest_layer().set_option(tcp::no_delay(true), error);
        stream.handshake(asio::ssl::stream_base::server, error);
        if (!error) answers.serve(stream);
    }
}

void end(const Served& served) {
    ::kill(served.process, SIGKILL);
    ::waitpid(served.process, nullptr, 0);
}

}  // namespace berth::bench
