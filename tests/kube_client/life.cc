// SPDX-License-Identifier: Apache-2.0
#include "kube_client/life.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/hash.h"
#include "doubles/kube_api/server.h"
#include "doubles/virtual_time.h"
#include "kube/client/caches/cache.h"
#include "kube/client/caches/reflector.h"
#include "kube/client/writes.h"
#include "kube/objects/pod.h"

namespace berth::tests::kube_life {
namespace {

using namespace kube::client;
using kube::objects::format;
using kube::objects::Pod;
using kube::objects::Uid;
using kube_api::Event;
using kube_api::Held;
using kube_api::Object;
using std::chrono::seconds;

struct Job {
    kube::objects::Meta meta;
};
using PodCache = Cache<Pod>;
using JobCache = Cache<Job>;

void mix(std::uint64_t& hash, std::string_view text) {
    hash = base::hash(0xff, base::hash(text, hash));
}

void mix(std::uint64_t& hash, const kube::objects::Meta& meta) {
    mix(hash, format(meta.uid));
    mix(hash, meta.name);
    mix(hash, *meta.name_space);
    mix(hash, meta.version);
    for (const auto* labels : {&*meta.labels, &*meta.annotations}) {
        for (const auto& [key, value] : *labels) {
            mix(hash, *key);
            mix(hash, *value);
        }
    }
}

std::uint64_t hash_of(const PodCache& cache) {
    std::uint64_t hash = base::kHashOfNothing;
    cache.each([&](const Pod& pod) {
        mix(hash, pod.meta);
        mix(hash, *pod.node);
        mix(hash, *pod.unscheduled_reason);
        mix(hash, std::to_string(pod.ask->requests.of("nvidia.com/gpu")));
    });
    return hash;
}

std::uint64_t hash_of(const JobCache& cache) {
    std::uint64_t hash = base::kHashOfNothing;
    cache.each([&](const Job& job) { mix(hash, job.meta); });
    return hash;
}

// What a client with nothing would read now.
template <typename AnyCache>
void list_afresh(AnyCache& cache, const kube_api::Snapshot& all) {
    cache.begin_list();
    for (const Held& object : all) {
        codec::JsonReader reader(object->json);
        cache.put(reader);
    }
    cache.end_list();
}

kube_api::Faults some_faults(base::Rng& dice) {
    kube_api::Faults faults;
    for (int* fault : {&faults.refused, &faults.lost_before, &faults.lost_after, &faults.cut,
                       &faults.stalled, &faults.too_many, &faults.conflicts, &faults.broken,
                       &faults.expired, &faults.watch_expired, &faults.watch_dropped,
                       &faults.watch_silent, &faults.watch_held, &faults.watch_short}) {
        if (dice.chance(1, 3)) *fault = static_cast<int>(dice.between(10, 250));
    }
    return faults;
}

class Life {
  public:
    Life(std::uint64_t seed, Lived& lived)
        : dice_(seed),
          server_(time_, dice_.next()),
          credentials_(access_, nullptr, time_),
          requests_(access_, server_, credentials_, time_),
          pods_([this](codec::JsonReader& reader) { return read_pod(reader, pools_); }),
          jobs_([this](codec::JsonReader& reader) {
              return Job{kube::objects::read_object_meta(reader, pools_.meta)};
          }),
          pod_reflector_(requests_, time_, {"/api/v1/pods"}, pods_, dice_.next()),
          job_reflector_(requests_, time_, {"/apis/batch/v1/jobs"}, jobs_, dice_.next()),
          lived_(lived) {
        server_.latency_ms = dice_.between(0, 40);
        server_.piece_bytes = dice_.between(1, 4000);
        server_.page_most = static_cast<std::size_t>(dice_.between(3, 20));
        server_.store.on_event = [this, inner = server_.store.on_event](const Event& event) {
            if (event.object->resource == "pods") {
                changed_[event.object->uid] = {time_.now(), event.version, event.type == "DELETED"};
            }
            inner(event);
        };
    }

