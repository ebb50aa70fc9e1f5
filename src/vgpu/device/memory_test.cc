// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/memory.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/device/processes.h"

using namespace berth::vgpu::device;

namespace {

constexpr std::uint64_t kMiB = 1ULL << 20U;

std::uint64_t block_sum(const Layout& layout) {
    std::uint64_t bytes = 0;
    for (const Block& block : layout.blocks) bytes += block.bytes.load();
    return bytes;
}

// A state of its own for a test, as several processes may open it.
struct Machine {
    explicit Machine(const std::string& more = "") {
        path = "/dev/shm/berth_memory_test." + std::to_string(::getpid());
        configuration =
            *parse("state=" + path + "; memory=1GiB; reserved=64MiB; context=32MiB;" + more);
        state = std::move(*SharedState::attach(configuration));
        me = enrol(*state);
    }
    ~Machine() { ::unlink(path.c_str()); }

    // Runs `work` in another process, which never returns from it.
    template <class Work>
    pid_t start(Work work) const {
        const pid_t child = ::fork();
        if (child != 0) return child;
        const auto mine = std::move(*SharedState::attach(configuration));
        work(*mine, enrol(*mine));
        ::_exit(0);
    }

    std::string path;
    Configuration configuration;
    std::unique_ptr<SharedState> state;
    std::uint32_t me = 0;
};

void kill_and_reap(pid_t child) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

void wait_until(const auto& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    REQUIRE(condition());
}

}  // namespace

TEST_CASE("memory is counted in whole pages and given back whole") {
    const Machine machine;
    const auto block = take(*machine.state, {machine.me, 0, 3 * kMiB});
    REQUIRE(block != kNobody);
    CHECK(usage(*machine.state, 0).used_bytes == 4 * kMiB);
    CHECK(used_by(*machine.state, machine.me, 0) == 4 * kMiB);
    let_go(*machine.state, machine.me, block);
    CHECK(usage(*machine.state, 0).used_bytes == 0);
}

TEST_CASE("no more is handed out than the GPU has beside what the driver keeps") {
    const Machine machine;
    const auto block = take(*machine.state, {machine.me, 0, 960 * kMiB});
    REQUIRE(block != kNobody);
    CHECK(take(*machine.state, {machine.me, 0, 1}) == kNobody);
    CHECK_FALSE(add_context(*machine.state, machine.me, 0));
    let_go(*machine.state, machine.me, block);
    CHECK(add_context(*machine.state, machine.me, 0));
    CHECK(take(*machine.state, {machine.me, 0, 929 * kMiB}) == kNobody);
    CHECK(take(*machine.state, {machine.me, 0, 928 * kMiB}) != kNobody);
}

TEST_CASE("contexts cost what the description says") {
    const Machine machine;
    CHECK(add_context(*machine.state, machine.me, 0));
    CHECK(add_context(*machine.state, machine.me, 0));
    CHECK(used_by(*machine.state, machine.me, 0) == 64 * kMiB);
    remove_context(*machine.state, machine.me, 0);
    CHECK(usage(*machine.state, 0).used_bytes == 32 * kMiB);
}

TEST_CASE("a block lives until its last holder lets go, then counted for the one that is left") {
    const Machine machine;
    const pid_t other = machine.start([](const SharedState& state, std::uint32_t me) {
        take(state, {me, 0, 8 * kMiB, true});
        ::pause();
    });
    wait_until([&] { return usage(*machine.state, 0).used_bytes == 8 * kMiB; });
    const std::uint64_t serial = (*machine.state)->blocks[0].serial;
    CHECK_FALSE(hold(*machine.state, machine.me, 0, serial + 1));
    CHECK(hold(*machine.state, machine.me, 0, serial));
    CHECK(used_by(*machine.state, machine.me, 0) == 0);
    kill_and_reap(other);
    wait_until([&] { return used_by(*machine.state, machine.me, 0) == 8 * kMiB; });
    let_go(*machine.state, machine.me, 0);
    CHECK(usage(*machine.state, 0).used_bytes == 0);
}

TEST_CASE("a killed process's memory is free again, also before anybody has reaped it") {
    const Machine machine;
    const pid_t child = machine.start([](const SharedState& state, std::uint32_t me) {
        add_context(state, me, 0);
        take(state, {me, 0, 100 * kMiB});
        ::pause();
    });
    wait_until([&] { return usage(*machine.state, 0).used_bytes == 132 * kMiB; });
    ::kill(child, SIGKILL);
    wait_until([&] { return usage(*machine.state, 0).used_bytes == 0; });
    CHECK(enrolled(*machine.state).size() == 1);
    ::waitpid(child, nullptr, 0);
}

