// SPDX-License-Identifier: Apache-2.0
//
// Tenants of several GPUs whose processes wait for each other, in virtual time.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <random>
#include <vector>

#include "vgpu/windows/windows.h"

using namespace berth::vgpu::windows;

namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kRingLatency = 50 * kUs;  // from a wish to the next turn
constexpr std::int64_t kMeeting = 20 * kUs;  // from the last arrival to the next step

using Gpus = std::vector<Windows::Gpu>;

// A tenant in virtual time. On each of its GPUs a process does `pieces` pieces of work, then it
// waits until all have done theirs.
struct Habit {
    std::int32_t share = 0;  // thousandths
    Gpus gpus;
    std::int64_t piece = kMs;
    int pieces = 5;
    std::vector<int> pieces_on = {};  // by GPU, where they differ
    std::int64_t rest = 0;  // between two steps
    std::int32_t priority = 0;
};

struct Worker {
    Windows::Gpu gpu = 0;
    int left = 0;  // pieces of this step, not launched
    std::int64_t queued = 0;  // launched and not ended
    std::int64_t unseen = 0;  // ended, not yet reported
    std::int64_t used = 0;
    bool waiting = false;
};

struct Gang {
    Habit habit;
    Windows::Id id = 0;
    std::vector<Worker> workers;
    std::int64_t begins_at = 0;  // the next step, where all have ended theirs
    std::int64_t steps = 0;
    std::int64_t last_step = 0;
    std::int64_t longest_step = 0;
    std::int64_t on_any = 0;  // time with a window on some of its GPUs
    std::int64_t on_all = 0;
};

struct Queue {
    struct Piece {
        std::size_t gang = 0;
        std::size_t worker = 0;
        std::int64_t length = 0;
    };
    std::deque<Piece> pieces;
    std::int64_t ends = INT64_MAX;
    std::int64_t began = 0;
    std::int64_t busy = 0;
};

class NodeOfGpus {
  public:
    NodeOfGpus(std::size_t gpus, const std::vector<Habit>& habits, std::uint64_t seed = 1)
        : queues_(gpus), dice_(seed) {
        for (const Habit& habit : habits) {
            Gang gang;
            gang.habit = habit;
            gang.id = windows_.join({habit.share, 1000, 1, habit.priority}, habit.gpus, now_);
            for (const Windows::Gpu gpu : habit.gpus) gang.workers.push_back({gpu});
            gang.begins_at = now_ + static_cast<std::int64_t>(dice_() % (20 * kMs));
            gangs_.push_back(gang);
        }
    }

    void run(std::int64_t time) {
        const std::int64_t end = now_ + time;
        while (now_ < end) {
            for (std::size_t index = 0; index < gangs_.size(); ++index) live(index);
            std::int64_t next = std::min(end, look_at_);
            for (const Queue& queue : queues_) next = std::min(next, queue.ends);
            for (const Gang& gang : gangs_)
                if (gang.begins_at > now_) next = std::min(next, gang.begins_at);
            pass(next);
            for (std::size_t gpu = 0; gpu < queues_.size(); ++gpu)
                if (now_ >= queues_[gpu].ends) end_piece(static_cast<Windows::Gpu>(gpu));
            if (now_ >= look_at_) take_turn();
        }
        CHECK(most_let_ <= 1);
    }
    // Measures from here on.
    void forget() {
        for (Queue& queue : queues_) queue.busy = 0;
        for (Gang& gang : gangs_) {
            gang.steps = gang.longest_step = gang.on_any = gang.on_all = 0;
            gang.last_step = now_;
            for (Worker& worker : gang.workers) worker.used = 0;
        }
    }

    const Gang& gang(std::size_t index) const { return gangs_[index]; }
    std::int64_t used(std::size_t index, std::size_t worker = 0) const {
        return gangs_[index].workers[worker].used;
    }
    std::int64_t busy(Windows::Gpu gpu) const { return queues_[gpu].busy; }

  private:
    void live(std::size_t index) {
        Gang& gang = gangs_[index];
        if (gang.begins_at != 0 && now_ >= gang.begins_at) {
            gang.begins_at = 0;
            for (std::size_t at = 0; at < gang.workers.size(); ++at)
                gang.workers[at].left =
                    gang.habit.pieces_on.empty() ? gang.habit.pieces : gang.habit.pieces_on[at];
        }
        for (std::size_t at = 0; at < gang.workers.size(); ++at) launch(index, at);
    }