    std::vector<std::string> play() {
        for (auto pods = dice_.between(3, 30); pods > 0; --pods) create("pods");
        for (auto jobs = dice_.between(1, 6); jobs > 0; --jobs) create("jobs");
        server_.faults = some_faults(dice_);
        pod_reflector_.start();
        job_reflector_.start();
        for (auto second = dice_.between(60, 240); second > 0; --second) live_a_second();
        server_.faults = {};
        server_.is_down = false;
        for (int second = 0; second < 90; ++second) {
            bind_some(4);
            time_.run(seconds(1));
            check_age();
        }
        check_end();
        return found_;
    }

  private:
    struct Change {
        base::TimePoint at;
        std::uint64_t version = 0;
        bool is_removal = false;
    };

    void create(const std::string& resource) {
        server_.store.create(resource, "ml", resource + std::to_string(++created_));
    }

    Held any(const std::string& resource) {
        const auto& all = server_.store.all(resource);
        if (all.empty()) return nullptr;
        return std::next(all.begin(), dice_.between(0, std::ssize(all) - 1))->second;
    }

    void live_a_second() {
        for (auto changes = dice_.between(0, 3); changes > 0; --changes) change_something();
        if (dice_.chance(1, 20)) server_.store.compact(dice_.index(8));
        if (dice_.chance(1, 60)) server_.break_all();
        if (dice_.chance(1, 80)) server_.is_down = true;
        if (dice_.chance(1, 5)) server_.is_down = false;
        bind_some(3);
        write_something();
        time_.run(std::chrono::milliseconds(dice_.between(1, 2000)));
        check_age();
    }

    void change_something() {
        const std::string resource = dice_.chance(3, 4) ? "pods" : "jobs";
        if (dice_.chance(1, 4)) return create(resource);
        const Held object = any(resource);
        if (!object) return;
        if (dice_.chance(1, 4)) {
            server_.store.remove(object);
            // One of the same name, as a StatefulSet makes it.
            if (dice_.chance(1, 3)) server_.store.create(resource, "ml", object->name);
            return;
        }
        Object now = *object;
        now.content = static_cast<int>(dice_.between(0, 99));
        server_.store.change(now);
    }

    // The writer decides by its cache and acts on what became of it.
    void bind_some(int most) {
        std::vector<PodName> waiting;
        pods_.each([&](const Pod& pod) {
            if (!pod.node->empty() || claims_.contains(format(pod.meta.uid))) return;
            waiting.push_back({*pod.meta.name_space, pod.meta.name, format(pod.meta.uid)});
        });
        for (const PodName& pod : waiting) {
            if (most-- == 0) return;
            claims_[pod.uid] = "n" + std::to_string(dice_.between(1, 4));
            try_to_bind(pod);
        }
    }

    void try_to_bind(const PodName& pod) {
        const std::string node = claims_[pod.uid];
        requests_.send(bind(pod, node, {{"berth.dev/gpus", "GPU-" + node}}),
                       [this, pod](const Outcome& outcome) { take_bind(pod, outcome); });
    }

    void take_bind(const PodName& pod, const Outcome& outcome) {
        note(outcome);
        if (outcome.is_done()) {
            known_[pod.uid] = claims_[pod.uid];
            return;
        }
        if (outcome.kind == Outcome::Kind::NotSent) return later([this, pod] { try_to_bind(pod); });
        look(pod);
    }

    void look(const PodName& pod) {
        requests_.send(read_pod(pod), [this, pod](const Outcome& outcome) {
            switch (read_bind(outcome, pod, claims_[pod.uid])) {
                case BindFate::Bound: known_[pod.uid] = claims_[pod.uid]; return;
                case BindFate::Elsewhere:
                    found_.push_back(pod.name + " is bound elsewhere");
                    return;
                case BindFate::NotBound: return later([this, pod] { try_to_bind(pod); });
                case BindFate::Gone: gone_.insert(pod.uid); return;
                case BindFate::Unclear: return later([this, pod] { look(pod); });
            }
        });
    }

    void later(std::function<void()> call) { time_.start(seconds(1), std::move(call)); }

    void note(const Outcome& outcome) {
        if (outcome.kind == Outcome::Kind::Unknown) ++lived_.unknown;
        if (outcome.code == 409) ++lived_.conflicts;
        if (outcome.code == 429) ++lived_.too_many;
    }

