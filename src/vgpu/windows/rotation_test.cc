// SPDX-License-Identifier: Apache-2.0
#include "vgpu/windows/rotation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

using namespace berth::vgpu::windows;

namespace {

constexpr std::int64_t kUs = 1'000;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kGiB = 1ULL << 30U;
constexpr std::uint64_t kGrowth = 2 * kGiB;
constexpr std::int64_t kRingLatency = 50 * kUs;  // from a wish to the next turn

struct Pattern {
    RotationClaim claim;
    std::int64_t think = 0;  // on the CPU, before each iteration
    std::int64_t work = 10 * kMs;  // on the GPU, alone
    std::int64_t lag = 0;  // after it, within the iteration, with nothing on the GPU
    std::uint64_t persistent = kGiB;
    std::uint64_t ephemeral = kGiB;
    std::int64_t iterations = INT64_MAX;  // then it leaves
    bool is_found = true;                 // the interposer finds its iterations, after three
    std::int64_t endless_after = INT64_MAX;  // iterations; then one that never ends
    std::int64_t grows_after = INT64_MAX;  // iterations; then it needs kGrowth more within one
    bool is_measured = true;  // how long an iteration takes alone is known beforehand
};

struct Trainer {
    Pattern habit;
    std::size_t rotation = 0;
    Rotation::Id id = 0;
    std::mt19937_64 dice;
    enum class State { thinking, waiting, working, lagging, gone } state = State::thinking;
    std::int64_t thinks_until = 0;  // or lags
    double left = 0;  // of its iteration
    std::int64_t done = 0;
    std::uint32_t began_under = 0;
    std::uint64_t charged = 0;
    std::uint64_t peak = 0;
    std::int64_t done_alone = 0;
    double used = 0;
    double unseen = 0;
    std::int64_t ended_at = 0;
    std::int64_t waits_since = 0;
    std::int64_t worst_wait = 0;

    bool has_iterations() const { return habit.is_found && done >= 3; }
};

// A GPU whose rotations run beside each other, at equal parts of its speed.
class Gpu {
  public:
    std::size_t add_rotation(const RotationTerms& terms) {
        rotations_.push_back(std::make_unique<Rotation>(terms));
        memory_.push_back(terms.memory);
        return rotations_.size() - 1;
    }
    std::size_t add(std::size_t rotation, const Pattern& habit) {
        Trainer trainer;
        trainer.habit = habit;
        trainer.rotation = rotation;
        trainer.id = rotations_[rotation]->join(habit.claim, now_);
        trainer.dice.seed(trainers_.size() + 7);
        trainer.thinks_until = now_ + 1;
        trainers_.push_back(trainer);
        look_at_ = now_;
        return trainers_.size() - 1;
    }

