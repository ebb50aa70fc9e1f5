// SPDX-License-Identifier: Apache-2.0
#include "kube/install/session.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace berth::kube::install {
namespace {

constexpr base::Duration kBetweenTries = std::chrono::milliseconds(300);

std::string address_of(const client::Access& access) {
    const bool is_v6 = access.host.find(':') != std::string::npos;
    return "https://" + (is_v6 ? "[" + access.host + "]" : access.host) + ":" + access.port;
}

bool may_be_sent_again(const client::Outcome& outcome) {
    const bool is_answer = outcome.kind == client::Outcome::Kind::Done ||
                           outcome.kind == client::Outcome::Kind::Refused;
    return !is_answer || outcome.code == 429;
}

}  // namespace

Session::Session(const client::Access& access, base::Duration patience)
    : server_(address_of(access)),
      credentials_(access, &program_, clock_),
      until_(clock_.now() + patience) {}

base::Result<std::unique_ptr<Session>> Session::open(const client::Access& access,
                                                     base::Duration patience) {
    std::unique_ptr<Session> session(new Session(access, patience));
    BERTH_TRY(dialer, client::TlsDialer::make(session->loop_, access));
    session->dialer_ = std::move(dialer);
    session->requests_ = std::make_unique<client::Requests>(
        access, *session->dialer_, session->credentials_, session->timers_);
    return session;
}

client::Outcome Session::ask(const client::Request& request) {
    for (;;) {
        client::Outcome outcome = ask_once(request);
        if (!may_be_sent_again(outcome)) return outcome;
        if (!wait(std::max(kBetweenTries, outcome.retry_after.value_or(base::Duration{0})))) {
            return outcome;
        }
    }
}

client::Outcome Session::ask_once(client::Request request) {
    std::optional<client::Outcome> got;
    requests_->send(std::move(request), [&](client::Outcome outcome) { got = std::move(outcome); });
    while (!got) loop_.run_one();
    return std::move(*got);
}

bool Session::wait(base::Duration time) {
    if (clock_.now() + time > until_) return false;
    bool is_over = false;
    timers_.start(time, [&] { is_over = true; });
    while (!is_over) loop_.run_one();
    return true;
}

}  // namespace berth::kube::install
