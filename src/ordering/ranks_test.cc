// SPDX-License-Identifier: Apache-2.0
//
// Which job is first, when does that change, and does no job wait for ever, as ranks.h and guard.h
// say?
#include "ordering/ranks.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "base/rng.h"

namespace berth::ordering {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr ProjectId kProject{1};
constexpr std::int64_t kGpus = 64'000;

// A cluster of one project that tells its order what happens.
class World {
  public:
    explicit World(model::OrderRules rules = {}, std::int64_t gpus = kGpus) {
        (void)set_rules(rules);
        order.may_have(kProject, gpus, now);
    }

    bool set_rules(const model::OrderRules& rules) {
        const RulesOfProject given{kProject, rules};
        return !order.set_rules({&given, 1}).empty();
    }
    JobId submit(std::int64_t width = 1000, std::uint64_t kin = 0, ProjectId project = kProject) {
        const JobId id{++last_};
        JobSnapshot& job = jobs[id];
        job.job = id;
        job.waits = true;
        job.width = width;
        job.submitted = job.waiting_since = job.since = now;
        order.submitted(at(id), project, {kin, 0, 0});
        settle(id);
        return id;
    }
    void start(JobId id) {
        JobSnapshot& job = counted(id);
        job.waits = false, job.runs = true, job.in_use = job.width;
        order.changed(at(id));
        settle(id);
    }
    void pause(JobId id) {
        JobSnapshot& job = counted(id);
        job.waits = true, job.runs = false, job.in_use = 0;
        job.waiting_since = now;
        order.changed(at(id));
        settle(id);
    }
    void end(JobId id) {
        order.ended(at(id));
        jobs.erase(id);
        changes.erase(id);
        settle({});
    }
    // It runs for `time` and ends.
    void run(std::uint64_t kin, Duration time, ProjectId project = kProject) {
        const JobId id = submit(1000, kin, project);
        start(id);
        pass(time);
        end(id);
    }
    // By the changes that are announced, each at its time.
    void pass(Duration time) {
        const TimePoint until = now + time;
        for (;;) {
            std::pair<TimePoint, JobId> next{kNever, {}};
            for (const auto& [id, change] : changes) next = std::min(next, std::pair(change, id));
            if (next.first > until) break;
            now = std::max(now, next.first);
            order.time_came(at(next.second));
            settle(next.second);
        }
        now = until;
    }
    JobSnapshot at(JobId id) const {
        JobSnapshot job = jobs.at(id);
        job.now = now;
        return job;
    }
    Rank rank(JobId id) const { return order.rank(at(id)); }
    bool is_granted(JobId id) const {
        return order.brief_account(at(id)).turn == model::Turn::Granted;
    }

    Ranks order;
    std::map<JobId, JobSnapshot> jobs;
    std::map<JobId, TimePoint> changes;  // as announced last
    std::set<JobId> moved;  // by what others did
    TimePoint now = base::at_ms(0) + hours(1000);

  private:
    // It, and the jobs that moved by it.
    void settle(JobId id) {
        if (id.is_valid()) changes[id] = order.next_change(at(id));
        for (const JobId other : order.take_moved()) {
            changes[other] = order.next_change(at(other));
            moved.insert(other);
        }
    }
    JobSnapshot& counted(JobId id) {
        JobSnapshot& job = jobs.at(id);
        job.counted = at(id).used();
        job.since = now;
        return job;
    }

    std::int64_t last_ = 0;
};

}  // namespace

TEST_CASE("of more jobs than are ranked at once none is left out, however often all learn") {
    World world({.patience = 0, .fair = 0}, 10'000'000);
    std::vector<JobId> jobs;
    for (std::uint64_t kin = 1; kin <= Ranks::kAtOnce + 100; ++kin) {
        jobs.push_back(world.submit(1000, kin));
        world.start(jobs.back());
    }
    world.pass(seconds(61));
    for (const JobId job : jobs) world.pause(job);
    world.moved.clear();
    // All learn after ten of them, then whenever a tenth more have ended.
    for (int count = 0; count < 200; ++count) world.run(0, seconds(1));
    for (const JobId job : jobs) CHECK(world.moved.contains(job));
}

TEST_CASE("on a stage who runs is first, then the narrowest; who has hardly run is before all") {
    World world;
    const JobId wide = world.submit(8000), narrow = world.submit(1000, 1);
    CHECK(world.rank(narrow) < world.rank(wide));
    world.start(wide);
    CHECK(world.rank(wide) < world.rank(narrow));
    CHECK(world.changes.at(wide) == world.now + Duration{7500});
    world.pass(minutes(10));
    CHECK(world.rank(wide).stage() > 0);
    CHECK(world.rank(narrow) < world.rank(wide));
}