    void launch(std::size_t index, std::size_t at) {
        Gang& gang = gangs_[index];
        Worker& worker = gang.workers[at];
        worker.waiting = false;
        if (worker.left == 0) return;
        if (windows_.right(gang.id, worker.gpu) == Right::closed) {
            worker.waiting = true;
            look_at_ = std::min(look_at_, std::max(now_, last_turn_) + kRingLatency);
            return;
        }
        const std::int64_t ahead = windows_.ahead(gang.id, worker.gpu);
        while (worker.left > 0 && worker.queued < ahead) {
            // A tenth longer or shorter.
            const std::int64_t piece = gang.habit.piece;
            const std::int64_t length =
                piece - piece / 10 + static_cast<std::int64_t>(dice_() % 1000) * piece / 5000;
            Queue& queue = queues_[worker.gpu];
            if (queue.pieces.empty()) begin_piece(queue, length);
            queue.pieces.push_back({index, at, length});
            worker.queued += length;
            --worker.left;
        }
    }

    void begin_piece(Queue& queue, std::int64_t length) const {
        queue.began = now_;
        queue.ends = now_ + length;
    }

    void end_piece(Windows::Gpu gpu) {
        Queue& queue = queues_[gpu];
        const Queue::Piece piece = queue.pieces.front();
        queue.pieces.pop_front();
        queue.ends = INT64_MAX;
        if (!queue.pieces.empty()) begin_piece(queue, queue.pieces.front().length);
        Gang& gang = gangs_[piece.gang];
        Worker& worker = gang.workers[piece.worker];
        worker.queued -= piece.length;
        worker.unseen += piece.length;
        worker.used += piece.length;
        if (worker.queued == 0 && windows_.right(gang.id, gpu) == Right::closed)
            look_at_ = std::min(look_at_, now_ + kRingLatency);
        const bool have_all_met = std::ranges::all_of(
            gang.workers, [](const Worker& one) { return one.left == 0 && one.queued == 0; });
        if (!have_all_met) return;
        gang.begins_at = now_ + kMeeting + gang.habit.rest;
        ++gang.steps;
        gang.longest_step = std::max(gang.longest_step, now_ - gang.last_step);
        gang.last_step = now_;
    }

    void pass(std::int64_t next) {
        for (Queue& queue : queues_)
            if (!queue.pieces.empty()) queue.busy += next - now_;
        for (Gang& gang : gangs_) {
            const auto count = std::ranges::count_if(gang.workers, [&](const Worker& worker) {
                return windows_.right(gang.id, worker.gpu) != Right::closed;
            });
            if (count > 0) gang.on_any += next - now_;
            if (count == std::ssize(gang.workers)) gang.on_all += next - now_;
        }
        now_ = next;
    }

    void take_turn() {
        for (Gang& gang : gangs_)
            for (Worker& worker : gang.workers) {
                windows_.see(gang.id, worker.gpu,
                             {worker.waiting, worker.queued > 0, worker.unseen,
                              worker.queued > 0 ? queues_[worker.gpu].began : 0});
                worker.unseen = 0;
            }
        last_turn_ = now_;
        look_at_ = windows_.turn(now_);
        if (look_at_ <= now_) FAIL("it looks again at once");
        std::vector<int> let(queues_.size());
        for (const Gang& gang : gangs_)
            for (const Worker& worker : gang.workers)
                if (windows_.right(gang.id, worker.gpu) != Right::closed) ++let[worker.gpu];
        most_let_ = std::max(most_let_, *std::ranges::max_element(let));
    }

    std::vector<Gang> gangs_;
    std::vector<Queue> queues_;
    Windows windows_;
    std::mt19937_64 dice_;
    std::int64_t now_ = 1;
    std::int64_t last_turn_ = 0;
    std::int64_t look_at_ = 1;
    int most_let_ = 0;  // on one GPU at a time
};

