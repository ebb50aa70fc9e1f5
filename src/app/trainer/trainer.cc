// SPDX-License-Identifier: Apache-2.0
#include "app/trainer/trainer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "app/trainer/checkpoint.h"
#include "base/quantity.h"
#include "base/rng.h"

namespace berth::trainer {
namespace {

constexpr double kFirstLoss = 4.0;
constexpr double kLossFloor = 0.3;
constexpr int kBadUsage = 124;
constexpr int kInterrupted = 128 + SIGINT;
constexpr base::Duration kCountEvery{500};

struct Settings {
    std::int64_t steps = 200;
    base::Duration step_time{100};
    std::int64_t checkpoint_every = 0;
    std::int64_t print_every = 0;
    std::int64_t seed = 1;
};

// The signal that asks to stop; 0 = none yet.
volatile sig_atomic_t asked_by = 0;

void on_signal(int signal) { asked_by = signal; }

// A handler rather than a blocked signal: Berth looks for one to know that this job saves. It is
// let in only while a step is waited for, so that every step is whole or not done.
sigset_t take_signals() {
    sigset_t stopping;
    ::sigemptyset(&stopping);
    for (const int signal : {SIGTERM, SIGINT}) {
        struct sigaction action{};
        action.sa_handler = on_signal;
        ::sigaction(signal, &action, nullptr);
        ::sigaddset(&stopping, signal);
    }
    sigset_t open;
    ::sigprocmask(SIG_BLOCK, &stopping, &open);
    ::sigdelset(&open, SIGTERM);
    ::sigdelset(&open, SIGINT);
    return open;
}

std::string environment(const char* name, const std::string& otherwise) {
    const char* value = ::getenv(name);
    return value != nullptr && *value != '\0' ? value : otherwise;
}

base::Status set(Settings& settings, const std::string& name, const std::string& value) {
    if (name == "--step-time") {
        BERTH_TRY(time, base::parse_duration(value));
        settings.step_time = time;
        return {};
    }
    std::int64_t* const target = name == "--steps"              ? &settings.steps
                                 : name == "--checkpoint-every" ? &settings.checkpoint_every
                                 : name == "--print-every"      ? &settings.print_every
                                 : name == "--seed"             ? &settings.seed
                                                                : nullptr;
    if (target == nullptr) return base::invalid("there is no option \"" + name + '"');
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), *target);
    if (error != std::errc{} || end != value.data() + value.size() || *target < 0)
        return base::invalid(name + " takes a number, not \"" + value + '"');
    return {};
}

base::Result<Settings> read_settings(const std::vector<std::string>& arguments) {
    Settings settings;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        std::string name = arguments[at];
        std::string value;
        if (const std::size_t equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        } else if (++at < arguments.size()) {
            value = arguments[at];
        } else {
            return base::invalid(name + " needs a value");
        }
        BERTH_TRY_VOID(set(settings, name, value));
    }
    if (settings.print_every == 0)
        settings.print_every = std::max<std::int64_t>(1, settings.steps / 20);
    return settings;
}

// What this program does on its simulated GPUs, for who shows it: a file for each, as
// adapters/simulated_gpu reads them.
class GpuCounters {
  public:
    GpuCounters() {
        const std::string front = environment("BERTH_SIMULATED_GPUS", "");
        std::string gpus = environment("CUDA_VISIBLE_DEVICES", "");
        while (!front.empty() && !gpus.empty()) {
            const std::size_t comma = std::min(gpus.find(','), gpus.size());
            paths_.push_back(front + '.' + gpus.substr(0, comma) + '.' +
                             std::to_string(::getpid()));
            gpus.erase(0, comma + 1);
        }
    }
    GpuCounters(const GpuCounters&) = delete;
    GpuCounters& operator=(const GpuCounters&) = delete;
    ~GpuCounters() {
        for (const std::string& path : paths_) ::unlink(path.c_str());
    }

    // In percent. What could not be written is not shown.
    void write(int busy, int memory) const {
        for (const std::string& path : paths_) {
            // In one piece, of one length: a reader never finds a part of it.
            const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            if (file < 0) continue;
            ::dprintf(file, "%3d %3d\n", busy, memory);
            ::close(file);
        }
    }

  private:
    std::vector<std::string> paths_;
};

class Trainer {
  public:
    explicit Trainer(const Settings& settings)
        : settings_(settings),
          open_signals_(take_signals()),
          rank_(environment("RANK", "0")),
          directory_(environment("BERTH_CHECKPOINT_DIR", "")),
          is_terminal_(::isatty(STDOUT_FILENO) == 1) {
        state_ = {0, kFirstLoss, static_cast<std::uint64_t>(settings.seed)};
    }