TEST_CASE("levels: by GPU time had, and nothing is learned") {
    World world({.by = model::JobOrder::ByLevels, .patience = 0, .fair = 0});
    const JobId job = world.submit(2000);
    world.start(job);
    CHECK(world.changes.at(job) == world.now + minutes(5));
    world.pass(minutes(5));
    CHECK(world.rank(job).stage() == 1);
    CHECK(world.changes.at(job) == world.now + minutes(35));
}

TEST_CASE("age: all rank alike, nothing changes, and yet it learns") {
    World world({.by = model::JobOrder::Age});
    const JobId first = world.submit(), second = world.submit(8000);
    world.start(first);
    world.pass(hours(10));
    CHECK(world.rank(first) == world.rank(second));
    CHECK(world.changes.at(first) == kNever);
    world.end(first);
    for (int round = 0; round < 40; ++round) world.run(0, hours(5)), world.run(1, minutes(5));
    const JobId long_one = world.submit(1000, 0), short_one = world.submit(1000, 1);
    for (const JobId id : {long_one, short_one}) world.start(id);
    world.pass(minutes(2));
    for (const JobId id : {long_one, short_one}) world.pause(id);
    CHECK(world.set_rules({}));
    CHECK(world.rank(short_one) < world.rank(long_one));
}

TEST_CASE("each project has its own order, set at any time, and by all of them it learns") {
    constexpr ProjectId kOther{2};
    World world({.patience = 0, .fair = 0});
    // Of jobs alike, in the one project and in the other: the next completion of a short one is
    // near, that of a long one is not.
    const auto set = [&](ProjectId project, const model::OrderRules& rules) {
        const RulesOfProject given{project, rules};
        return world.order.set_rules({&given, 1});
    };
    CHECK(world.order.rules(kOther).by == model::JobOrder::Age);
    CHECK(set(kOther, {.by = model::JobOrder::Age}).empty());
    for (int round = 0; round < 40; ++round) world.run(0, hours(5)), world.run(1, minutes(5));
    const auto shorter_first = [&](ProjectId project, std::uint64_t long_kin,
                                   std::uint64_t short_kin) {
        const JobId long_one = world.submit(1000, long_kin, project);
        const JobId short_one = world.submit(1000, short_kin, project);
        for (const JobId id : {long_one, short_one}) world.start(id);
        world.pass(minutes(2));
        for (const JobId id : {long_one, short_one}) world.pause(id);
        return std::pair(long_one, short_one);
    };
    const auto [long_one, short_one] = shorter_first(kProject, 0, 1);
    const auto [same, as_well] = shorter_first(kOther, 2, 3);
    CHECK(world.rank(short_one) < world.rank(long_one));
    CHECK(world.rank(same) == world.rank(as_well));
    CHECK(world.changes.at(same) == kNever);
    // By levels, each by its own time: the one that has had ten minutes is behind.
    CHECK(set(kOther, {.by = model::JobOrder::ByLevels}) == std::vector{kOther});
    CHECK(world.rank(same).stage() == 0);
    world.start(same);
    world.pass(minutes(9));
    CHECK(world.rank(same).stage() == 1);
    // What ended while it went by age was learned of.
    set(kOther, {.by = model::JobOrder::Age});
    for (int round = 0; round < 40; ++round) {
        world.run(2, hours(5), kOther), world.run(3, minutes(5), kOther);
    }
    const auto [later_long, later_short] = shorter_first(kOther, 2, 3);
    CHECK(world.rank(later_short) == world.rank(later_long));
    set(kOther, {});
    CHECK(world.rank(later_short) < world.rank(later_long));
    CHECK(world.order.rules(kProject).by == model::JobOrder::Learned);
}

TEST_CASE("the tail of one project goes by age, and that of another does not") {
    constexpr ProjectId kOther{2};
    World world({.tail = 33, .patience = 0, .fair = 0});
    const RulesOfProject given{kOther, {.patience = 0, .fair = 0}};
    world.order.set_rules({&given, 1});
    for (int round = 1; round <= 40; ++round) world.run(0, hours(round)), world.run(1, minutes(5));
    const auto wide_and_narrow = [&](ProjectId project) {
        const JobId wide = world.submit(2000, 2, project), narrow = world.submit(1000, 3, project);
        for (const JobId id : {wide, narrow}) world.start(id);
        world.pass(hours(2000));
        for (const JobId id : {wide, narrow}) world.pause(id);
        return std::pair(wide, narrow);
    };
    const auto [wide, narrow] = wide_and_narrow(kProject);
    CHECK(world.rank(wide) == world.rank(narrow));
    const auto [other_wide, other_narrow] = wide_and_narrow(kOther);
    CHECK(world.rank(other_wide) != world.rank(other_narrow));
    const model::OrderLedger ledger = world.order.save({"", "project", "other"});
    REQUIRE(world.order.restore(ledger, {"", "project", "other"}));
    CHECK(world.order.rules(kOther) == given.rules);
    CHECK(world.rank(wide) == world.rank(narrow));
    CHECK(world.rank(other_wide) != world.rank(other_narrow));
}

