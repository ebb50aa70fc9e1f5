// SPDX-License-Identifier: Apache-2.0
#include "app/berth/server.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdio>
#include <functional>
#include <map>

#include "adapters/process/jobs_folder.h"
#include "adapters/sqlite/log_reader.h"
#include "adapters/sqlite/sqlite_store.h"
#include "adapters/system_clock/system_clock.h"
#include "api/contract/dispatch.h"
#include "api/http/http_server.h"
#include "app/berth/dashboard.h"
#include "app/berth/demo_jobs.h"
#include "app/berth/gpu_watch.h"
#include "app/berth/node_names.h"
#include "app/berth/server_parts.h"
#include "cli/terminal/text_file.h"
#include "codec/words/timestamp.h"
#include "control/launch_order.h"
#include "model/node/mig.h"
#include "overview/overview.h"
#include "runtime/folder.h"

namespace berth::app {

namespace asio = boost::asio;

namespace {

// Cancelled jobs get this time to end before the server ends without them.
// Questions about the future that wait for the other thread.
constexpr std::size_t kBackgroundMax = 16;
// Answers under way get this time to leave.
constexpr std::chrono::milliseconds kFarewell{50};
// A server that was killed goes on from a time as old as this, or from its last event.
constexpr std::chrono::seconds kKeepTimeEvery{1};
const std::string kMachine = "machine";

// Clients and running jobs each take a descriptor.
base::Status raise_descriptor_limit() {
    constexpr rlim_t kWanted = 65'536;
    constexpr rlim_t kNeeded = 512;
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
    limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kWanted));
    ::setrlimit(RLIMIT_NOFILE, &limit);
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kNeeded) return {};
    return base::fail(base::ErrorCode::Exhausted,
                      "a server may have " + std::to_string(limit.rlim_cur) +
                          " files open here and needs " + std::to_string(kNeeded) +
                          ", and one for each running job beyond; raise the limit (ulimit -Hn)");
}

// The default pool, in which each slice of a GPU counts as its part of one.
model::Pool with_slices(const cluster::Cluster& cluster, const std::vector<model::Node>& nodes) {
    model::Pool pool = cluster.pool(cluster.find_pool(model::kDefaultPool)).description();
    for (const model::Node& node : nodes) {
        const auto profile = model::mig_profile(node.gpu_model);
        if (profile) pool.exchange.emplace(node.gpu_model, profile->exchange());
    }
    return pool;
}

// What no inventory knows of a node.
void keep_what_people_said(model::Node& node, const model::Node& before) {
    node.labels = before.labels;
    node.topology = before.topology;
    node.taints = before.taints;
    node.others = before.others;
    node.resources = before.resources;
    if (before.health == model::NodeHealth::Drained) node.health = before.health;
}

// A line for what keeps shares on each node, where nodes differ.
std::string kept_shares(const cluster::Cluster& cluster, const ChosenLauncher& launcher) {
    std::string text;
    std::string last;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        const model::Node node = cluster.description({static_cast<model::NodeId::Rep>(i)});
        const std::string by = launcher.shares_kept_by(node.name);
        if (node.health == model::NodeHealth::Down || by.empty() || by == last) continue;
        text += "  Shares    " + (last.empty() ? "" : "of " + node.name + " ") +
                (node.shares_lack.empty() ? "kept by " + by
                                          : "of GPUs cannot be kept: " + node.shares_lack +
                                                "; jobs that ask for one are refused") +
                "\n";
        last = by;
    }
    const std::string lack = launcher.checkpoint_lack();
    if (!lack.empty()) text += "  Pauses    by signal, no processes are kept: " + lack + "\n";
    return text;
}

// What ran from a log that is not this one.
std::string ended(const std::vector<ports::AttemptId>& strangers) {
    std::string text;
    for (const ports::AttemptId id : strangers) {
        text += (text.empty() ? "" : ", ") + std::to_string(id.job.value) + " (attempt " +
                std::to_string(id.attempt) + ")";
    }
    return text.empty() ? "" : "  Ended     processes of jobs unknown to this log: " + text + "\n";
}