double of(std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

Gpus all_of(std::size_t count) {
    Gpus gpus;
    for (std::size_t gpu = 0; gpu < count; ++gpu) gpus.push_back(static_cast<Windows::Gpu>(gpu));
    return gpus;
}

// A node on which they have worked for `measured`, after a second to settle.
NodeOfGpus after(std::size_t gpus, const std::vector<Habit>& habits, std::int64_t measured,
                 std::uint64_t seed = 1) {
    NodeOfGpus node(gpus, habits, seed);
    node.run(kSecond);
    node.forget();
    node.run(measured);
    return node;
}

// Steps in `measured`, of each.
std::vector<std::int64_t> steps(std::size_t gpus, const std::vector<Habit>& habits,
                                std::int64_t measured) {
    const NodeOfGpus node = after(gpus, habits, measured);
    std::vector<std::int64_t> counts;
    for (std::size_t index = 0; index < habits.size(); ++index)
        counts.push_back(node.gang(index).steps);
    return counts;
}

}  // namespace

TEST_CASE("two gangs on 2, 4 or 8 GPUs do nine tenths of what they do one after the other") {
    for (const std::size_t gpus : {2U, 4U, 8U})
        for (const auto& [piece, pieces] :
             {std::pair(200 * kUs, 1), std::pair(kMs, 3), std::pair(kMs, 40)}) {
            const Habit half{.share = 500, .gpus = all_of(gpus), .piece = piece, .pieces = pieces};
            const std::int64_t alone = steps(gpus, {half}, 4 * kSecond)[0];
            const auto both = steps(gpus, {half, half}, 4 * kSecond);
            CAPTURE(gpus);
            CAPTURE(piece);
            CAPTURE(pieces);
            CHECK(of(both[0] + both[1], alone) >= 0.9);
            CHECK(of(both[0], both[0] + both[1]) == doctest::Approx(0.5).epsilon(0.03));
        }
}

TEST_CASE("a gang beside a tenant on each of its GPUs: halves for all, windows on all at once") {
    for (const std::size_t gpus : {2U, 4U, 8U}) {
        std::vector<Habit> habits = {{.share = 500, .gpus = all_of(gpus), .pieces = 3}};
        for (const Windows::Gpu gpu : all_of(gpus)) habits.push_back({.share = 500, .gpus = {gpu}});
        const std::int64_t alone = steps(gpus, {habits[0]}, 4 * kSecond)[0];
        const NodeOfGpus node = after(gpus, habits, 4 * kSecond);
        CAPTURE(gpus);
        CHECK(of(node.gang(0).steps, alone) >= 0.45);
        // Windows of 10 ms begin on each GPU when the last work of others has ended there.
        CHECK(of(node.gang(0).on_all, node.gang(0).on_any) >= 0.8);
        CHECK(node.gang(0).longest_step <= 100 * kMs);
        for (std::size_t single = 1; single < habits.size(); ++single)
            CHECK(of(node.used(single), 4 * kSecond) >= 0.45);
    }
}

TEST_CASE("a gang that needs one of its GPUs less leaves that one to others meanwhile") {
    const Habit skewed{.share = 500, .gpus = {0, 1}, .pieces_on = {40, 4}};
    const Habit zero{.share = 500, .gpus = {0}};
    const Habit one{.share = 500, .gpus = {1}};
    const std::int64_t alone = steps(2, {skewed}, 4 * kSecond)[0];
    const NodeOfGpus node = after(2, {skewed, zero, one}, 4 * kSecond);
    CHECK(of(node.gang(0).steps, alone) >= 0.45);
    CHECK(of(node.used(1), 4 * kSecond) >= 0.45);
    CHECK(of(node.used(2), 4 * kSecond) >= 0.6);
}

TEST_CASE("a GPU that a gang never uses is others' alone") {
    NodeOfGpus node(2, {{.share = 500, .gpus = {0, 1}, .pieces_on = {5, 0}},
                        {.share = 500, .gpus = {0}},
                        {.share = 500, .gpus = {1}}});
    node.run(kSecond);
    node.forget();
    node.run(2 * kSecond);
    CHECK(of(node.used(0), 2 * kSecond) == doctest::Approx(0.5).epsilon(0.06));
    CHECK(of(node.used(2), 2 * kSecond) >= 0.95);
}

