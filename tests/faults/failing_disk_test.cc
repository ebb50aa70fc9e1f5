// SPDX-License-Identifier: Apache-2.0
//
// Is anything lost, or run twice, when the disk of the log fails? Clients hand in jobs, pause,
// resume and cancel them; jobs end. The day is lived once for each call by which the store changes
// its disk: that call fails, or fills the disk up, or is the last one before a power cut. A server
// whose log failed is followed by the next one; the jobs run on.
#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

#include "adapters/sqlite/sqlite_store.h"
#include "contract/temporary_directory.h"
#include "control/controller.h"
#include "doubles/fault_disk.h"
#include "doubles/hand_clock.h"
#include "faults/machine.h"

using namespace berth;
using base::ErrorCode;
using model::JobId;
using model::JobState;
using tests::DiskFault;

namespace {

constexpr int kJobs = 8;

class Day {
  public:
    Day(std::uint64_t seed, std::int64_t call, DiskFault fault) : disk_(seed), fault_(fault) {
        disk_.fail_at(call, fault);
    }

    void live() {
        start();
        for (int i = 0; i < kJobs; ++i) {
            const JobId job = submit(i);
            CHECK(submit(i) == job);
            if (i % 4 == 1) {
                ask([&](auto done) { controller_->pause(job, "susan", {}, done); });
                ask([&](auto done) { controller_->resume(job, "susan", done); });
            }
            if (i % 4 == 2) ask([&](auto done) { controller_->cancel(job, "susan", {}, done); });
            if (i % 4 != 2) end(job, i);
        }
        start();
        settle();
        check();
    }

    std::int64_t calls() const { return disk_.calls(); }

  private:
    // A server, or the next one, as the machine makes it known what it has.
    void start() {
        while (!try_to_start()) {
        }
    }

    bool try_to_start() {
        controller_.reset();
        connection_.reset();
        store_.reset();
        REQUIRE(++starts_ < 10);
        if (disk_.has_failed() && fault_ != DiskFault::Full) disk_.cut_power();
        auto opened = adapters::sqlite::open_store(directory_.path());
        if (!opened) return expect_a_reason(opened.error());
        store_ = std::move(*opened);
        connection_.emplace(machine_);
        control::Settings settings;
        settings.policy = model::berth_policy();
        settings.snapshot_events = 7;
        controller_.emplace(std::move(settings), control::Ports{clock_, *store_, *connection_});
        if (const base::Status recovered = controller_->recover(); !recovered) {
            return expect_a_reason(recovered.error());
        }
        model::Node node;
        node.name = "n1";
        node.gpus = 8;
        model::Project project;
        project.name = "a";
        project.rights.quota = base::gpus(8);
        controller_->set_node(node, "machine", [](const base::Status&) {});
        controller_->set_project(project, "machine", [](const base::Status&) {});
        controller_->step();
        return !controller_->has_failed();
    }

    bool expect_a_reason(const base::Error& error) {
        CAPTURE(error.message);
        CHECK(disk_.has_failed());
        if (disk_.is_full()) disk_.make_room();
        return false;
    }

    // One turn of the loop; a server that failed is followed by the next one.
    void step() {
        clock_.advance(control::kRoomLook);
        controller_->step();
        if (!controller_->has_failed()) return;
        CHECK(disk_.has_failed());
        start();
    }

    // Until nothing is left to be reported. A full disk has room after a while.
    void settle() {
        int rounds = 0;
        do {
            REQUIRE(++rounds < 100);
            step();
            if (rounds == 4) disk_.make_room();
        } while (connection_->tell() || disk_.is_full() || controller_->shortage());
        step();
    }

    // The answer; the question is asked again while it is not known, or cannot be done yet.
    base::Status ask(const std::function<void(control::Done)>& command) {
        for (int tries = 0;; ++tries) {
            REQUIRE(tries < 20);
            std::optional<base::Status> answer;
            command([&](const base::Status& status) { answer = status; });
            settle();
            if (answer && (*answer || !may_be_asked_again(answer->error()))) return *answer;
        }
    }

    JobId submit(int number) {
        model::Submission submission;
        submission.spec.project = "a";
        submission.spec.request.gpus = 1;
        submission.spec.name = "job" + std::to_string(number);
        submission.launch.command = {std::string(1500, 'x')};
        submission.launch.workdir = "/";
        submission.launch.user = "susan";
        submission.key = "key " + std::to_string(number);
        for (int tries = 0;; ++tries) {
            REQUIRE(tries < 20);
            std::optional<tl::expected<JobId, control::Refusal>> answer;
            controller_->submit(submission, [&](const auto& outcome) { answer = outcome; });
            settle();
            if (answer && *answer) return jobs_[number] = **answer;
            if (answer) REQUIRE(may_be_asked_again(answer->error().error));
        }
    }

    bool may_be_asked_again(const base::Error& error) {
        CAPTURE(error.message);
        if (error.code != ErrorCode::Unavailable && error.code != ErrorCode::Exhausted)
            return false;
        CHECK(disk_.has_failed());
        return true;
    }

    void end(JobId job, int exit_code) {
        REQUIRE(machine_.end(job, exit_code));
        settle();
    }

    void check() {
        CHECK(controller_->state().jobs.empty());
        CHECK(jobs_.size() == kJobs);
        for (const auto& [number, job] : jobs_) {
            CAPTURE(number);
            const auto record = store_->finished_job(job);
            REQUIRE(record.has_value());
            CHECK(record->spec.name == "job" + std::to_string(number));
            const bool is_cancelled = number % 4 == 2;
            CHECK(machine_.is_done(job) != is_cancelled);
            CHECK((record->state == JobState::Cancelled) == is_cancelled);
            CHECK(record->exit_code == (is_cancelled ? 0 : number));
        }
        // No job beside those that were asked for.
        CHECK(store_->finished_jobs({})->size() == kJobs);
        CHECK(controller_->state().last_job == JobId{kJobs});
    }

    const tests::TemporaryDirectory directory_;
    tests::FaultDisk disk_;
    DiskFault fault_;
    tests::HandClock clock_;
    tests::Machine machine_;
    std::unique_ptr<ports::Store> store_;
    std::optional<tests::Machine::Connection> connection_;
    std::optional<control::Controller> controller_;
    std::map<int, JobId> jobs_;
    int starts_ = 0;
};

void live_with(DiskFault fault) {
    Day quiet(1, 0, fault);
    quiet.live();
    REQUIRE(quiet.calls() > 100);
    for (std::int64_t call = 1; call <= quiet.calls(); ++call) {
        CAPTURE(call);
        Day(static_cast<std::uint64_t>(call), call, fault).live();
    }
}

}  // namespace

TEST_CASE("whichever call of the store fails, no job is lost or run twice") {
    live_with(DiskFault::Error);
}

TEST_CASE("whichever call of the store fills the disk, no job is lost or run twice") {
    live_with(DiskFault::Full);
}

TEST_CASE("whichever call of the store the power is cut in, no job is lost or run twice") {
    live_with(DiskFault::Crash);
}