// What people have set, whatever the flags say.
std::string set_policy(const model::PolicyChanges& settings) {
    std::string text;
    for (const auto& [name, value] : settings) {
        text += (text.empty() ? "" : ", ") + name + "=" + value.value_or("");
    }
    return text.empty() ? "" : "  Policy    " + text + ", as set since (berth policy show)\n";
}

}  // namespace

struct Server::Parts {
    explicit Parts(ServerOptions its_options) : options(std::move(its_options)) {}

    base::Status open();
    base::Status make_controller(const model::Policy& policy);
    base::Status listen(const std::string& token);
    void set_up_cluster(std::vector<model::Node> nodes);
    void step_soon();
    void step();
    void tell_shortage();
    void look_at_shares(bool anew);
    void set_timer();
    void step_at(asio::steady_timer::time_point time);
    void tick();
    void begin_end(api::JobsAtShutdown jobs);
    bool run_in_background(std::function<void()> work, std::function<void()> then);
    void end();

    // The time that the next server goes on from.
    std::string clock_file() const { return options.data_dir + "/clock"; }
    void keep_time();
    void log_line(const std::string& text) const;

    ServerOptions options;
    asio::io_context loop{1};
    system_clock::SystemClock clock;
    std::unique_ptr<ports::Store> store;
    ChosenInventory inventory;
    ChosenLauncher launcher;
    std::unique_ptr<control::Controller> controller;
    std::unique_ptr<api::Site> site;
    std::unique_ptr<api::HttpServer> http;
    asio::steady_timer deadline{loop};
    asio::steady_timer ticker{loop};
    asio::steady_timer farewell{loop};
    asio::signal_set signals{loop, SIGTERM, SIGINT};
    model::TimePoint kept_time;
    std::optional<base::Error> set_up_error;
    std::vector<ports::AttemptId> ended_strangers;  // attempts that the log did not know
    std::optional<asio::steady_timer::time_point> next_step;
    bool will_step = false;
    bool is_ticking = false;
    bool is_ending = false;
    bool waits_for_jobs = false;
    bool others_could_read = false;  // what jobs wrote, before this start
    bool is_short = false;  // of room, as was reported
    int exit_code = 0;
    // What is to be done on the loop when the other thread has done its part. It never sees these:
    // they hold connections.
    std::map<std::int64_t, std::function<void()>> after_background;
    std::int64_t last_background = 0;
    asio::thread_pool background{1};  // last: it ends before what it reports to
};

bool Server::Parts::run_in_background(std::function<void()> work, std::function<void()> then) {
    if (after_background.size() >= kBackgroundMax) return false;
    const std::int64_t number = ++last_background;
    after_background.emplace(number, std::move(then));
    asio::post(background, [this, number, work = std::move(work)] {
        work();
        asio::post(loop, [this, number] { after_background.extract(number).mapped()(); });
    });
    return true;
}