TEST_CASE("a dead process keeps its memory for the release delay") {
    for (const bool is_long : {false, true}) {
        const Machine machine(is_long ? "release_delay_ms=600000" : "release_delay_ms=200");
        const pid_t child = machine.start([](const SharedState& state, std::uint32_t me) {
            take(state, {me, 0, 960 * kMiB});
            ::pause();
        });
        wait_until([&] { return usage(*machine.state, 0).used_bytes == 960 * kMiB; });
        const auto began = std::chrono::steady_clock::now();
        kill_and_reap(child);
        const auto is_free = [&] { return take(*machine.state, {machine.me, 0, kMiB}) != kNobody; };
        if (is_long) {
            for (int looks = 0; looks < 100; ++looks) REQUIRE_FALSE(is_free());
        } else {
            wait_until(is_free);
            CHECK(std::chrono::steady_clock::now() - began >= std::chrono::milliseconds(200));
        }
    }
}

TEST_CASE("contents are real up to the amount described, and the file shrinks with them") {
    const Machine machine("contents=8MiB");
    const auto real = take(*machine.state, {machine.me, 0, 8 * kMiB});
    const auto counted = take(*machine.state, {machine.me, 0, 2 * kMiB});
    CHECK((*machine.state)->blocks[real].offset != 0);
    CHECK((*machine.state)->blocks[counted].offset == 0);
    let_go(*machine.state, machine.me, real);
    const auto again = take(*machine.state, {machine.me, 0, 2 * kMiB});
    CHECK((*machine.state)->blocks[again].offset != 0);
}

TEST_CASE("the next process that takes the lock ends what a killed owner began") {
    const Machine machine;
    const auto held = take(*machine.state, {machine.me, 0, 8 * kMiB});
    const auto orphan = take(*machine.state, {machine.me, 0, 16 * kMiB});
    const auto inherited = take(*machine.state, {machine.me, 0, 32 * kMiB});
    const pid_t child = machine.start([&](const SharedState& state, std::uint32_t me) {
        const Locked locked(state);
        Layout& layout = *state;
        layout.used_bytes[0] = 5;                   // had taken it off, and not put it back
        layout.blocks[orphan].holders[0].store(0);  // let go, not yet freed
        layout.blocks[inherited].payer.store(me);   // paid for by one who does not hold it
        ::raise(SIGKILL);
    });
    ::waitpid(child, nullptr, 0);
    const Locked locked(*machine.state);
    const Layout& layout = **machine.state;
    CHECK(layout.blocks[held].bytes.load() == 8 * kMiB);
    CHECK(layout.blocks[orphan].bytes.load() == 0);
    CHECK(layout.blocks[inherited].payer.load() == machine.me);
    CHECK(layout.used_bytes[0] == 40 * kMiB);
    CHECK(layout.contents_bytes[0] == 40 * kMiB);
}

TEST_CASE("SIGKILL at any instant neither loses nor leaks memory") {
    const Machine machine;
    std::mt19937 dice(7);
    // Small enough to fit at most times: what is wanted are deaths within taking and giving back.
    const auto churn = [](const SharedState& state, std::uint32_t me) {
        std::mt19937 own(static_cast<unsigned>(::getpid()));
        std::vector<std::uint32_t> mine;
        for (;;) {
            if (own() % 8 == 0 && add_context(state, me, 0)) remove_context(state, me, 0);
            const auto block = take(state, {me, 0, (1 + own() % 20) * kMiB});
            if (block != kNobody) mine.push_back(block);
            while (mine.size() > 6 || (!mine.empty() && (block == kNobody || own() % 2 == 0))) {
                const auto one = own() % mine.size();
                let_go(state, me, mine[one]);
                mine[one] = mine.back();
                mine.pop_back();
            }
        }
    };
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) children.push_back(machine.start(churn));
    const char* wanted = std::getenv("BERTH_TEST_KILLS");
    const int kills = wanted != nullptr ? std::atoi(wanted) : 300;
    std::uint64_t overfull = 0;
    for (int i = 0; i < kills; ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 3000));
        pid_t& victim = children[dice() % children.size()];
        kill_and_reap(victim);
        victim = machine.start(churn);
        if (usage(*machine.state, 0).used_bytes > 960 * kMiB) ++overfull;
    }
    CHECK(overfull == 0);
    for (const pid_t child : children) kill_and_reap(child);
    {
        const Locked locked(*machine.state);
        sweep(*machine.state, Sweep::Now);
    }
    CHECK(usage(*machine.state, 0).used_bytes == 0);
    CHECK(block_sum(**machine.state) == 0);
    CHECK((*machine.state)->contents_bytes[0] == 0);
    CHECK(enrolled(*machine.state).size() == 1);
}

TEST_CASE("the file of other GPUs is refused with what to do") {
    const Machine machine;
    auto other = machine.configuration;
    other.description.gpus = 2;
    CHECK(SharedState::attach(other).error() ==
          "state \"" + machine.path +
              "\": made for other GPUs than described now; remove it or name another file");
}
