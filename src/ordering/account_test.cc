// SPDX-License-Identifier: Apache-2.0
//
// Does the order say of a job what it goes by, and of those that ended how right it was?
#include "ordering/account.h"

#include <doctest/doctest.h>

#include <map>

#include "ordering/ranks.h"

namespace berth::ordering {
namespace {

using model::EvidenceOf;
using model::Turn;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr ProjectId kOwn{1};
constexpr Likenesses kAlike{7, 8, 9};

// One job at a time of a project, each on one GPU.
class Bench {
  public:
    explicit Bench(model::OrderRules rules = {}) {
        set_rules(rules);
        order.may_have(kOwn, 8000, now);
    }
    void set_rules(model::OrderRules rules) {
        const RulesOfProject given{kOwn, rules};
        (void)order.set_rules({&given, 1});
        look();
    }
    JobId submit(const Likenesses& alike = kAlike) {
        job = JobSnapshot{};
        job.job = JobId{++last_};
        job.waits = true;
        job.width = 1000;
        job.submitted = job.waiting_since = job.since = job.now = now;
        order.submitted(job, kOwn, alike);
        look();
        return job.job;
    }
    void start() {
        look();
        job.waits = false, job.runs = true, job.in_use = 1000;
        order.changed(job);
        look();
    }
    // By its announced changes, each at its time.
    void pass(Duration time) {
        const TimePoint until = now + time;
        while (order.next_change(job) <= until) {
            now = std::max(now, order.next_change(job));
            job.now = now;
            order.time_came(job);
            look();
        }
        now = until;
        look();
    }
    void end() {
        look();
        order.ended(job);
    }
    void run(Duration time, const Likenesses& alike = kAlike) {
        submit(alike);
        start();
        pass(time);
        end();
    }
    Account account() const { return order.account(job); }

    Ranks order;
    JobSnapshot job;
    TimePoint now = base::at_ms(0) + hours(1000);

  private:
    void look() {
        job.now = now;
        job.counted = job.used();
        job.since = now;
        order.note_stage(job);
    }