base::Status Server::Parts::open() {
    BERTH_TRY(policy, choose_policy(options));
    BERTH_TRY(chosen_inventory, choose_inventory(options.gpus, gpu_counters_of(options)));
    inventory = std::move(chosen_inventory);
    BERTH_TRY(data, runtime::Folder::make_data_folder(options.data_dir));
    BERTH_TRY(could_be_read, process::take_jobs_folder(data));
    others_could_read = could_be_read;
    const std::string jobs_dir = options.data_dir + "/jobs";
    BERTH_TRY(opened,
              adapters::sqlite::open_store(
                  options.data_dir, {process::highest_job(jobs_dir), options.accept_older_log}));
    store = std::move(opened);
    const bool begins_log = store->begins().has_value();
    clock.go_on_from(clock_file());
    BERTH_TRY(cluster_id, obtain_cluster_id(options.data_dir));
    BERTH_TRY(chosen_launcher, choose_launcher(loop, options, cluster_id, inventory.is_simulated));
    launcher = std::move(chosen_launcher);
    BERTH_TRY(token, api::obtain_token(options.data_dir + "/token"));
    BERTH_TRY_VOID(make_controller(policy));
    clock.not_before(controller->state().time);
    if (begins_log) {
        const auto begun = control::begun_attempts(controller->state(), controller->policy());
        BERTH_TRY(strangers, process::end_strangers(jobs_dir, cluster_id, begun));
        ended_strangers = std::move(strangers);
    }
    BERTH_TRY(named, NamedNodes::make(std::move(inventory.inventory), controller->state().cluster));
    inventory.inventory = std::move(named);
    BERTH_TRY(nodes, inventory.inventory->discover());
    BERTH_TRY_VOID(launcher.learn_gpus(*inventory.inventory));
    for (model::Node& node : nodes) node.shares_lack = launcher.shares_lack(node.name);
    const api::Background in_background = std::bind_front(&Parts::run_in_background, this);
    site = std::make_unique<api::Site>(
        api::Site{.controller = *controller,
                  .store = *store,
                  .clock = clock,
                  .inventory = *inventory.inventory,
                  .sessions = api::Sessions(options.data_dir + "/sessions"),
                  .facts = {.version = BERTH_VERSION,
                            .cluster_id = cluster_id,
                            .data_dir = options.data_dir,
                            .profile = options.profile,
                            .launcher = launcher.description,
                            .gpus = inventory.description,
                            .checkpoint_lack = launcher.checkpoint_lack(),
                            .started = clock.now()},
                  .default_project = kDefaultProject,
                  .log_path = launcher.log_path,
                  .shares_kept_by = launcher.shares_kept_by,
                  .share_uses = launcher.share_uses,
                  .uncounted = launcher.uncounted,
                  .attach_address = launcher.attach_address,
                  .shut_down = [this](api::JobsAtShutdown jobs) { begin_end(jobs); },
                  .pages = api::Pages(packed_dashboard()),
                  .in_background = in_background,
                  .open_log = std::bind_front(&adapters::sqlite::open_log, options.data_dir)});
    set_up_cluster(nodes);
    if (options.demo) submit_demo(*controller, options.program);
    controller->step();
    if (set_up_error) return tl::unexpected(*set_up_error);
    if (controller->has_failed()) return tl::unexpected(*controller->failure());
    return listen(token);
}

base::Status Server::Parts::make_controller(const model::Policy& policy) {
    control::Settings settings;
    settings.policy = policy;
    settings.snapshot_events = options.snapshot_events.value_or(settings.snapshot_events);
    settings.wake = [this](base::Duration within) {
        if (within == base::Duration{0}) return step_soon();
        step_at(asio::steady_timer::clock_type::now() + within);
    };
    settings.committed = [this](std::span<const model::Event> events) {
        if (site) api::on_events(*site, events);
    };
    controller = std::make_unique<control::Controller>(
        std::move(settings), control::Ports{clock, *store, *launcher.launcher});
    return controller->recover();
}

// What this machine has, and a project to submit to without any set-up.
void Server::Parts::set_up_cluster(std::vector<model::Node> nodes) {
    const auto note = [this](const base::Status& status) {
        // What the log has no room for now is written down later.
        const bool is_done = status || status.error().code == base::ErrorCode::Unavailable;
        if (!is_done && !set_up_error) set_up_error = status.error();
    };
    const cluster::Cluster& cluster = controller->state().cluster;
    if (options.levels) controller->set_levels(*options.levels, note);
    controller->set_pool(with_slices(cluster, nodes), kMachine, note);
    for (model::Node& node : nodes) {
        if (const auto known = cluster.find_node(node.name); known.is_valid()) {
            keep_what_people_said(node, cluster.description(known));
        }
        for (const auto& [level, domain] : options.topology) node.topology[level] = domain;
        controller->set_node(node, kMachine, note);
    }
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        model::Node gone = cluster.description({static_cast<model::NodeId::Rep>(i)});
        const bool is_here = std::ranges::find(nodes, gone.name, &model::Node::name) != nodes.end();
        if (is_here) continue;
        gone.health = model::NodeHealth::Down;
        controller->set_node(std::move(gone), kMachine, note);
    }
    if (cluster.find_project(kDefaultProject).is_valid()) return;
    model::Project project;
    project.name = kDefaultProject;
    project.rights.quota = model::MilliGpu{0};
    controller->set_project(std::move(project), kMachine, note);
}

