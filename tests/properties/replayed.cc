// SPDX-License-Identifier: Apache-2.0
//
// Do ranks follow from the log, time and the settings alone (cluster/jobs/ranks.h)?
//   replayed [--first SEED] [--seeds N]
// A random log (random_log.h) is read three times: by the server that writes it and decides now and
// then; by one that only folds its text; and by one that wakes and decides at other times and is
// restarted from the text of a snapshot, at any event. After each event all jobs have the same
// ranks, and the same next times at which these may change; at the end all three have learned the
// same, word for word.
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/log/event_log.h"
#include "lifecycle/invariants.h"
#include "random_log.h"
#include "scheduling/decide.h"
#include "seeds.h"

namespace {

using namespace berth;

constexpr int kSteps = 80;
constexpr std::uint64_t kSeedsThatMeetAll = 500;

// Only folds what was written.
class Sleeper {
  public:
    void read(const model::Event& event) {
        std::string text;
        codec::append_event(text, event);
        lifecycle::apply(state, *codec::parse_event(text));
    }

    lifecycle::State state;
};

// Looks when nothing happened, and is killed.
class Restless {
  public:
    explicit Restless(std::uint64_t seed) : rng_(seed) {}

    void read(const model::Event& event) {
        if (state.sequence > 0) look_before(event.time);
        lifecycle::apply(state, event);
        if (rng_.chance(1, 8)) restart();
    }

    lifecycle::State state;
    int restarted = 0;
    int restarted_amid_restarts = 0;  // of a job

  private:
    void look_before(model::TimePoint end) {
        for (std::int64_t looks = rng_.between(0, 2); looks > 0; --looks) {
            const model::TimePoint from = std::max(state.time, state.cluster.ranks().now);
            const model::TimePoint now =
                from +
                model::Duration{rng_.between(0, std::max<std::int64_t>((end - from).count(), 0))};
            if (rng_.chance(1, 4)) {
                (void)scheduling::decide(state.cluster, proof::policy_of(state), now);
            } else {
                cluster::keep_ranks(state.cluster, now);
            }
        }
    }

    void restart() {
        for (const auto& [id, job] : state.cluster.jobs()) {
            const bool restarts = !job.placed.empty() && job.last_pause != model::TimePoint{} &&
                                  job.last_start > job.last_pause &&
                                  state.time < job.last_start + job.restart_cost;
            if (restarts) ++restarted_amid_restarts;
        }
        std::string text;
        codec::append_snapshot(text, lifecycle::snapshot(state));
        state = lifecycle::restore(*codec::parse_snapshot(text));
        ++restarted;
    }

    base::Rng rng_;
};

std::string described(const lifecycle::State& state, model::JobId id) {
    const cluster::Job* job = state.cluster.find_job(id);
    if (job == nullptr) return "no such job";
    const auto change = job->attained.change;
    return "rank " + std::to_string(job->rank.value) + " until " +
           (change == model::TimePoint::max() ? "for ever" : std::to_string(base::to_ms(change)));
}

// What of the one is not so in the other.
std::vector<std::string> difference(const lifecycle::State& one, const lifecycle::State& other,
                                    const std::string& who) {
    std::vector<std::string> found;
    for (const auto& [id, job] : one.cluster.jobs()) {
        const cluster::Job* same = other.cluster.find_job(id);
        if (same != nullptr && same->rank == job.rank &&
            same->attained.change == job.attained.change) {
            continue;
        }
        found.push_back("event " + std::to_string(one.sequence) + ", job " +
                        std::to_string(id.value) + ": " + described(one, id) + "; " + who +
                        " has " + described(other, id));
    }
    return found;
}

std::string learned(const lifecycle::State& state) {
    return codec::order_text(cluster::order_ledger(state.cluster));
}

// What the lives had in them: a property of what never happens says nothing.
class Met {
  public:
    Met() {
        for (const char* what : {"own rules",
                                 "own last stage",
                                 "attempt_lost",
                                 "cancel_requested",
                                 "ended while waiting",
                                 "job_measured",
                                 "job_parked",
                                 "job_resized",
                                 "job_starting",
                                 "job_woken",
                                 "pause_requested",
                                 "policy_set",
                                 "project_set",
                                 "by age at the tail",
                                 "grants by waits",
                                 "grants by fair ends",
                                 "ranks by kin",
                                 "changes of stage noted",
                                 "estimated and ended",
                                 "restarts",
                                 "restarts amid a job's restart"}) {
            counts_[what] = 0;
        }
    }

