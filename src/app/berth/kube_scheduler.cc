// SPDX-License-Identifier: Apache-2.0
//
// berth kube scheduler: Berth as the scheduler of a Kubernetes cluster, until it is ended.
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <random>

#include "adapters/system_clock/system_clock.h"
#include "api/http/http_server.h"
#include "app/berth/kube.h"
#include "app/berth/scheduler_pages.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "kube/client/transport/loop_timers.h"
#include "kube/client/transport/tls_dialer.h"
#include "kube/install/credential_program.h"
#include "kube/scheduler/replica.h"

namespace berth::app {
namespace {

namespace client = kube::client;

constexpr base::Duration kTroubleLook = std::chrono::seconds(1);

constexpr cli::Flag kSchedulerFlags[] = {
    {.name = "kubeconfig",
     .value = "FILE",
     .help = "kubeconfig (default: $KUBECONFIG, or the pod's ServiceAccount)",
     .completes = cli::Completes::Files},
    {.name = "context",
     .value = "NAME",
     .help = "context of the kubeconfig (default: the current one)"},
    {.name = "name",
     .value = "NAME",
     .help = "schedulerName of the pods it places (default: berth)"},
    {.name = "lease",
     .value = "NAMESPACE/NAME",
     .help = "Lease of the leader (default: berth-system/berth-scheduler)"},
    {.name = "listen",
     .value = "[ADDRESS]:PORT",
     .help = "address of /healthz, /readyz, /metrics; port 0 = any (default: none)"},
};

// The calendar's, for what certificates and tokens say of it.
class Date final : public ports::Clock {
  public:
    base::TimePoint now() const override { return base::at_ms(1000LL * std::time(nullptr)); }
};

// In a pod it is the pod's account, unless a kubeconfig is named.
base::Result<client::Access> find_access(const cli::Arguments& arguments) {
    const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
    const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
    const bool is_named = arguments.has("kubeconfig") || std::getenv("KUBECONFIG") != nullptr;
    if (host == nullptr || is_named) return kubeconfig_access(arguments);
    return client::read_service_account({host, port == nullptr ? "443" : port});
}

void say(const std::string& line) {
    std::fprintf(stderr, "%s\n", line.c_str());
    std::fflush(stderr);
}

// A name that no other process has, here or on another machine.
base::Result<kube::scheduler::Candidate> candidate_of(const cli::Arguments& arguments) {
    kube::scheduler::Candidate candidate;
    const std::string lease = arguments.text("lease", candidate.name_space + "/" + candidate.lease);
    const std::size_t slash = lease.find('/');
    if (slash == 0 || slash + 1 >= lease.size()) {
        return base::invalid("--lease: wanted NAMESPACE/NAME, found \"" + lease + "\"");
    }
    candidate.name_space = lease.substr(0, slash);
    candidate.lease = lease.substr(slash + 1);
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    candidate.identity = std::string(host) + "_" + std::to_string(::getpid()) + "_" +
                         std::to_string(std::random_device{}());
    return candidate;
}

// Nothing, where no port is opened.
base::Result<std::unique_ptr<api::HttpServer>> listen(boost::asio::io_context& loop,
                                                      const cli::Arguments& arguments,
                                                      const kube::scheduler::Replica& replica) {
    if (!arguments.has("listen")) return nullptr;
    BERTH_TRY(place, parse_listen_place(arguments.text("listen")));
    auto server = std::make_unique<api::HttpServer>(
        loop, api::HttpSettings{[&replica](api::Request request, const api::Respond& respond) {
                                    respond(scheduler_page(replica, request));
                                },
                                "", nullptr, api::Hears::Anyone});
    BERTH_TRY(port, server->listen_tcp(place.address, place.port));
    const bool is_v6 = place.address.find(':') != std::string::npos;
    say("listens on " + (is_v6 ? "[" + place.address + "]" : place.address) + ":" +
        std::to_string(port));
    return server;
}

int run_scheduler(cli::Context& context, const cli::Arguments& arguments) {
    const auto failed = [&](const base::Error& error) {
        return cli::report(context, {cli::kServerUnreachable, error.message, ""});
    };
    const auto access = find_access(arguments);
    if (!access) return failed(access.error());
    boost::asio::io_context loop{1};
    const system_clock::SystemClock clock;
    const Date date;
    client::LoopTimers timers(loop, clock);
    kube::install::CredentialProgram program;
    client::Credentials credentials(*access, &program, date);
    const auto dialer = client::TlsDialer::make(loop, *access);
    if (!dialer) return failed(dialer.error());
    client::Requests requests(*access, **dialer, credentials, timers);
    kube::scheduler::Options options;
    options.name = arguments.text("name", "berth");
    options.seed = std::random_device{}();
    options.log = say;
    const auto candidate = candidate_of(arguments);
    if (!candidate) return failed(candidate.error());
    kube::scheduler::Replica replica(requests, timers, clock, *candidate, options);
    const auto pages = listen(loop, arguments, replica);
    if (!pages) return failed(pages.error());
    boost::asio::signal_set signals(loop, SIGTERM, SIGINT);
    signals.async_wait([&](const auto&, int) { replica.stop([&] { loop.stop(); }); });
    std::string reported;
    client::Timer look(timers);
    const std::function<void()> watch = [&] {
        if (replica.failure()) return loop.stop();
        const std::string trouble = replica.trouble();
        if (trouble != reported && !trouble.empty()) say(trouble);
        reported = trouble;
        look.start(kTroubleLook, watch);
    };
    look.start(kTroubleLook, watch);
    replica.start();
    loop.run();
    const auto failure = replica.failure();
    return failure ? failed(*failure) : cli::kDone;
}

}  // namespace

const cli::Verb kube_scheduler_verb{.intent = cli::Intent::System,
                                    .name = "kube scheduler",
                                    .synopsis = "[--kubeconfig FILE] [--listen [ADDRESS]:PORT]",
                                    .summary = "run the scheduler of a Kubernetes cluster",
                                    .flags = kSchedulerFlags,
                                    .run = run_scheduler};

}  // namespace berth::app