base::Status Server::Parts::listen(const std::string& token) {
    if (const auto read = site->sessions.read(); !read) log_line(read.error().message);
    http = std::make_unique<api::HttpServer>(
        loop, api::HttpSettings{[this](api::Request request, api::Respond respond) {
                                    api::answer(*site, std::move(request), std::move(respond));
                                    tick();
                                },
                                token, &site->sessions});
    BERTH_TRY_VOID(http->listen_unix(options.data_dir + "/berth.sock"));
    auto port = http->listen_tcp(options.port.value_or(kDefaultPort));
    if (!port && !options.port) port = http->listen_tcp(0);
    if (!port) return tl::unexpected(port.error());
    site->facts.port = *port;
    const std::string path = options.data_dir + "/port";
    if (const auto written = cli::write_text_file(path, std::to_string(*port) + "\n"); !written) {
        log_line(written.error().message);
    }
    return {};
}

// Requests that are ready at the same time are read first, so that they share one step.
void Server::Parts::step_soon() {
    if (will_step) return;
    will_step = true;
    asio::post(loop, [this] {
        asio::post(loop, [this] {
            will_step = false;
            step();
        });
    });
}

void Server::Parts::log_line(const std::string& text) const {
    const std::string date = codec::format_time(clock.now() + clock.date_shift());
    std::fprintf(stderr, "%s %s\n", date.c_str(), text.c_str());
}

void Server::Parts::keep_time() {
    kept_time = clock.now();
    clock.keep(clock_file());
}

void Server::Parts::step() {
    if (controller->has_failed()) return;
    controller->step();
    if (clock.now() - kept_time >= kKeepTimeEvery) {
        keep_time();
        look_at_shares(false);
    }
    if (!controller->has_failed()) {
        tell_shortage();
        if (waits_for_jobs && controller->state().jobs.empty()) return end();
        return set_timer();
    }
    log_line(controller->failure()->message);
    exit_code = kLogFailed;
    end();
}

void Server::Parts::tell_shortage() {
    const auto& shortage = controller->shortage();
    if (shortage.has_value() == is_short) return;
    is_short = shortage.has_value();
    log_line(is_short ? control::shortage_text(shortage->room) : "there is room again");
    if (!is_short) look_at_shares(true);
}

// Shares that could not be kept may be kept since, and the other way round.
void Server::Parts::look_at_shares(bool anew) {
    if (!launcher.try_shares(anew)) return;
    const cluster::Cluster& cluster = controller->state().cluster;
    for (std::size_t i = 0; i < cluster.nodes().size(); ++i) {
        model::Node node = cluster.description({static_cast<model::NodeId::Rep>(i)});
        std::string lack = launcher.shares_lack(node.name);
        if (node.health == model::NodeHealth::Down || node.shares_lack == lack) continue;
        log_line("shares of GPUs of " + node.name +
                 (lack.empty() ? " are kept now" : " cannot be kept: " + lack));
        node.shares_lack = std::move(lack);
        controller->set_node(std::move(node), kMachine, [](const base::Status&) {});
        step_soon();
    }
}

void Server::Parts::set_timer() {
    const auto next = controller->next_deadline();
    if (!next) return;
    const auto wait = std::max(*next - clock.now(), base::Duration{0});
    step_at(asio::steady_timer::clock_type::now() + wait);
}

// Or earlier: what was asked for before stays.
void Server::Parts::step_at(asio::steady_timer::time_point time) {
    if (next_step && *next_step <= time) return;
    next_step = time;
    deadline.expires_at(time);
    deadline.async_wait([this](const boost::system::error_code& error) {
        if (error) return;
        next_step.reset();
        step_soon();
    });
}

void Server::Parts::tick() {
    if (is_ticking || !api::has_listeners(*site)) return;
    is_ticking = true;
    ticker.expires_after(api::kTick);
    ticker.async_wait([this](const boost::system::error_code& error) {
        is_ticking = false;
        if (error) return;
        api::on_tick(*site);
        tick();
    });
}

void Server::Parts::begin_end(api::JobsAtShutdown jobs) {
    if (is_ending) return;
    is_ending = true;
    if (jobs == api::JobsAtShutdown::Keep) return end();
    for (const auto& [id, job] : controller->state().jobs) {
        controller->cancel(id, "machine", {}, [](const base::Status&) {});
    }
    waits_for_jobs = true;
    farewell.expires_after(kCancelPatience);
    farewell.async_wait([this](const boost::system::error_code& error) {
        if (!error) end();
    });
    step_soon();
}