    void run(std::int64_t time) {
        const std::int64_t end = now_ + time;
        while (now_ < end) {
            for (Trainer& trainer : trainers_) begin(trainer);
            const std::int64_t next = std::min(end, next_event());
            advance(next - now_);
            now_ = next;
            for (Trainer& trainer : trainers_) go_on(trainer);
            if (now_ >= look_at_) look();
        }
    }
    bool all_gone() const {
        return std::all_of(trainers_.begin(), trainers_.end(), [](const Trainer& trainer) {
            return trainer.state == Trainer::State::gone;
        });
    }
    void run_until_all_gone() {
        for (int second = 0; second < 10'000 && !all_gone(); ++second) run(kSecond);
    }
    Trainer& operator[](std::size_t index) { return trainers_[index]; }
    std::int64_t now() const { return now_; }

    int violations = 0;  // of a rotation's memory
    int refusals = 0;    // in a turn
    int overlaps = 0;    // iterations of one rotation at a time
    std::vector<std::size_t> order;  // whose iterations began

  private:
    bool may_begin(const Trainer& trainer) const {
        const Turn turn = rotations_[trainer.rotation]->turn_of(trainer.id);
        if (turn.right == Right::turn && trainer.has_iterations())
            return turn.grant != trainer.began_under;
        return turn.right != Right::closed;
    }

    void begin(Trainer& trainer) {
        if (trainer.state == Trainer::State::thinking && now_ >= trainer.thinks_until) {
            trainer.state = Trainer::State::waiting;
            trainer.waits_since = now_;
            if (!may_begin(trainer)) ring();
        }
        if (trainer.state != Trainer::State::waiting || !may_begin(trainer)) return;
        const Turn turn = rotations_[trainer.rotation]->turn_of(trainer.id);
        const std::uint64_t growth = trainer.done >= trainer.habit.grows_after ? kGrowth : 0;
        const std::uint64_t wanted = trainer.habit.persistent + trainer.habit.ephemeral + growth;
        if (wanted > turn.limit) {
            ++refusals;
            ring();
            return;
        }
        trainer.peak = std::max(trainer.peak, wanted);
        trainer.charged = wanted;
        trainer.began_under = turn.grant;
        trainer.worst_wait = std::max(trainer.worst_wait, now_ - trainer.waits_since);
        trainer.state = Trainer::State::working;
        trainer.left = trainer.done >= trainer.habit.endless_after
                           ? 1e18
                           : static_cast<double>(trainer.habit.work);
        order.push_back(static_cast<std::size_t>(&trainer - trainers_.data()));
        for (const Trainer& other : trainers_)
            if (&other != &trainer && other.rotation == trainer.rotation && is_inside(other))
                ++overlaps;
        std::uint64_t sum = 0;
        for (const Trainer& other : trainers_)
            if (other.rotation == trainer.rotation) sum += other.charged;
        if (sum > memory_[trainer.rotation]) ++violations;
    }

    bool is_inside(const Trainer& trainer) const {
        return trainer.state == Trainer::State::lagging || is_running(trainer);
    }

    // An iteration that was stopped by a closed gate does not run.
    bool is_running(const Trainer& trainer) const {
        return trainer.state == Trainer::State::working &&
               rotations_[trainer.rotation]->turn_of(trainer.id).right != Right::closed;
    }

    double speed() const {
        const auto running =
            std::count_if(trainers_.begin(), trainers_.end(),
                          [this](const Trainer& each) { return is_running(each); });
        return running == 0 ? 1 : 1.0 / static_cast<double>(running);
    }

    std::int64_t next_event() const {
        std::int64_t next = look_at_;
        for (const Trainer& trainer : trainers_) {
            if (trainer.state == Trainer::State::thinking ||
                trainer.state == Trainer::State::lagging)
                next = std::min(next, trainer.thinks_until);
            if (is_running(trainer))
                next = std::min(next, now_ + 1 + static_cast<std::int64_t>(trainer.left / speed()));
        }
        return std::max(next, now_ + 1);
    }

    void advance(std::int64_t time) {
        const double each = speed() * static_cast<double>(time);
        for (Trainer& trainer : trainers_) {
            if (!is_running(trainer)) continue;
            trainer.left -= each;
            trainer.used += each;
            trainer.unseen += each;
        }
    }

    void go_on(Trainer& trainer) {
        if (is_running(trainer) && trainer.left <= 0) {
            trainer.state = Trainer::State::lagging;
            trainer.thinks_until = now_ + trainer.habit.lag;
        }
        if (trainer.state != Trainer::State::lagging || now_ < trainer.thinks_until) return;
        trainer.charged = trainer.habit.persistent;
        ++trainer.done;
        if (rotations_[trainer.rotation]->turn_of(trainer.id).is_alone) ++trainer.done_alone;
        ring();
        if (trainer.done >= trainer.habit.iterations) {
            trainer.state = Trainer::State::gone;
            trainer.ended_at = now_;
            trainer.charged = 0;
            rotations_[trainer.rotation]->leave(trainer.id);
            return;
        }
        trainer.state = Trainer::State::thinking;
        trainer.thinks_until = now_ + trainer.habit.think;
    }

    void ring() { look_at_ = std::min(look_at_, now_ + kRingLatency); }

    void look() {
        for (Trainer& trainer : trainers_) {
            if (trainer.state == Trainer::State::gone) continue;
            const bool is_working = trainer.state == Trainer::State::working;
            RotationSight sight;
            sight.work.waiting =
                trainer.state == Trainer::State::waiting || (is_working && !is_running(trainer));
            sight.work.in_flight = is_running(trainer);
            sight.work.used_ns = static_cast<std::int64_t>(trainer.unseen);
            trainer.unseen = 0;
            const bool is_inside = is_working || trainer.state == Trainer::State::lagging;
            sight.inside = is_inside && trainer.has_iterations();
            sight.is_measured = trainer.habit.is_measured || trainer.done_alone >= 8;
            if (trainer.has_iterations()) {
                sight.iterations = static_cast<std::uint64_t>(trainer.done);
                sight.persistent = trainer.habit.persistent;
                sight.peak = std::max(trainer.peak, trainer.charged);
            }
            sight.charged = trainer.charged;
            rotations_[trainer.rotation]->see(trainer.id, sight);
        }
        look_at_ = INT64_MAX;
        for (auto& rotation : rotations_) look_at_ = std::min(look_at_, rotation->turn(now_));
    }

    std::vector<std::unique_ptr<Rotation>> rotations_;
    std::vector<std::uint64_t> memory_;
    std::vector<Trainer> trainers_;
    std::int64_t now_ = 1;
    std::int64_t look_at_ = 1;
};

// A job with no more than `limit`, whose iterations take this.
Pattern habit(std::uint64_t limit, std::int64_t think, std::int64_t work) {
    Pattern habit;
    habit.claim.limit = limit;
    habit.think = think;
    habit.work = work;
    return habit;
}

}  // namespace

TEST_CASE("the memory of a rotation is never passed, whichever jobs come and whatever they need") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 dice(seed);
        Gpu gpu;
        const auto policy = static_cast<Policy>(dice() % 5);
        const std::size_t rotation = gpu.add_rotation({16 * kGiB, policy});
        for (int round = 0; round < 12; ++round) {
            Pattern job =
                habit((dice() % 8 + 3) * kGiB, static_cast<std::int64_t>(dice() % 20) * kMs,
                      static_cast<std::int64_t>(dice() % 50 + 1) * kMs);
            job.persistent = dice() % (2 * kGiB);
            job.ephemeral = dice() % (job.claim.limit - job.persistent);
            job.iterations = static_cast<std::int64_t>(dice() % 60 + 5);
            job.is_found = dice() % 4 != 0;
            gpu.add(rotation, job);
            gpu.run(static_cast<std::int64_t>(dice() % 1000) * kMs);
        }
        gpu.run_until_all_gone();
        CHECK(gpu.all_gone());
        CHECK(gpu.violations == 0);
        CHECK(gpu.refusals == 0);
        // The others may let jobs have the GPU at once.
        if (policy != Policy::fair && policy != Policy::pack) CHECK(gpu.overlaps == 0);
    }
}