    void write_something() {
        const auto noted = [this](const Outcome& outcome) { note(outcome); };
        if (dice_.chance(1, 3)) {
            const Held pod = any("pods");
            if (!pod) return;
            const PodName name{pod->name_space, pod->name, pod->uid};
            const auto way = dice_.between(0, 3);
            if (way == 0) requests_.send(remove_within_budget(name), noted);
            if (way == 1) requests_.send(remove_pod(name, "", 0), noted);
            if (way == 2) requests_.send(remove_pod(name, "17", 0), noted);
            if (way == 3) {
                requests_.send(tell_wait(name, {"Unschedulable", "full", "2026-03-01T12:00:00Z"}),
                               noted);
            }
        } else if (const Held job = any("jobs")) {
            const ObjectName name{"/apis/batch/v1/namespaces/ml/jobs/" + job->name, job->uid,
                                  std::to_string(job->version)};
            requests_.send(merge_patch(name, R"({"spec":{"suspend":true}})",
                                       {{"berth.dev/last-pause", std::to_string(created_)}}),
                           noted);
        }
    }

    // A cache that misses what is older than half a minute must say that it is stale.
    void check_age() {
        if (pod_reflector_.is_stale()) {
            if (pod_reflector_.is_synced()) ++lived_.stale_seconds;
            return;
        }
        const base::TimePoint long_ago = time_.now() - kStaleAfter - seconds(1);
        for (const auto& [uid, change] : changed_) {
            if (change.at > long_ago) continue;
            const Pod* pod = pods_.find(*kube::objects::Uid::parse(uid));
            const bool is_as_it_was =
                change.is_removal
                    ? pod == nullptr
                    : pod != nullptr && pod->meta.version == std::to_string(change.version);
            if (!is_as_it_was) {
                found_.push_back("a cache that calls itself fresh misses a change of " + uid);
            }
        }
    }

    void check_end() {
        PodCache fresh_pods([this](codec::JsonReader& reader) { return read_pod(reader, pools_); });
        JobCache fresh_jobs([this](codec::JsonReader& reader) {
            return Job{kube::objects::read_object_meta(reader, pools_.meta)};
        });
        list_afresh(fresh_pods, server_.store.snapshot("pods"));
        list_afresh(fresh_jobs, server_.store.snapshot("jobs"));
        expect(hash_of(pods_) == hash_of(fresh_pods), "the pods differ from a fresh list");
        expect(hash_of(jobs_) == hash_of(fresh_jobs), "the Jobs differ from a fresh list");
        expect(pod_reflector_.trouble().empty(), "trouble stays: " + pod_reflector_.trouble());
        for (const auto& [key, pod] : server_.store.all("pods")) {
            const auto known = known_.find(pod->uid);
            expect(!pod->node.empty(), key + " is not bound");
            expect(known != known_.end() && known->second == pod->node,
                   key + " is not where the writer says");
        }
        lived_.bound += server_.counts().bound;
        for (const Reflector* reflector : {&pod_reflector_, &job_reflector_}) {
            const Reflector::Counts& counts = reflector->counts();
            lived_.events += counts.events;
            lived_.lists += counts.lists;
            lived_.gone += counts.gone;
            lived_.silent += counts.silent;
            lived_.failures += counts.failures;
        }
    }

    void expect(bool holds, const std::string& what) {
        if (!holds) found_.push_back(what);
    }

    base::Rng dice_;
    VirtualTime time_;
    kube_api::Server server_;
    Access access_{.host = "api", .port = "443"};
    Credentials credentials_;
    Requests requests_;
    kube::objects::PodPools pools_;
    PodCache pods_;
    JobCache jobs_;
    Reflector pod_reflector_;
    Reflector job_reflector_;
    Lived& lived_;
    std::vector<std::string> found_;
    std::map<std::string, Change> changed_;      // pods, by uid
    std::map<std::string, std::string> claims_;  // by uid: the node that was decided
    std::map<std::string, std::string> known_;   // by uid: the node that it is known to be on
    std::set<std::string> gone_;
    int created_ = 0;
};

}  // namespace

std::vector<std::string> findings_of(std::uint64_t seed, Lived& lived) {
    return Life(seed, lived).play();
}

}  // namespace berth::tests::kube_life
