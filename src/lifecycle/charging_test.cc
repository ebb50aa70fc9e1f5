// SPDX-License-Identifier: Apache-2.0
#include "lifecycle/charging.h"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace berth;
using model::JobId;

namespace {

constexpr std::int64_t kAnHour = 3600 * 1000;
constexpr std::int64_t kMilliGpuHour = kAnHour * 1000;
constexpr std::int64_t kMidnight = 20'000 * 24 * kAnHour;  // of some day

// One node of four GPUs, and another one where it is asked for; an hour is the unit of everything.
class Charged {
  public:
    explicit Charged(int nodes = 1) {
        for (int i = 0; i < nodes; ++i) set_node(i, model::NodeHealth::Ready);
        model::Project project;
        project.name = "vision";
        project.rights.quota = base::gpus(8);
        happen(model::ProjectSet{project});
    }

    void set_node(int number, model::NodeHealth health) {
        model::Node node;
        node.name = "n" + std::to_string(number);
        node.gpus = 4;
        node.gpu_model = "H100";
        node.health = health;
        happen(model::NodeSet{node});
    }
    JobId submit(int gpus) {
        model::JobSpec spec;
        spec.name = "job";
        spec.project = "vision";
        spec.request.gpus = gpus;
        spec.park_after = base::Duration{kAnHour};
        const JobId id{state.last_job.value + 1};
        happen(model::JobSubmitted{id, spec, "ann", "python train.py"});
        return id;
    }
    void start(JobId id, unsigned gpu_mask, int attempt = 1, int milli = 1000) {
        model::TaskPlacement task;
        task.node = {0};
        task.gpu_mask = gpu_mask;
        task.share = {milli};
        happen(model::JobStarting{id, attempt, model::Rule::Allocate, {task}});
    }
    JobId run(unsigned gpu_mask, int gpus) {
        const JobId id = submit(gpus);
        start(id, gpu_mask);
        happen(model::JobRunning{id});
        return id;
    }
    void ask_to_leave(JobId id, std::int64_t unsaved_gpu_hours) {
        model::PauseRequested request;
        request.job = id;
        request.cost.unsaved_gpu_ms = unsaved_gpu_hours * kAnHour;
        happen(request);
    }
    void pass(std::int64_t hours) { now_ += hours * kAnHour; }
    std::optional<model::JobRecord> happen(model::EventBody body) {
        return lifecycle::apply(state,
                                {state.sequence + 1, base::at_ms(now_), "test", std::move(body)});
    }

    // GPU hours by use, without those that are none.
    std::map<std::string, std::int64_t> hours() {
        return hours_of([](const auto&) { return true; });
    }
    std::map<std::string, std::int64_t> hours_of_day(std::int64_t day) {
        return hours_of([&](const model::LedgerRow& row) { return row.day == day; });
    }

    lifecycle::State state;

  private:
    template <typename Which>
    std::map<std::string, std::int64_t> hours_of(Which&& which) {
        happen(model::PolicySet{});  // so that the ledger knows how late it is
        model::GpuTimes sum;
        for (const model::LedgerRow& row : state.ledger.book().rows) {
            if (which(row)) sum += row.times;
        }
        std::map<std::string, std::int64_t> hours;
        for (const model::GpuUse use : model::kGpuUses) {
            CHECK(sum[use] % kMilliGpuHour == 0);
            const std::string name(model::kGpuUseNames[static_cast<std::size_t>(use)]);
            if (sum[use] != 0) hours[name] = sum[use] / kMilliGpuHour;
        }
        return hours;
    }

    std::int64_t now_ = kMidnight;
};

using Hours = std::map<std::string, std::int64_t>;

}  // namespace

TEST_CASE("each GPU is in one use at a time, from free to free again") {
    Charged life;
    life.pass(1);
    const JobId job = life.submit(2);
    life.start(job, 0b11);
    life.pass(1);
    life.happen(model::JobRunning{job});
    life.pass(1);
    life.ask_to_leave(job, 0);
    life.pass(1);
    life.happen(model::JobPaused{.job = job, .saved = true});
    life.happen(model::JobHeld{job});
    life.pass(1);
    CHECK(life.hours() ==
          Hours{{"free", 4 + 2 + 2 + 2 + 4}, {"starting", 2}, {"not_measured", 2}, {"leaving", 2}});
}