TEST_CASE("more jobs fit than their limits allow: what only iterations need is there once") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({12 * kGiB, Policy::fair});
    for (int index = 0; index < 4; ++index) {
        Pattern job = habit(9 * kGiB, 0, 10 * kMs);
        job.ephemeral = 7 * kGiB;  // 4 * 1 + 7 <= 12, and 4 * 8 is not
        job.claim.persistent = kGiB;
        job.claim.peak = 8 * kGiB;
        gpu.add(rotation, job);
    }
    gpu.run(10 * kSecond);
    for (std::size_t index = 0; index < 4; ++index) CHECK(gpu[index].done > 100);
    CHECK(gpu.violations + gpu.refusals + gpu.overlaps == 0);
}

TEST_CASE("what is known of a job admits it beside others at once, where its limit would not") {
    for (const bool is_known : {false, true}) {
        CAPTURE(is_known);
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({8 * kGiB, Policy::fair});
        Pattern first = habit(8 * kGiB, 0, 10 * kMs);
        first.ephemeral = 5 * kGiB;
        gpu.add(rotation, first);
        gpu.run(kSecond);
        Pattern second = habit(6 * kGiB, 0, 10 * kMs);
        second.ephemeral = 3 * kGiB;
        if (is_known) {
            second.claim.persistent = kGiB;
            second.claim.peak = 4 * kGiB;
        }
        gpu.add(rotation, second);
        gpu.run(2 * kSecond);
        CHECK((gpu[1].done > 0) == is_known);
        CHECK(gpu.violations + gpu.refusals == 0);
    }
}

