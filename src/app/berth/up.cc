// SPDX-License-Identifier: Apache-2.0
//
// berth up: starts the server, in the background unless asked otherwise, and returns when it is
// ready. The parent waits on a pipe for the one text it is to show: the banner, or what is wrong.
#include "app/berth/up.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>
#include <utility>

#include "app/berth/serve.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "model/policy/policy_settings.h"

namespace berth::app {
namespace {

using cli::Arguments;
using cli::Context;
using cli::Failure;
using cli::Outcome;

constexpr cli::Flag kUpFlags[] = {
    {.name = "gpus",
     .value = "WHAT",
     .help = "real GPUs (auto), or simulated ones: sim:8x80G, sim:2x4x80G"},
    {.name = "profile",
     .value = "NAME",
     .help = "policy profile: berth or classic (default: berth)",
     .completes = cli::Completes::Choices,
     .choices = "berth|classic"},
    {.name = "port", .value = "PORT", .help = "loopback TCP port; 0 = any free port"},
    {.name = "levels",
     .value = "NAMES",
     .help = "topology levels of nodes (default: zone,block,rack)"},
    {.name = "topology",
     .value = "WHERE",
     .help = "domains that contain this machine: zone=z1,rack=r7"},
    {.name = "min-runtime",
     .value = "TIME",
     .help = "run time before a job may be preempted",
     .formerly = "min-run"},
    {.name = "order",
     .value = "ORDER",
     .help = "order of the jobs of a project: learned, levels or age",
     .completes = cli::Completes::Choices,
     .choices = "learned|levels|age"},
    {.name = "grace", .value = "TIME", .help = "time a job has to save before a pause"},
    {.name = "park-after",
     .value = "TIME",
     .help = "idle time until a session gives up its GPUs: 30m"},
    {.name = "waste-budget",
     .value = "PART",
     .help = "part of a day's GPU time that pauses may waste: 0 to 1, none"},
    {.name = "measured-usage", .help = "fair shares count measured past use"},
    {.name = "sharing",
     .value = "HOW",
     .help = "enforcement of GPU shares: auto, interposer or driver",
     .completes = cli::Completes::Choices,
     .choices = "auto|interposer|driver"},
    {.name = "in-front",
     .value = "HOW",
     .help = "method to load the interposer: preload, audit or mount",
     .completes = cli::Completes::Choices,
     .choices = "preload|audit|mount"},
    {.name = "cgroup", .value = "DIR", .help = "cgroup where the limits of the driver are set"},
    {.name = "launcher", .value = "HOW", .help = "process, or simulated:100ms to measure Berth"},
    {.name = "snapshot-events", .value = "NUMBER", .help = "number of events between snapshots"},
    {.name = "log-limit", .value = "BYTES", .help = "size limit of each task's log: 1G; 0 = none"},
    {.name = "accept-older-log", .help = "continue from an older log; new jobs get new numbers"},
    {.name = "demo", .help = "three projects and some jobs to look at"},
    {.name = "foreground", .help = "stay in the foreground until Ctrl-C"},
};

// The flag, and the setting of the policy that it is.
constexpr std::pair<std::string_view, std::string_view> kPolicyFlags[] = {
    {"min-runtime", "min_runtime"},
    {"grace", "grace"},
    {"order", "order"},
    {"park-after", "park_after"},
    {"waste-budget", "waste_budget"},
    {"measured-usage", "measured_usage"},
};

Failure failure_of(const base::Error& error) {
    Failure failure = Failure::from(error);
    if (error.message.find("in use by") != std::string::npos) failure.hint = "berth status";
    return failure;
}

std::string own_path() {
    std::error_code error;
    const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? std::string("berth") : path.string();
}

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
    return parts;
}

// "zone=z1,rack=r7"
Outcome<model::Labels> topology_of(const std::string& text) {
    model::Labels topology;
    for (const std::string& part : parts_of(text)) {
        const auto equals = part.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == part.size()) {
            return cli::bad_usage("--topology: wanted LEVEL=DOMAIN such as rack=r7, found \"" +
                                  part + "\"");
        }
        topology[part.substr(0, equals)] = part.substr(equals + 1);
    }
    return topology;
}