TEST_CASE("gangs that overlap on one GPU each take turns two by two; of three in a ring one runs") {
    const auto overlapping = [](const std::vector<Gpus>& sets) {
        std::vector<Habit> habits;
        for (const Gpus& gpus : sets) habits.push_back({.share = 500, .gpus = gpus, .pieces = 3});
        return habits;
    };
    const std::int64_t alone = steps(4, overlapping({{0, 1}}), 4 * kSecond)[0];
    for (const std::int64_t each :
         steps(4, overlapping({{0, 1}, {1, 2}, {2, 3}, {3, 0}}), 4 * kSecond))
        CHECK(of(each, alone) >= 0.45);
    for (const std::int64_t each : steps(4, overlapping({{0, 1}, {1, 2}, {2, 0}}), 4 * kSecond))
        CHECK(of(each, alone) >= 0.3);
}

TEST_CASE("requests of one GPU that go first wait only for what is in flight, gangs or not") {
    const Habit first{.share = 300, .gpus = {1}, .pieces = 5, .rest = 50 * kMs, .priority = 1};
    const Habit gang{.share = 500, .gpus = {0, 1}, .piece = 500 * kUs};
    const NodeOfGpus node = after(2, {first, gang, {.share = 500, .gpus = {0}}}, 4 * kSecond);
    // Its rest and its work, and a piece or two of others.
    CHECK(node.gang(0).longest_step <= 55 * kMs + Pace{}.ahead_behind + kMs + 4 * kRingLatency);
    CHECK(of(node.gang(1).steps * 5 * 500 * kUs, 4 * kSecond) >= 0.4);
}

TEST_CASE("over seeds: shares within 3 %, none starves, gangs have all of their GPUs at once") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 dice(seed);
        const auto draw = [&](std::int64_t from, std::int64_t to) {
            return from +
                   static_cast<std::int64_t>(dice() % static_cast<std::uint64_t>(to - from + 1));
        };
        const std::size_t gpus = std::size_t{1} << draw(1, 3);
        std::vector<std::int32_t> left(gpus, 1000);
        std::vector<Habit> habits;
        // Gangs on aligned halves, quarters and pairs; then one or two tenants fill each GPU.
        for (std::size_t size = gpus; size >= 2; size /= 2)
            for (std::size_t from = 0; from < gpus; from += size) {
                Habit gang{.share = static_cast<std::int32_t>(draw(10, 30) * 10), .gpus = {}};
                if (draw(0, 2) == 0) continue;
                for (std::size_t gpu = from; gpu < from + size; ++gpu) {
                    gang.gpus.push_back(static_cast<Windows::Gpu>(gpu));
                    left[gpu] -= gang.share;
                }
                gang.piece = draw(100, 1500) * kUs;
                gang.pieces = static_cast<int>(draw(1, 20));
                habits.push_back(gang);
            }
        for (std::size_t gpu = 0; gpu < gpus; ++gpu)
            for (std::int32_t parts = static_cast<std::int32_t>(draw(1, 2)); parts > 0; --parts) {
                Habit single{.share = left[gpu] / parts, .gpus = {static_cast<Windows::Gpu>(gpu)}};
                single.piece = draw(100, 1500) * kUs;
                left[gpu] -= single.share;
                habits.push_back(single);
            }
        const NodeOfGpus node = after(gpus, habits, 4 * kSecond, seed);
        std::vector<std::int64_t> all(gpus);
        for (std::size_t index = 0; index < habits.size(); ++index)
            for (std::size_t at = 0; at < habits[index].gpus.size(); ++at)
                all[habits[index].gpus[at]] += node.used(index, at);
        CAPTURE(seed);
        for (std::size_t index = 0; index < habits.size(); ++index) {
            const Habit& habit = habits[index];
            CAPTURE(index);
            CAPTURE(habit.share);
            for (std::size_t at = 0; at < habit.gpus.size(); ++at)
                CHECK(of(node.used(index, at), all[habit.gpus[at]]) >= habit.share / 1000.0 - 0.03);
            const std::int64_t step = habit.piece * habit.pieces;
            CHECK(node.gang(index).longest_step <= 3 * step * 1000 / habit.share + 300 * kMs);
            if (habit.gpus.size() > 1)
                CHECK(of(node.gang(index).on_all, node.gang(index).on_any) >= 0.7);
        }
        for (std::size_t gpu = 0; gpu < gpus; ++gpu)
            CHECK(of(node.busy(static_cast<Windows::Gpu>(gpu)), 4 * kSecond) >= 0.85);
    }
}