TEST_CASE("fair: jobs of any length of iteration get device time by their weights, within 3 %") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 dice(seed);
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::fair});
        double weights = 0;
        const std::size_t count = dice() % 4 + 2;
        for (std::size_t index = 0; index < count; ++index) {
            Pattern job = habit(3 * kGiB, 0, static_cast<std::int64_t>(dice() % 100 + 5) * kMs);
            job.claim.weight = static_cast<std::int32_t>(dice() % 3 + 1);
            weights += job.claim.weight;
            gpu.add(rotation, job);
        }
        gpu.run(60 * kSecond);
        double used = 0;
        for (std::size_t index = 0; index < count; ++index) used += gpu[index].used;
        for (std::size_t index = 0; index < count; ++index)
            CHECK(gpu[index].used / used ==
                  doctest::Approx(gpu[index].habit.claim.weight / weights).epsilon(0.03));
        CHECK(used > 0.97 * 60e9);
    }
}

TEST_CASE("fair: a short pause between iterations does not cost a job its part") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::fair});
    gpu.add(rotation, habit(3 * kGiB, 300 * kUs, 4 * kMs));
    gpu.add(rotation, habit(3 * kGiB, 300 * kUs, 40 * kMs));
    gpu.run(30 * kSecond);
    CHECK(gpu[0].used / (gpu[0].used + gpu[1].used) == doctest::Approx(0.5).epsilon(0.03));
    CHECK(gpu[0].used + gpu[1].used > 0.93 * 30e9);
}

TEST_CASE("fair: who was idle or comes late does not take all to catch up") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::fair});
    gpu.add(rotation, habit(3 * kGiB, 0, 10 * kMs));
    gpu.run(20 * kSecond);
    gpu.add(rotation, habit(3 * kGiB, 0, 10 * kMs));
    const double before = gpu[0].used;
    gpu.run(4 * kSecond);
    CHECK(gpu[0].used - before == doctest::Approx(2e9).epsilon(0.05));
}

TEST_CASE("srtf: jobs end in the order of what they have left, and their mean is least") {
    double means[2] = {};
    for (const Policy policy : {Policy::fifo, Policy::srtf}) {
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({64 * kGiB, policy});
        const std::int64_t iterations[] = {400, 100, 300, 20, 200};
        double sum = 0;
        for (const std::int64_t count : iterations) {
            Pattern job = habit(3 * kGiB, 0, 10 * kMs);
            job.iterations = count;
            job.claim.expected_ns = count * 10 * kMs;
            gpu.add(rotation, job);
        }
        gpu.run_until_all_gone();
        for (std::size_t index = 0; index < 5; ++index)
            sum += static_cast<double>(gpu[index].ended_at);
        means[policy == Policy::srtf ? 1 : 0] = sum / 5;
        if (policy != Policy::srtf) continue;
        CHECK(gpu[3].ended_at < gpu[1].ended_at);
        CHECK(gpu[1].ended_at < gpu[4].ended_at);
        CHECK(gpu[4].ended_at < gpu[2].ended_at);
        CHECK(gpu[2].ended_at < gpu[0].ended_at);
    }
    CHECK(means[1] < 0.65 * means[0]);
}

TEST_CASE("fifo: the first has the rotation whenever it has work, the others what it leaves") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::fifo});
    gpu.add(rotation, habit(3 * kGiB, 10 * kMs, 10 * kMs));
    gpu.add(rotation, habit(3 * kGiB, 0, 2 * kMs));
    gpu.add(rotation, habit(3 * kGiB, 0, 2 * kMs));
    gpu.run(20 * kSecond);
    CHECK(gpu[0].used > 0.40 * 20e9);  // of the half that it can use
    CHECK(gpu[1].used > 0.30 * 20e9);
    CHECK(gpu[2].used < 0.01 * 20e9);  // the second has always work
}