Outcome<ServerOptions> options_of(const Context& context, const Arguments& arguments) {
    ServerOptions options;
    options.data_dir = context.data_dir;
    options.program = own_path();
    options.gpus = arguments.text("gpus", options.gpus);
    options.profile = arguments.text("profile", options.profile);
    options.sharing = arguments.text("sharing", options.sharing);
    options.in_front = arguments.text("in-front", options.in_front);
    options.cgroup = arguments.text("cgroup", options.cgroup);
    options.launcher = arguments.text("launcher", options.launcher);
    options.demo = arguments.has("demo");
    options.accept_older_log = arguments.has("accept-older-log");
    if (arguments.has("levels")) options.levels = parts_of(arguments.text("levels"));
    auto topology = topology_of(arguments.text("topology"));
    if (!topology) return tl::unexpected(topology.error());
    options.topology = std::move(*topology);
    if (arguments.has("port")) {
        const auto port = arguments.number("port", 0);
        if (!port) return tl::unexpected(port.error());
        if (*port < 0 || *port > 65'535) return cli::bad_usage("--port: wanted 0 to 65535");
        options.port = static_cast<int>(*port);
    }
    if (arguments.has("snapshot-events")) {
        const auto events = arguments.number("snapshot-events", 0);
        if (!events) return tl::unexpected(events.error());
        options.snapshot_events = *events;
    }
    if (arguments.has("log-limit")) {
        const auto bytes = base::parse_bytes(arguments.text("log-limit"));
        if (!bytes) return cli::bad_usage("--log-limit: " + bytes.error().message);
        options.log_limit = *bytes;
    }
    for (const auto& [flag, setting] : kPolicyFlags) {
        if (!arguments.has(flag)) continue;
        std::string text = arguments.text(flag);
        if (text.empty()) text = "yes";  // a switch
        model::Policy unused;
        const auto read = model::find_policy_setting(setting)->read(unused, text);
        if (!read) return cli::bad_usage("--" + std::string(flag) + ": " + read.error().message);
        options.policy[std::string(setting)] = std::move(text);
    }
    return options;
}

// Takes the three standard streams from `file`, and closes it.
void become_standard(int file, bool with_input) {
    if (file < 0) return;
    if (with_input) ::dup2(file, STDIN_FILENO);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    if (file > STDERR_FILENO) ::close(file);
}

// Before anything is started that would keep the terminal, or die with it.
void let_go_of_the_terminal() {
    ::setsid();
    [[maybe_unused]] const int moved = ::chdir("/");
    become_standard(::open("/dev/null", O_RDWR), true);
}

void write_to_the_log(const std::string& data_dir) {
    const std::string path = data_dir + "/server.log";
    become_standard(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), false);
}

void write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t size = ::write(file, text.data(), text.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return;
        text.remove_prefix(static_cast<std::size_t>(size));
    }
}

std::string read_all(int file) {
    std::string text;
    char buffer[4096];
    while (true) {
        const ssize_t size = ::read(file, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) return text;
        text.append(buffer, static_cast<std::size_t>(size));
    }
}

// Runs in the child: the first byte tells whether it is ready, the rest is for people.
[[noreturn]] void serve_in_background(const ServerOptions& options, int report) {
    let_go_of_the_terminal();
    auto server = Server::open(options);
    if (!server) {
        write_all(report, std::to_string(static_cast<int>(server.error().code)) + "\n" +
                              server.error().message);
        ::_exit(1);
    }
    write_to_the_log(options.data_dir);
    write_all(report, "ready\n" + (*server)->banner());
    ::close(report);
    ::_exit(serve(std::move(*server), options));
}

int start_in_background(const Context& context, const ServerOptions& options) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
        return cli::report(context, {cli::kServerUnreachable, ::strerror(errno), ""});
    }
    const pid_t child = ::fork();
    if (child < 0) return cli::report(context, {cli::kServerUnreachable, ::strerror(errno), ""});
    if (child == 0) {
        ::close(ends[0]);
        serve_in_background(options, ends[1]);
    }
    ::close(ends[1]);
    const std::string answer = read_all(ends[0]);
    ::close(ends[0]);
    const std::size_t line = answer.find('\n');
    const std::string head = answer.substr(0, line);
    const std::string text = line == std::string::npos ? "" : answer.substr(line + 1);
    if (head == "ready") {
        cli::print(text);
        return cli::kDone;
    }
    ::waitpid(child, nullptr, 0);
    if (head.empty()) {
        return cli::report(context, {cli::kServerUnreachable, "the server ended while it started",
                                     "berth up --foreground"});
    }
    const auto code = static_cast<base::ErrorCode>(std::stoi(head));
    return cli::report(context, failure_of({code, text}));
}

int run_up(Context& context, const Arguments& arguments) {
    if (context.data_dir.empty()) return report(context, cli::no_home());
    auto options = options_of(context, arguments);
    if (!options) return cli::report(context, options.error());
    // What the server makes is its user's alone; what jobs make is their own matter.
    options->jobs_umask = ::umask(077);
    if (!arguments.has("foreground")) return start_in_background(context, *options);
    auto server = Server::open(*options);
    if (!server) return cli::report(context, failure_of(server.error()));
    cli::print((*server)->banner());
    return serve(std::move(*server), *options);
}

}  // namespace

const cli::Verb up_verb{
    .intent = cli::Intent::System,
    .name = "up",
    .synopsis = "[flags]",
    .summary = "start the server on this machine, without configuration",
    .flags = kUpFlags,
    .more =
        "  berth up                      real GPUs if there are any, or 8 simulated ones\n"
        "  berth up --gpus sim:2x4x80G   two nodes with four simulated GPUs each\n"
        "  berth up --demo               with projects and jobs to look at\n",
    .run = run_up};

}  // namespace berth::app
