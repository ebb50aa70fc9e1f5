// SPDX-License-Identifier: Apache-2.0
//
// The server without sockets, disk and processes, on two nodes of four GPUs: what clients ask, what
// launchers report, how time passes, and crashes, in any order.
#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include "api/contract/dispatch.h"
#include "cluster/jobs/ranks.h"
#include "control/controller.h"
#include "doubles/hand_clock.h"
#include "doubles/memory_store.h"
#include "doubles/recording_launcher.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "lifecycle/invariants.h"

namespace berth::fuzz {
namespace {

constexpr std::size_t kLinesMax = 24;

class NoGpus final : public ports::GpuInventory {
    base::Result<std::vector<model::Node>> discover() override {
        return std::vector<model::Node>{};
    }
    base::Result<std::vector<ports::GpuReading>> read() override {
        return std::vector<ports::GpuReading>{};
    }
};

class LogOf final : public ports::LogReader {
  public:
    explicit LogOf(ports::Store& store) : store_(store) {}
    base::Status read_events(std::int64_t after, std::int64_t limit,
                             const std::function<void(model::Event&&)>& visit) override {
        return store_.read_events(after, limit, visit);
    }

  private:
    ports::Store& store_;
};

class Server {
  public:
    Server() {
        start();
        for (const char* name : {"n1", "n2"}) {
            model::Node node;
            node.name = name;
            node.gpus = 4;
            controller_->set_node(node, "admin", [](const base::Status&) {});
        }
        controller_->step();
    }

    void play(std::string_view line) {
        const std::string_view verb = take_word(line);
        if (verb == "GET" || verb == "PUT" || verb == "POST" || verb == "DELETE")
            return ask(verb, line);
        if (verb == "crash") return restart();
        const std::int64_t number = take_number(line);
        if (verb == "after") return pass(number);
        report(verb, attempt_of(number), take_number(line));
    }

    // Requests that still wait for news are answered.
    void end() {
        site_->waiting.answer_all();
        expect(answered_ == asked_, "every request is answered, once");
        check();
        restart();
    }

  private:
    static std::string_view take_word(std::string_view& line) {
        const std::string_view word = line.substr(0, line.find(' '));
        line.remove_prefix(std::min(word.size() + 1, line.size()));
        return word;
    }
    static std::int64_t take_number(std::string_view& line) {
        const std::string_view word = take_word(line);
        std::int64_t number = 0;
        std::from_chars(word.data(), word.data() + word.size(), number);
        return std::clamp<std::int64_t>(number, 0, 1'000'000);
    }

    void start() {
        launcher_ = std::make_unique<tests::RecordingLauncher>();
        control::Settings settings;
        settings.policy = model::berth_policy();
        settings.committed = [this](std::span<const model::Event> events) {
            if (site_) site_->waiting.on_events(events);
        };
        controller_ = std::make_unique<control::Controller>(
            std::move(settings), control::Ports{clock_, store_, *launcher_});
        expect(controller_->recover().has_value(), "the log can be read");
        const api::Background at_once = [](auto work, auto then) { return work(), then(), true; };
        site_ = std::make_unique<api::Site>(api::Site{
            .controller = *controller_,
            .store = store_,
            .clock = clock_,
            .inventory = no_gpus_,
            .sessions = api::Sessions("/dev/null/sessions"),  // kept in memory
            .facts = {},
            .default_project = "default",
            .log_path = [](ports::AttemptId, int, auto) { return std::string("/dev/null"); },
            .shares_kept_by = [](const std::string&) { return std::string(); },
            .share_uses = [] { return std::vector<ports::ShareUse>{}; },
            .uncounted = [] { return std::vector<ports::UncountedProcess>{}; },
            .attach_address = [](ports::AttemptId) { return std::string("socket"); },
            .shut_down = [](api::JobsAtShutdown) {},
            .pages = api::Pages(""),
            .in_background = at_once,
            .open_log = [this] { return std::make_unique<LogOf>(store_); }});
    }

    // What the log says is what was.
    void restart() {
        if (site_) site_->waiting.answer_all();
        const std::string before = dump();
        site_.reset();
        controller_.reset();
        start();
        expect(dump() == before, "the log gives the same state");
    }
    std::string dump() const {
        cluster::Cluster copy = controller_->state().cluster;
        cluster::keep_ranks(copy, clock_.now());
        return lifecycle::dump(copy);
    }

    void ask(std::string_view method, std::string_view line) {
        api::Request request;
        if (!api::parse_target(take_word(line), request)) return;
        request.method = method;
        request.user = "ann";
        request.rights = api::kAllRights;
        request.client = client_;
        if (const std::string* key = request.find("key")) request.idempotency_key = *key;
        request.body = line;
        ++asked_;
        api::answer(*site_, std::move(request), [this](const api::Response& response) {
            ++answered_;
            expect(response.status >= 200 && response.status < 600, "an answer has a status");
            expect(response.status < 500 || response.status == 503,
                   "no request is our own mistake");
        });
        controller_->step();
    }
    void pass(std::int64_t seconds) {
        clock_.advance(base::Duration{seconds * 1000});
        controller_->step();
        site_->waiting.on_tick(clock_.now());
    }
    ports::AttemptId attempt_of(std::int64_t job) const {
        const model::JobId id{job};
        const auto& jobs = controller_->state().jobs;
        const auto found = jobs.find(id);
        return {id, found == jobs.end() ? 1 : found->second.attempts};
    }
    void report(std::string_view what, ports::AttemptId attempt, std::int64_t number) {
        control::Controller& controller = *controller_;
        const bool is_asked = std::ranges::any_of(
            launcher_->stops, [&](const auto& stop) { return stop.attempt == attempt; });
        if (what == "running") controller.on_running(attempt);
        if (what == "saved") controller.on_saved(attempt);
        if (what == "frozen")
            controller.on_frozen(attempt, {base::Bytes{number}, base::Duration{7}});
        if (what == "idle") controller.on_idle(attempt, base::Duration{number * 1000});
        if (what == "waking") controller.on_waking(attempt);
        if (what == "lost") controller.on_lost(attempt, "lost");
        if (what == "exit") {
            ports::AttemptExit exit;
            exit.exit_code = static_cast<int>(number % 256);
            exit.stop_asked = is_asked;
            controller.on_exit(attempt, exit);
        }
        controller.step();
    }
    void check() const {
        const auto broken = lifecycle::violations(controller_->state().cluster);
        expect(broken.empty(), broken.empty() ? "" : broken.front().c_str());
        expect(!controller_->has_failed(), "the loop goes on");
    }

    tests::HandClock clock_;
    tests::MemoryStore::Disk disk_;
    tests::MemoryStore store_{disk_};
    NoGpus no_gpus_;
    std::unique_ptr<tests::RecordingLauncher> launcher_;
    std::unique_ptr<control::Controller> controller_;
    std::unique_ptr<api::Site> site_;
    std::shared_ptr<int> client_ = std::make_shared<int>(0);
    int asked_ = 0;
    int answered_ = 0;
};

}  // namespace

// A line each: METHOD ADDRESS BODY; running, saved, frozen, idle, waking, lost, exit JOB NUMBER;
// after SECONDS; crash.
void server(std::string_view input) {
    Server server;
    for (std::size_t lines = 0; !input.empty() && lines < kLinesMax; ++lines) {
        const std::string_view line = input.substr(0, input.find('\n'));
        input.remove_prefix(std::min(line.size() + 1, input.size()));
        server.play(line);
    }
    server.end();
}

}  // namespace berth::fuzz