TEST_CASE("priority: the highest waits for one iteration at most, the lowest for all") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::priority});
    Pattern low = habit(3 * kGiB, 0, 30 * kMs);
    Pattern high = habit(3 * kGiB, 50 * kMs, 10 * kMs);
    high.claim.priority = 5;
    gpu.add(rotation, low);
    gpu.add(rotation, low);
    gpu.add(rotation, high);
    gpu.run(5 * kSecond);
    gpu[2].worst_wait = 0;
    gpu.run(20 * kSecond);
    CHECK(gpu[2].worst_wait < 32 * kMs);
    CHECK(gpu[0].used == doctest::Approx(gpu[1].used).epsilon(0.05));
}

TEST_CASE("pack: iterations come in the order in which jobs were ready for them") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::pack});
    for (int index = 0; index < 3; ++index) gpu.add(rotation, habit(3 * kGiB, 0, 10 * kMs));
    gpu.run(5 * kSecond);
    gpu.order.clear();
    gpu.run(kSecond);
    for (std::size_t index = 3; index < gpu.order.size(); ++index)
        CHECK(gpu.order[index] == gpu.order[index - 3]);
}

TEST_CASE("with fair and pack no job waits longer than one iteration of each other, and a bit") {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 dice(seed);
        const Policy policy = seed % 2 == 0 ? Policy::fair : Policy::pack;
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({64 * kGiB, policy});
        std::int64_t bound = 20 * kMs;
        for (int index = 0; index < 5; ++index) {
            const auto work = static_cast<std::int64_t>(dice() % 40 + 20) * kMs;
            gpu.add(rotation, habit(3 * kGiB, static_cast<std::int64_t>(dice() % 10) * kMs, work));
            // Fair may run a short one several times while a long one has had more.
            bound += policy == Policy::fair ? 3 * work : work;
        }
        gpu.run(5 * kSecond);
        for (std::size_t index = 0; index < 5; ++index) gpu[index].worst_wait = 0;
        gpu.run(20 * kSecond);
        for (std::size_t index = 0; index < 5; ++index) CHECK(gpu[index].worst_wait < bound);
    }
}

TEST_CASE("a job without iterations cannot hold the rotation, nor one whose iteration never ends") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({64 * kGiB, Policy::fair});
    Pattern rigid = habit(3 * kGiB, 0, kMs);
    rigid.is_found = false;
    Pattern endless = habit(3 * kGiB, 0, 10 * kMs);
    endless.endless_after = 50;
    gpu.add(rotation, rigid);
    gpu.add(rotation, endless);
    const std::size_t good = gpu.add(rotation, habit(3 * kGiB, 0, 10 * kMs));
    gpu.run(60 * kSecond);
    CHECK(gpu[0].used > 0.25 * 60e9);
    CHECK(gpu[good].used > 0.25 * 60e9);
    CHECK(gpu[good].worst_wait < 5 * kSecond);
    CHECK(gpu.violations == 0);
}

TEST_CASE("of two jobs that each leave the GPU half idle one computes while the other does not") {
    const auto gain = [](int rotations) {
        Gpu gpu;
        for (int index = 0; index < 2; ++index) {
            if (index < rotations) gpu.add_rotation({8 * kGiB, Policy::pack});
            Pattern job = habit(3 * kGiB, 50 * kMs, 50 * kMs);
            job.iterations = 600;  // a minute alone
            gpu.add(rotations == 2 ? static_cast<std::size_t>(index) : 0, job);
        }
        gpu.run_until_all_gone();
        CHECK(gpu.violations + gpu.refusals == 0);
        const auto together = static_cast<double>(std::max(gpu[0].ended_at, gpu[1].ended_at));
        return 2 * 600 * 100e6 / together;
    };
    // Iterations in turn put the two out of step; beside each other two that begin together slow
    // each other down for ever.
    CHECK(gain(1) >= 1.9);
    CHECK(gain(2) >= 1.3);
}