TEST_CASE("a day ends at midnight, UTC, in the middle of whatever runs") {
    Charged life;
    life.pass(23);
    life.run(0b1, 1);
    life.pass(2);
    CHECK(life.hours_of_day(20'000) == Hours{{"free", 23 * 4 + 3}, {"not_measured", 1}});
    CHECK(life.hours_of_day(20'001) == Hours{{"free", 3}, {"not_measured", 1}});
}

TEST_CASE("what a pause threw away moves to lost, on the days when it was work") {
    Charged life;
    life.pass(20);
    const JobId job = life.run(0b1111, 4);
    life.pass(1);
    life.happen(model::CheckpointSaved{job});
    life.pass(5);
    life.ask_to_leave(job, 4 * 5);
    life.happen(model::JobPaused{.job = job, .saved = false});
    CHECK(life.hours_of_day(20'000) ==
          Hours{{"free", 80}, {"not_measured", 4}, {"lost_to_pause", 12}});
    CHECK(life.hours_of_day(20'001) == Hours{{"lost_to_pause", 8}});
}

TEST_CASE("a pause that saves loses nothing, and a later failure only what came after it") {
    Charged life;
    const JobId job = life.run(0b1111, 4);
    life.pass(1);
    life.ask_to_leave(job, 4);
    life.happen(model::JobPaused{.job = job, .saved = true});
    life.start(job, 0b1111, 2);
    life.happen(model::JobRunning{job});
    life.pass(2);
    life.happen(model::AttemptLost{job, "its node is gone"});
    CHECK(life.hours() == Hours{{"not_measured", 4}, {"lost_to_failure", 8}});
}

TEST_CASE("a job that fails has lost what it has not saved; one that is cancelled, nothing") {
    Charged life;
    const JobId failed = life.run(0b11, 2);
    const JobId cancelled = life.run(0b1100, 2);
    life.pass(1);
    life.happen(model::CheckpointSaved{failed});
    life.pass(2);
    const auto record = life.happen(
        model::JobFinished{.job = failed, .state = model::JobState::Failed, .detail = {}});
    life.happen(
        model::JobFinished{.job = cancelled, .state = model::JobState::Cancelled, .detail = {}});
    CHECK(life.hours() == Hours{{"not_measured", 2 + 6}, {"lost_to_failure", 4}});
    CHECK(record->milli_gpu_ms.lost_to_failure == 4 * kMilliGpuHour);
    CHECK(record->milli_gpu_ms.sum() == 6 * kMilliGpuHour);
}

TEST_CASE("a session that is parked was idle for as long as that takes, and has no GPU then") {
    Charged life;
    const JobId job = life.run(0b1, 1);
    life.pass(3);
    life.happen(model::JobParked{job, {}});
    life.pass(1);
    CHECK(life.hours() == Hours{{"free", 3 * 3 + 4}, {"not_measured", 2}, {"allocated_idle", 1}});
}

TEST_CASE("a measurement says how much of the attempt's time was work, saved or not") {
    Charged life;
    const JobId job = life.run(0b1, 1);
    life.pass(2);
    life.happen(model::CheckpointSaved{job});
    life.pass(2);
    model::GpuProfile profile;
    profile.compute = base::MilliGpu{250};
    life.happen(model::JobMeasured{job, profile});
    CHECK(life.hours() == Hours{{"free", 12}, {"busy", 1}, {"allocated_idle", 3}});
    // Work is what is lost, not that the GPU was idle.
    life.happen(model::AttemptLost{job, "its node is gone"});
    CHECK(life.state.ledger.times(job, life.state.time)[model::GpuUse::LostToFailure] ==
          kMilliGpuHour / 2);
}

TEST_CASE("free GPUs beside a job that waits are too few for it, kept from it, or reserved") {
    Charged life;
    life.run(0b11, 2);
    const JobId large = life.submit(3);
    life.pass(1);
    CHECK(life.hours() == Hours{{"not_measured", 2}, {"blocked_by_room", 2}});
    const JobId small = life.submit(1);  // it would fit
    life.pass(1);
    CHECK(life.hours() ==
          Hours{{"not_measured", 4}, {"blocked_by_room", 2}, {"blocked_by_rules", 2}});
    life.happen(model::JobHeld{small});
    life.happen(model::JobHeld{large});
    life.pass(1);
    CHECK(life.hours().at("free") == 2);
}

TEST_CASE("beside a job that its limit keeps waiting, free GPUs are not too few but kept from it") {
    Charged life;
    const auto limit = [&](int gpus) {
        model::Project project;
        project.name = "vision";
        project.rights.limit = base::gpus(gpus);
        life.happen(model::ProjectSet{project});
    };
    limit(3);
    life.run(0b11, 2);
    life.submit(3);
    life.pass(1);
    CHECK(life.hours() == Hours{{"not_measured", 2}, {"blocked_by_rules", 2}});
    limit(5);
    life.pass(1);
    CHECK(life.hours() ==
          Hours{{"not_measured", 4}, {"blocked_by_rules", 2}, {"blocked_by_room", 2}});
}

TEST_CASE("GPUs that are reserved are free, and those that are still being left are not yet") {
    Charged life;
    const JobId leaves = life.run(0b11, 2);
    const JobId waits = life.submit(3);
    life.ask_to_leave(leaves, 0);
    model::TaskPlacement task;
    task.node = {0};
    task.gpu_mask = 0b111;
    task.share = base::kWholeGpu;
    life.happen(model::JobReserved{waits, model::Rule::Reclaim, {}, {task}});
    life.pass(1);
    CHECK(life.hours() == Hours{{"leaving", 2}, {"reserved", 1}, {"free", 1}});
}

TEST_CASE("a node that is not ready is unhealthy where no job has it; others have their own") {
    Charged life(2);
    life.run(0b1, 1);
    life.set_node(0, model::NodeHealth::Drained);
    life.happen(model::NodeUsedByOthers{.node = "n1", .use = {.gpus = 3}});
    life.pass(1);
    CHECK(life.hours() == Hours{{"not_measured", 1}, {"unhealthy", 3}, {"others", 3}, {"free", 1}});
}

TEST_CASE("a job that ended while no server was there had its GPUs idle until that was known") {
    Charged life;
    const JobId job = life.run(0b1, 1);
    life.pass(3);
    const auto record = life.happen(
        model::JobFinished{.job = job, .detail = {}, .ended = base::at_ms(kMidnight + kAnHour)});
    CHECK(life.hours() == Hours{{"free", 9}, {"not_measured", 1}, {"allocated_idle", 2}});
    CHECK(record->attained_gpu_ms == kAnHour);
}

TEST_CASE("days are forgotten after a year and a month, those that are kept are whole") {
    Charged life;
    life.run(0b1, 1);
    life.pass(24 * (ledger::kDaysKept + 100));
    CHECK(life.hours_of_day(20'000) == Hours{});
    CHECK(life.hours_of_day(20'000 + 101) == Hours{{"free", 72}, {"not_measured", 24}});
}