TEST_CASE("learned: after its first minute a job goes by what its kin took") {
    World world({.patience = 0, .fair = 0});
    for (int round = 0; round < 40; ++round) world.run(0, hours(5)), world.run(1, minutes(5));
    const JobId long_one = world.submit(1000, 0), short_one = world.submit(1000, 1);
    for (const JobId id : {long_one, short_one}) world.start(id);
    world.pass(minutes(2));
    for (const JobId id : {long_one, short_one}) world.pause(id);
    CHECK(world.rank(short_one) < world.rank(long_one));
    const auto rank_after = [&](Duration more) {
        world.start(long_one);
        world.pass(more);
        world.pause(long_one);
        return world.rank(long_one);
    };
    const Rank in_the_middle = rank_after(minutes(8));
    CHECK(rank_after(minutes(280)) < in_the_middle);  // nearly done, by what is known
}

TEST_CASE("learned: the first of a batch is a pilot for the rest") {
    World world({.patience = 0, .fair = 0});
    const JobId pilot = world.submit(1000, 0), sibling = world.submit(1000, 0);
    const JobId stranger = world.submit(1000, 1);
    for (const JobId id : {sibling, stranger}) world.start(id);
    world.pass(minutes(2));
    for (const JobId id : {sibling, stranger}) world.pause(id);
    CHECK(world.rank(sibling) == world.rank(stranger));
    world.start(pilot);
    world.pass(hours(10));
    CHECK(world.rank(stranger) < world.rank(sibling));
}

TEST_CASE("who runs is ahead by the hysteresis, and first of all while it restarts") {
    World plain({.patience = 0, .fair = 0, .hysteresis = 0});
    World ahead({.patience = 0, .fair = 0, .hysteresis = 2});
    for (World* world : {&plain, &ahead}) {
        const JobId job = world->submit();
        world->start(job);
        world->pass(hours(10));
    }
    const JobId job{1};
    CHECK(ahead.rank(job).stage() == plain.rank(job).stage() - 2);
    ahead.pause(job);
    CHECK(ahead.rank(job).stage() == plain.rank(job).stage());
    ahead.start(job);
    ahead.jobs.at(job).restarts_until = ahead.now + minutes(1);
    CHECK(ahead.rank(job).stage() == 0);
    CHECK(ahead.order.next_change(ahead.at(job)) == ahead.now + minutes(1));
}

TEST_CASE("tail: the costliest jobs go by age") {
    const auto ranks = [](int tail) {
        World world({.tail = tail, .patience = 0, .fair = 0});
        for (int round = 1; round <= 40; ++round)
            world.run(0, hours(round)), world.run(1, minutes(5));
        const JobId older = world.submit(2000, 2), younger = world.submit(1000, 3);
        for (const JobId id : {older, younger}) world.start(id);
        world.pass(hours(2000));
        for (const JobId id : {older, younger}) world.pause(id);
        return std::pair(world.rank(older), world.rank(younger));
    };
    CHECK(ranks(0).second < ranks(0).first);
    CHECK(ranks(33).second == ranks(33).first);  // a tie: the one submitted earlier
}