TEST_CASE("who leaves the GPU idle within its iterations has it at once with others, if it fits") {
    const auto gain = [](Policy policy, std::uint64_t memory, std::int32_t other_weight) {
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({memory, policy});
        Pattern job = habit(6 * kGiB, 0, 10 * kMs);
        job.lag = 10 * kMs;
        job.ephemeral = 4 * kGiB;
        gpu.add(rotation, job);
        job.claim.weight = other_weight;
        gpu.add(rotation, job);
        gpu.run(10 * kSecond);
        const auto before = gpu[0].done + gpu[1].done;
        gpu.run(20 * kSecond);
        CHECK(gpu.violations + gpu.refusals == 0);
        return static_cast<double>(gpu[0].done + gpu[1].done - before) * 20e6 / 20e9;
    };
    for (const Policy policy : {Policy::fair, Policy::pack})
        CHECK(gain(policy, 12 * kGiB, 1) > 1.3);
    CHECK(gain(Policy::fair, 9 * kGiB, 1) < 1.01);  // both peaks are 10 GiB
    CHECK(gain(Policy::fair, 12 * kGiB, 2) < 1.01);
    CHECK(gain(Policy::fifo, 12 * kGiB, 1) < 1.01);
}

TEST_CASE("who needs more than it ever did beside another one gets it by turns") {
    for (const bool fits : {true, false}) {
        CAPTURE(fits);
        Gpu gpu;
        const std::size_t rotation = gpu.add_rotation({(fits ? 13 : 11) * kGiB, Policy::fair});
        Pattern job = habit(9 * kGiB, 0, 10 * kMs);
        job.lag = 10 * kMs;
        job.ephemeral = 4 * kGiB;
        job.claim.persistent = kGiB;
        job.claim.peak = 5 * kGiB;
        gpu.add(rotation, job);
        job.grows_after = 500;
        gpu.add(rotation, job);
        gpu.run(60 * kSecond);
        CHECK(gpu[1].done > 1000);
        CHECK(gpu[0].done > 1000);
        CHECK(gpu.violations == 0);
        // Of its next iteration it is known.
        const auto overlaps = gpu.overlaps;
        gpu.run(kSecond);
        CHECK((gpu.overlaps > overlaps) == fits);
    }
}

TEST_CASE("how long an iteration takes alone is measured once, while all others wait") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({16 * kGiB, Policy::fair});
    Pattern job = habit(3 * kGiB, 20 * kMs, 10 * kMs);
    gpu.add(rotation, job);
    job.is_measured = false;
    const std::size_t newcomer = gpu.add(rotation, job);
    gpu.run(2 * kSecond);
    CHECK(gpu[newcomer].done_alone >= 8);
    CHECK(gpu[0].done_alone == 0);
    CHECK(gpu[0].worst_wait < 12 * 30 * kMs);
    gpu[0].worst_wait = 0;
    const auto done_alone = gpu[newcomer].done_alone;
    gpu.run(60 * kSecond);
    CHECK(gpu[newcomer].done_alone == done_alone);
    CHECK(gpu[0].worst_wait < 20 * kMs);
    CHECK(gpu.violations + gpu.refusals + gpu.overlaps == 0);
}

TEST_CASE("who cannot be measured alone keeps others waiting for seconds, and not again at once") {
    Gpu gpu;
    const std::size_t rotation = gpu.add_rotation({16 * kGiB, Policy::fair});
    gpu.add(rotation, habit(3 * kGiB, 20 * kMs, 10 * kMs));
    Pattern rare = habit(3 * kGiB, 5 * kSecond, 10 * kMs);
    rare.is_measured = false;
    gpu.add(rotation, rare);
    gpu.run(120 * kSecond);
    CHECK(gpu[0].worst_wait < 2 * kSecond);
    CHECK(gpu[0].done > 120 * kSecond / (30 * kMs) * 8 / 10);
}

TEST_CASE("fair: a job that never reports its device time has twice its part at most") {
    Rotation rotation({8 * kGiB, Policy::fair});
    RotationClaim claim;
    claim.limit = kGiB;
    const auto liar = rotation.join(claim, 1);
    const auto other = rotation.join(claim, 1);
    std::int64_t served = 0;
    for (std::int64_t now = kMs; now <= 60 * kSecond; now += kMs) {
        const bool has_turn = rotation.turn_of(other).right != Right::closed;
        if (has_turn) served += kMs;
        RotationSight lies;
        lies.work = {true, true, 0};
        rotation.see(liar, lies);
        RotationSight truth;
        truth.work = {!has_turn, has_turn, has_turn ? kMs : 0};
        rotation.see(other, truth);
        rotation.turn(now);
    }
    CHECK(served >= 60 * kSecond * 3 / 10);
}