    std::int64_t last_ = 0;
};

}  // namespace

TEST_CASE("a new job has the cost that would count, and how many jobs of its name say so") {
    Bench bench;
    for (int i = 0; i < 30; ++i) {
        bench.run(minutes(40));
        bench.run(hours(20), {70, 80, 90});
    }
    bench.submit();
    const Account account = bench.account();
    CHECK(account.by == model::JobOrder::Learned);
    CHECK(account.stage == 0);
    CHECK_FALSE(account.cost_counts);
    CHECK(account.cost > 30 * 60'000);
    CHECK(account.cost < 60 * 60'000);
    CHECK(account.evidence.from >= EvidenceOf::User);
    CHECK(account.evidence.jobs > 0);
    CHECK(account.evidence.jobs <= 30);
    CHECK(account.changes.empty());
}

TEST_CASE("evidence counts the jobs within its reach only") {
    Bench bench;
    const auto run_some = [&](int count) {
        for (int i = 0; i < count; ++i) {
            bench.run(minutes(40));
            bench.run(minutes(1), {70, 80, 90});
        }
    };
    run_some(6);
    bench.now += hours(24 * 30);
    run_some(3);
    bench.submit();
    const model::OrderEvidence evidence = bench.account().evidence;
    const bool is_near = evidence.reach > Duration{0};
    CHECK(evidence.jobs == (is_near ? 3 : 9));
}

TEST_CASE("without kin all jobs of its width are the evidence, and without any there is none") {
    Bench bench;
    bench.submit();
    CHECK(bench.account().evidence.from == EvidenceOf::None);
    bench.end();
    for (int i = 0; i < 11; ++i) bench.run(minutes(5));
    bench.submit({70, 80, 90});
    CHECK(bench.account().evidence.from >= EvidenceOf::All);
    CHECK(bench.account().evidence.from <= EvidenceOf::Width);
    CHECK(bench.account().evidence.jobs == 11);
}

TEST_CASE("the cost is that of the stage") {
    Bench bench;
    for (int i = 0; i < 12; ++i) bench.run(minutes(40));
    bench.submit();
    bench.start();
    bench.pass(minutes(2));
    const Account account = bench.account();
    REQUIRE(account.cost_counts);
    // Stage n begins at 10 GPU-minutes times the root of 2 to the (n - 1).
    int stage = 0;
    for (double begin = 600'000; begin <= static_cast<double>(account.cost); begin *= 1.4142)
        ++stage;
    CHECK(account.stage == stage);
    CHECK(bench.order.brief_account(bench.job).cost == account.cost);
}

TEST_CASE("the last five changes of stage are listed, the oldest first") {
    Bench bench({.by = model::JobOrder::ByLevels});
    bench.submit();
    bench.start();
    bench.pass(hours(24 * 60));
    const Account account = bench.account();
    CHECK(account.stage == 5);
    REQUIRE(account.changes.size() == 5);
    for (int at = 0; at < 5; ++at) {
        CHECK(account.changes[static_cast<std::size_t>(at)].stage == at + 1);
    }
    CHECK(account.changes[1].time - account.changes[0].time == minutes(70));
    CHECK(account.cost == 0);

    Story story;
    for (int stage : {1, 1, 2, 3, 4, 5, 0}) story.note_stage({}, stage);
    REQUIRE(story.changes().size() == 5);
    CHECK(story.changes().front().stage == 2);
    CHECK(story.changes().back().stage == 0);
}

TEST_CASE("changes of stage are those of the order that holds") {
    Bench bench({.by = model::JobOrder::ByLevels});
    bench.submit();
    bench.start();
    bench.pass(hours(2));
    CHECK(bench.account().changes.size() == 2);
    bench.set_rules({.by = model::JobOrder::ByLevels, .patience = 60});
    CHECK(bench.account().changes.size() == 2);
    bench.set_rules({.by = model::JobOrder::Learned});
    bench.set_rules({.by = model::JobOrder::ByLevels});
    REQUIRE(bench.account().changes.size() == 1);
    CHECK(bench.account().changes[0].time == bench.now);
    CHECK(bench.account().changes[0].stage == bench.account().stage);
}

TEST_CASE("by age there is no stage, no cost and no bound") {
    Bench bench({.by = model::JobOrder::Age});
    bench.submit();
    const Account account = bench.account();
    CHECK(account.by == model::JobOrder::Age);
    CHECK(account.stage == 0);
    CHECK(account.cost == 0);
    CHECK(account.due == kNever);
}

TEST_CASE("a job is due by its wait when the account says") {
    Bench bench({.patience = 60, .fair = 0});
    bench.submit();
    const TimePoint due = bench.account().due;
    CHECK(due == bench.now + minutes(600));
    bench.pass(due - bench.now - Duration{1});
    CHECK(bench.account().turn == Turn::NotDue);
    bench.pass(Duration{1});
    CHECK(bench.account().turn == Turn::Granted);
    CHECK(bench.account().due == kNever);
}

TEST_CASE("estimate and use of the last hundred ended jobs give median and p90") {
    Proofs proofs;
    CHECK_FALSE(proofs.accuracy().has_value());
    for (int i = 0; i < 50; ++i) proofs.add({1, 1000});
    for (int i = 1; i <= 100; ++i) proofs.add({i * 10, 100});
    const auto accuracy = proofs.accuracy();
    CHECK(accuracy->jobs == 100);
    CHECK(accuracy->median_thousandths == 5000);
    CHECK(accuracy->p90_thousandths == 9000);
}

TEST_CASE("the estimate of the first step is compared with what the job took") {
    Bench bench;
    for (int i = 0; i < 40; ++i) bench.run(minutes(40));
    const auto accuracy = bench.order.accuracy(kOwn);
    REQUIRE(accuracy.has_value());
    CHECK(accuracy->jobs == 40);
    CHECK(accuracy->median_thousandths > 800);
    CHECK(accuracy->median_thousandths < 1300);
    CHECK_FALSE(bench.order.accuracy(ProjectId{9}).has_value());
    // One that has not passed the first step has no estimate.
    bench.run(seconds(30));
    CHECK(bench.order.accuracy(kOwn)->jobs == 40);
}

TEST_CASE("the estimate survives a restart") {
    Bench bench;
    for (int i = 0; i < 14; ++i) bench.run(minutes(40));
    const JobId id = bench.submit();
    bench.start();
    bench.pass(minutes(30));
    const Account before = bench.account();
    const model::OrderLedger ledger = bench.order.save({"", "p"});

    Bench other;
    other.now = bench.now;
    other.job = bench.job;
    other.order.submitted(other.job, kOwn, kAlike);
    REQUIRE(other.job.job == id);
    REQUIRE(other.order.restore(ledger, {"", "p"}));
    const Account after = other.order.account(bench.job);
    CHECK(after.cost == before.cost);
    CHECK(after.stage == before.stage);
    CHECK(after.evidence == before.evidence);
    CHECK(after.changes == before.changes);
    CHECK(other.order.accuracy(kOwn) == bench.order.accuracy(kOwn));
}

}  // namespace berth::ordering