    void add(const std::string& what, std::int64_t count = 1) { counts_[what] += count; }

    // In a state as it was before.
    void add(const lifecycle::State& state, const model::Event& event) {
        add(std::string(codec::event_type(event.body)));
        const auto* finished = std::get_if<model::JobFinished>(&event.body);
        if (finished != nullptr && state.jobs.at(finished->job).tasks.empty()) {
            add("ended while waiting");
        }
    }

    // Once for each life.
    void add_ledger(const model::OrderLedger& ledger) {
        for (const model::CrowdLedger& one : ledger.projects) {
            add("grants by waits", one.waits.grants);
            add("grants by fair ends", one.fair.grants);
            add("own rules", one.rules ? 1 : 0);
            add("own last stage", one.last_stage ? 1 : 0);
            add("estimated and ended", std::ssize(one.estimate));
        }
        for (const model::RankLedger& one : ledger.jobs) {
            if (!one.courses.empty()) add("ranks by kin");
            add("changes of stage noted", std::ssize(one.stages));
            if (ledger.rules.tail > 0 && one.stage >= ledger.last_stage) add("by age at the tail");
        }
    }

    std::vector<std::string> missing() const {
        std::vector<std::string> none;
        for (const auto& [what, count] : counts_) {
            if (count == 0) none.push_back(what);
        }
        return none;
    }
    void tell() const {
        const char* before = "met: ";
        for (const auto& [what, count] : counts_) {
            std::cerr << std::exchange(before, ", ") << what << ' ' << count;
        }
        std::cerr << '\n';
    }

  private:
    std::map<std::string, std::int64_t> counts_;
};

std::vector<std::string> live(std::uint64_t seed, Met& met) {
    std::vector<std::string> found;
    Sleeper sleeper;
    Restless restless(seed + 1);
    const lifecycle::State* writer = nullptr;
    const auto read = [&](const model::Event& event) {
        met.add(sleeper.state, event);
        sleeper.read(event);
        restless.read(event);
        if (!found.empty()) return;
        found = difference(*writer, sleeper.state, "who only folds");
        if (found.empty()) found = difference(*writer, restless.state, "who was restarted");
        if (found.empty()) found = lifecycle::violations(restless.state.cluster);
    };
    proof::RandomLog log(seed, read);
    writer = &log.state();
    for (int step = 0; step < kSteps && found.empty(); ++step) log.go_on();
    if (!found.empty()) return found;
    // The writer may have looked since.
    const model::TimePoint now = log.state().cluster.ranks().now;
    cluster::keep_ranks(sleeper.state.cluster, now);
    cluster::keep_ranks(restless.state.cluster, now);
    const std::string wanted = learned(log.state());
    if (learned(sleeper.state) != wanted) found.push_back("who only folds has learned otherwise");
    if (learned(restless.state) != wanted)
        found.push_back("who was restarted has learned otherwise");
    met.add_ledger(cluster::order_ledger(log.state().cluster));
    met.add("restarts", restless.restarted);
    met.add("restarts amid a job's restart", restless.restarted_amid_restarts);
    return found;
}

}  // namespace

int main(int argc, char** argv) {
    Met met;
    std::uint64_t seeds = 0;
    bool holds = proof::holds_for_seeds(argc, argv, [&](std::uint64_t seed) {
        ++seeds;
        return live(seed, met);
    });
    met.tell();
    if (seeds < kSeedsThatMeetAll) return holds ? 0 : 1;
    for (const std::string& what : met.missing()) {
        std::cout << "never met: " << what << '\n';
        holds = false;
    }
    return holds ? 0 : 1;
}