    int run() {
        if (!resume()) return 1;
        while (state_.step < settings_.steps) {
            if (!wait_for_step()) return stop();
            descend();
            count_work();
            if (state_.step % settings_.print_every == 0 || state_.step == settings_.steps)
                print_step();
            const bool is_due =
                settings_.checkpoint_every > 0 && state_.step % settings_.checkpoint_every == 0;
            if ((is_due || state_.step == settings_.steps) && !keep()) return 1;
        }
        say("done: %lld steps, loss %.4f\n", static_cast<long long>(state_.step), state_.loss);
        return 0;
    }

  private:
    std::string path() const { return directory_ + "/trainer-" + rank_ + ".state"; }

    // The lines of one rank are enough for people.
    template <typename... Values>
    void say(const char* format, Values... values) const {
        if (rank_ != "0") return;
        ::printf(format, values...);
        ::fflush(stdout);
    }

    bool resume() {
        const std::string gpus = environment("CUDA_VISIBLE_DEVICES", "none");
        say("trainer: %lld steps of %s, rank %s of %s, GPU %s\n",
            static_cast<long long>(settings_.steps), base::format(settings_.step_time).c_str(),
            rank_.c_str(), environment("WORLD_SIZE", "1").c_str(), gpus.c_str());
        if (directory_.empty()) return true;
        const auto found = load(path());
        if (!found) return complain(found.error());
        if (found->has_value()) {
            state_ = **found;
            say("resumed at step %lld, loss %.4f\n", static_cast<long long>(state_.step),
                state_.loss);
        }
        return true;
    }

    // Stands for the computation. False when asked to stop meanwhile: that step was not done.
    bool wait_for_step() const {
        timespec begin{};
        ::clock_gettime(CLOCK_MONOTONIC, &begin);
        const std::int64_t end_ns =
            begin.tv_sec * 1'000'000'000 + begin.tv_nsec + settings_.step_time.count() * 1'000'000;
        while (asked_by == 0) {
            timespec now{};
            ::clock_gettime(CLOCK_MONOTONIC, &now);
            const std::int64_t left =
                std::max<std::int64_t>(0, end_ns - now.tv_sec * 1'000'000'000 - now.tv_nsec);
            const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
            if (::ppoll(nullptr, 0, &wait, &open_signals_) == 0) return true;
        }
        return false;
    }

    void descend() {
        base::Rng rng(state_.dice);
        const double noise = static_cast<double>(rng.between(-1000, 1000)) / 1000.0;
        state_.dice = rng.next();
        const double rate = 5.0 / static_cast<double>(settings_.steps + 1);
        state_.loss += rate * (kLossFloor - state_.loss) + 0.02 * noise * state_.loss;
        ++state_.step;
    }

    // Between steps a real program loads data; how long differs from one to the next.
    void count_work() {
        const std::int64_t every = std::max<std::int64_t>(
            1, kCountEvery / std::max(settings_.step_time, base::Duration{1}));
        if (state_.step % every != 0) return;
        base::Rng rng(state_.dice);
        gpus_.write(static_cast<int>(rng.between(76, 96)),
                    static_cast<int>(40 + settings_.seed * 17 % 45));
    }

    void print_step() const {
        say("step %lld/%lld  loss %.4f%s\n", static_cast<long long>(state_.step),
            static_cast<long long>(settings_.steps), state_.loss, bar().c_str());
    }

    // As long as the loss is high; only for people who look on.
    std::string bar() const {
        if (!is_terminal_) return {};
        constexpr double kWidth = 24;
        const double part = std::clamp(state_.loss / kFirstLoss, 0.0, 1.0);
        std::string blocks = "  ";
        for (int count = static_cast<int>(part * kWidth); count > 0; --count) blocks += "\u2587";
        return blocks;
    }

    int stop() {
        const int signal = asked_by;
        if (!keep()) return 1;
        say("%s at step %lld\n", directory_.empty() ? "stopped" : "saved",
            static_cast<long long>(state_.step));
        return signal == SIGINT ? kInterrupted : 0;
    }

    bool keep() const {
        if (directory_.empty()) return true;
        const base::Status saved = save(path(), state_);
        return saved.has_value() || complain(saved.error());
    }

    static bool complain(const base::Error& error) {
        ::fprintf(stderr, "berth-trainer: %s\n", error.message.c_str());
        return false;
    }

    Settings settings_;
    sigset_t open_signals_;
    std::string rank_;
    std::string directory_;
    bool is_terminal_;
    GpuCounters gpus_;
    State state_;
};

}  // namespace

int run_trainer(const std::vector<std::string>& arguments) {
    const base::Result<Settings> settings = read_settings(arguments);
    if (!settings) {
        ::fprintf(stderr,
                  "berth-trainer: %s\nusage: berth-trainer [--steps N] [--step-time TIME] "
                  "[--checkpoint-every K] [--print-every K] [--seed S]\n",
                  settings.error().message.c_str());
        return kBadUsage;
    }
    asked_by = 0;
    return Trainer(*settings).run();
}

}  // namespace berth::trainer
