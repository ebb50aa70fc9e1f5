// SPDX-License-Identifier: Apache-2.0
//
// I13: does every gang run, however many small jobs come?
//   starvation [--seeds N]
// A cluster of a few nodes lives through an endless stream of small jobs: whenever one ends, new
// ones are there, of the gang's own project or of another one, declared or not; a third project may
// borrow unused GPUs. A gang that needs a whole node, or several GPUs of all, is submitted. In
// profile berth it runs to its end within a bound: the time until it books, every job that can be
// in its way once, and its own. In profile classic it need not; the test says how often it did not,
// so that the stream is known to be one that starves.
#include <algorithm>
#include <charconv>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "base/rng.h"
#include "lifecycle/plan_events.h"
#include "scheduling/decide.h"

namespace {

using namespace berth;

constexpr std::int64_t kMinute = 60'000;

class Life {
  public:
    Life(std::uint64_t seed, const model::Policy& policy) : rng_(seed), policy_(policy) {
        nodes_ = static_cast<int>(rng_.between(1, 3));
        gpus_ = static_cast<int>(rng_.between(nodes_ == 1 ? 4 : 2, 8));
        for (int i = 0; i < nodes_; ++i) {
            model::Node node;
            node.name = "n" + std::to_string(i);
            node.gpus = gpus_;
            happen(model::NodeSet{node});
        }
        for (const char* name : {"a", "b"}) {
            model::Project project;
            project.name = name;
            project.rights.quota = base::gpus(nodes_ * gpus_ / 2);
            happen(model::ProjectSet{project});
        }
        has_other_project_ = rng_.chance(1, 2);
        longest_ = rng_.between(5, 90) * kMinute;
        has_borrower_ = rng_.chance(1, 2);
        if (!has_borrower_) return;
        model::Project borrower;
        borrower.name = "c";
        borrower.rights.quota = base::MilliGpu{0};
        happen(model::ProjectSet{borrower});
    }

    // Minutes until the gang had ended; -1 = it did not within the bound.
    std::int64_t run() {
        for (int i = 0; i < 2 * nodes_ * gpus_; ++i) submit_small();
        for (int i = 0; has_borrower_ && i < nodes_ * gpus_; ++i) submit_borrowing();
        decide();
        pass(longest_ / 2);
        const model::JobId gang = submit_gang();
        const model::TimePoint submitted = now_;
        // Jobs in its way end one after the other at worst, and each lets in what ends before.
        const std::int64_t bound = 10 * kMinute + 21 * longest_;
        while (now_ - submitted < model::Duration{bound}) {
            decide();
            pass(kMinute / 2);
            if (state_.jobs.get(gang) == nullptr) return (now_ - submitted).count() / kMinute;
        }
        return -1;
    }

  private:
    void happen(model::EventBody body) {
        lifecycle::apply(state_, {state_.sequence + 1, now_, "proof", std::move(body)});
    }

    model::JobSpec spec(const std::string& project) {
        model::JobSpec spec;
        spec.name = "j";
        spec.project = project;
        return spec;
    }

    model::JobId submit(const model::JobSpec& spec, std::int64_t work) {
        const model::JobId id{state_.last_job.value + 1};
        happen(model::JobSubmitted{id, spec, {}, {}});
        work_[id] = work;
        return id;
    }

    void submit_small() {
        model::JobSpec small = spec(has_other_project_ && rng_.chance(1, 2) ? "b" : "a");
        small.preemptible = false;  // so that only an end makes room
        small.priority = 50;
        const std::int64_t work = rng_.between(kMinute, longest_);
        if (rng_.chance(1, 2))
            small.expected_runtime = model::Duration{work + rng_.between(0, work)};
        submit(small, work);
    }

    // It runs for as long as it may.
    void submit_borrowing() { submit(spec("c"), 1000 * longest_); }

    model::JobId submit_gang() {
        model::JobSpec gang = spec("a");
        // Who shares the cluster can count on its share of it, not on more; nor on a whole node
        // where others borrow: what is taken back from them there is not kept for the gang.
        const bool is_alone = !has_other_project_ && !has_borrower_;
        const int most = is_alone ? nodes_ * gpus_ : nodes_ * gpus_ / 2;
        const bool may_ask_nodes = gpus_ <= most && !has_borrower_;
        gang.request.gpus = rng_.chance(1, 2) && may_ask_nodes ? gpus_ : 1;
        if (gang.request.gpus == 1) gang.tasks_min = gang.tasks_max = most;
        return submit(gang, longest_);
    }

    void decide() {
        const model::Plan plan = scheduling::decide(state_.cluster, policy_, now_);
        for (auto& event : lifecycle::events_of(state_, plan, policy_, now_)) happen(event);
        for (const auto& pause : plan.pauses) {
            if (state_.jobs.at(pause.job).state != model::JobState::Pausing) continue;
            happen(model::JobPaused{pause.job, true});
            ends_.erase(pause.job);
        }
        for (const auto& start : plan.starts) {
            if (state_.jobs.at(start.job).state != model::JobState::Starting) continue;
            happen(model::JobRunning{start.job});
            ends_[start.job] = now_ + model::Duration{work_.at(start.job)};
        }
    }

    // Time passes; who has done its work ends, and two come for each.
    void pass(std::int64_t ms) {
        now_ += model::Duration{ms};
        std::erase_if(ends_, [&](const auto& end) {
            if (end.second > now_) return false;
            happen(model::JobFinished{end.first, model::JobState::Succeeded, 0, {}});
            submit_small();
            if (state_.jobs.size() < 100) submit_small();
            return true;
        });
    }

    base::Rng rng_;
    model::Policy policy_;
    lifecycle::State state_;
    model::TimePoint now_ = base::at_ms(12 * 60 * kMinute);
    int nodes_ = 0;
    int gpus_ = 0;
    bool has_other_project_ = false;
    bool has_borrower_ = false;
    std::int64_t longest_ = 0;
    std::map<model::JobId, std::int64_t> work_;
    std::map<model::JobId, model::TimePoint> ends_;
};

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seeds = 200;
    if (argc == 3 && std::string_view(argv[1]) == "--seeds") {
        const std::string_view text = argv[2];
        std::from_chars(text.data(), text.data() + text.size(), seeds);
    }
    std::uint64_t starved = 0;
    std::uint64_t starved_in_classic = 0;
    std::int64_t longest = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const std::int64_t waited = Life(seed, model::berth_policy()).run();
        longest = std::max(longest, waited);
        if (waited < 0) std::cout << "I13: the gang of seed " << seed << " starves\n";
        starved += waited < 0 ? 1 : 0;
        starved_in_classic += Life(seed, model::classic_policy()).run() < 0 ? 1 : 0;
    }
    std::cout << seeds << " streams, " << starved << " gangs starved; " << starved_in_classic
              << " in profile classic; the longest wait was " << longest << " minutes\n";
    return starved == 0 && starved_in_classic > 0 ? 0 : 1;
}