TEST_CASE(
    "the guard by waits: who waited too long has a run, together on their share of the GPUs") {
    World world({.by = model::JobOrder::ByLevels, .patience = 6, .fair = 0}, 20'000);
    std::vector<JobId> jobs;
    for (int i = 0; i < 4; ++i) jobs.push_back(world.submit());
    const auto granted = [&] {
        return std::ranges::count_if(jobs, [&](JobId id) { return world.is_granted(id); });
    };
    world.pass(minutes(59));
    CHECK(granted() == 0);
    world.pass(minutes(1));
    CHECK(granted() == 2);  // a tenth of twenty
    world.start(jobs[0]);
    world.pass(minutes(5));  // its run is over
    CHECK(granted() == 2);
    CHECK(world.rank(jobs[0]).stage() == 0);
    CHECK(world.rank(jobs[0]) < world.rank(jobs[1]));  // on its level, running
    world.end(jobs[1]);
    CHECK(world.is_granted(jobs[3]));
}

TEST_CASE("a job that is due goes before all but the first stage, and no later than by its own") {
    World world({.by = model::JobOrder::ByLevels, .patience = 6, .fair = 0}, 20'000);
    const JobId fresh = world.submit(), long_ago = world.submit();
    world.start(long_ago);
    world.pass(minutes(30));
    world.pause(long_ago);
    const JobId other = world.submit();
    world.start(other);
    world.pass(hours(3));  // six times what it ran
    CHECK(world.is_granted(fresh));
    CHECK(world.is_granted(long_ago));
    CHECK(world.rank(long_ago) < world.rank(other));
    const JobId newcomer = world.submit();
    CHECK(world.rank(newcomer) < world.rank(long_ago));
    CHECK(world.rank(fresh) == world.rank(newcomer));  // and was submitted earlier
}

TEST_CASE("a job wider than the guard's share gets its run when no other has one") {
    World world({.by = model::JobOrder::ByLevels, .patience = 6, .fair = 0}, 20'000);
    const JobId narrow = world.submit();
    world.pass(seconds(1));
    const JobId wide = world.submit(16'000);
    world.pass(minutes(61));
    CHECK(world.is_granted(narrow));
    CHECK(!world.is_granted(wide));
    world.end(narrow);
    CHECK(world.is_granted(wide));
}

TEST_CASE("the guard by fair ends counts how crowded the project was") {
    World idle({.by = model::JobOrder::ByLevels, .patience = 0, .fair = 10}, 1000);
    World crowded({.by = model::JobOrder::ByLevels, .patience = 0, .fair = 10}, 1000);
    for (int i = 0; i < 9; ++i) (void)crowded.submit(1000, 7);
    const JobId alone = idle.submit(), one_of_ten = crowded.submit();
    for (World* world : {&idle, &crowded}) world->pass(minutes(11));
    CHECK(idle.is_granted(alone));
    CHECK(!crowded.is_granted(one_of_ten));
    crowded.pass(hours(3));
    CHECK(crowded.is_granted(JobId{1}));
}

TEST_CASE("ranks follow from what happened, not from who asked when, nor from restarts") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        INFO(seed);
        base::Rng rng(seed);
        model::OrderRules rules{.tail = rng.chance(1, 2) ? 33 : 0};
        if (rng.chance(1, 4)) rules.by = model::JobOrder::ByLevels;
        World asked(rules), left_alone(rules);
        for (int event = 0; event < 200; ++event) {
            const Duration passes{rng.between(0, 3'600'000)};
            asked.pass(passes / 3), asked.pass(passes - passes / 3);
            left_alone.pass(passes);
            std::vector<JobId> ids;
            for (const auto& [id, job] : asked.jobs) ids.push_back(id);
            const auto both = [&](auto&& happen) { happen(asked), happen(left_alone); };
            if (ids.empty() || rng.chance(1, 3)) {
                const std::int64_t width = 1000 * rng.between(1, 8);
                const auto kin = static_cast<std::uint64_t>(rng.between(0, 2));
                both([&](World& world) { world.submit(width, kin); });
            } else {
                const JobId id = ids[static_cast<std::size_t>(rng.between(0, std::ssize(ids) - 1))];
                if (!asked.jobs.at(id).runs)
                    both([&](World& world) { world.start(id); });
                else if (rng.chance(1, 2))
                    both([&](World& world) { world.pause(id); });
                else
                    both([&](World& world) { world.end(id); });
            }
            if (rng.chance(1, 10)) {
                const model::OrderLedger ledger = asked.order.save({"", "project"});
                REQUIRE(asked.order.restore(ledger, {"", "project"}));
            }
            for (const auto& [id, job] : asked.jobs) {
                REQUIRE(asked.rank(id) == left_alone.rank(id));
                REQUIRE(asked.changes.at(id) == left_alone.changes.at(id));
            }
        }
    }
}

TEST_CASE("a ledger of other jobs, or one that does not fit together, changes nothing") {
    World world;
    const JobId job = world.submit();
    model::OrderLedger ledger = world.order.save({"", "project"});
    model::OrderLedger torn = ledger;
    torn.families.front().steps.clear();
    CHECK_FALSE(world.order.restore(torn, {"", "project"}));
    ledger.jobs.front().job = JobId{99};
    CHECK_FALSE(world.order.restore(ledger, {"", "project"}));
    CHECK(world.rank(job).stage() == 0);
}

}  // namespace berth::ordering