void Server::Parts::end() {
    is_ending = true;
    waits_for_jobs = false;
    if (http) http->stop_accepting();
    api::end_listening(*site);
    farewell.expires_after(kFarewell);
    farewell.async_wait([this](const boost::system::error_code& error) {
        if (!error) loop.stop();
    });
}

Server::Server(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Server::~Server() = default;

base::Result<std::unique_ptr<Server>> Server::open(const ServerOptions& options) {
    BERTH_TRY_VOID(raise_descriptor_limit());
    auto parts = std::make_unique<Parts>(options);
    BERTH_TRY_VOID(parts->open());
    return std::unique_ptr<Server>(new Server(std::move(parts)));
}

int Server::run() {
    Parts& parts = *parts_;
    parts.signals.async_wait([&parts](const boost::system::error_code& error, int) {
        if (!error) parts.begin_end(api::JobsAtShutdown::Keep);
    });
    parts.log_line("berth " BERTH_VERSION " serves " + parts.options.data_dir);
    const std::string kept = kept_shares(parts.controller->state().cluster, parts.launcher);
    if (!kept.empty()) parts.log_line(kept.substr(2, kept.size() - 3));
    const std::string gone = ended(parts.ended_strangers);
    if (!gone.empty()) parts.log_line(gone.substr(2, gone.size() - 3));
    if (parts.others_could_read)
        parts.log_line("other users could read \"" + parts.options.data_dir +
                       "/jobs\" until now; its mode is 0700");
    const GpuWatch gpu_watch(parts.loop, {*parts.controller, *parts.inventory.inventory,
                                          parts.clock, parts.launcher.share_uses,
                                          std::bind_front(&Parts::run_in_background, &parts)});
    parts.set_timer();
    parts.loop.run();
    parts.http.reset();
    if (parts.exit_code == 0) {
        if (const auto written = parts.controller->write_snapshot(); !written) {
            parts.log_line("no snapshot: " + written.error().message);
        }
    }
    ::unlink((parts.options.data_dir + "/berth.sock").c_str());
    ::unlink((parts.options.data_dir + "/port").c_str());
    parts.launcher.launcher.reset();
    parts.keep_time();
    parts.log_line("berth ended");
    return parts.exit_code;
}

int Server::port() const { return parts_->site->facts.port; }

std::string Server::banner() const {
    const Parts& parts = *parts_;
    const cluster::Cluster& cluster = parts.controller->state().cluster;
    const overview::GpuCounts gpus = overview::gpu_counts_of(parts.controller->state());
    const std::string not_ready = gpus.not_ready > base::MilliGpu{0}
                                      ? " (" + base::format(gpus.not_ready) + " not ready)"
                                      : "";
    std::string projects;
    for (std::size_t i = 1; i < cluster.projects().size(); ++i) {
        const model::Project& project = cluster.projects()[i].project;
        if (project.name.empty()) continue;  // removed
        const auto quota = project.rights.quota.value_or(model::MilliGpu{0});
        projects += projects.empty() ? "" : ", ";
        projects += project.name + (quota == model::MilliGpu{0}
                                        ? " (no quota: over-quota GPUs only)"
                                        : " (guaranteed " + base::format(quota) + ")");
    }
    const std::string live = std::to_string(parts.controller->state().jobs.size());
    std::string text = "Berth " BERTH_VERSION "  profile " + parts.options.profile + "  data " +
                       parts.options.data_dir + "\n";
    text += "  GPUs      " + base::format(gpus.total) + not_ready + ", " +
            parts.inventory.description + "\n";
    text += "  Jobs      " + live + " live, run as " + parts.launcher.description + "\n";
    text += kept_shares(cluster, parts.launcher);
    text += "  Projects  " + projects + "\n";
    text += set_policy(parts.controller->state().policy);
    text += ended(parts.ended_strangers);
    text += "  API       " + parts.options.data_dir +
            "/berth.sock, http://127.0.0.1:" + std::to_string(parts.site->facts.port) +
            " with the token in " + parts.options.data_dir + "/token\n";
    text += "  Pages     berth web prints a link that signs a browser in\n";
    text +=
        "  Try       berth run -- env | grep CUDA      berth ls      berth project create "
        "vision --quota 4\n";
    return text;
}

}  // namespace berth::app
