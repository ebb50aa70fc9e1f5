// SPDX-License-Identifier: Apache-2.0
//
// Does a real API server answer as the one of the tests does?
//   kube_client_real       against the cluster that BERTH_TEST_KUBECONFIG names; skipped without it
// It makes a namespace of its own and leaves it to be deleted.
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "codec/text/json.h"
#include "doubles/steady_clock.h"
#include "kube/client/caches/cache.h"
#include "kube/client/caches/reflector.h"
#include "kube/client/transport/loop_timers.h"
#include "kube/client/transport/tls_dialer.h"
#include "kube/client/writes.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"

namespace {

using namespace berth;
using namespace berth::kube::client;
using kube::objects::Pod;

constexpr int kSkipped = 77;

class WallClock final : public ports::Clock {
  public:
    base::TimePoint now() const override { return base::at_ms(1000LL * std::time(nullptr)); }
};

struct Client {
    explicit Client(const Access& to) : access(to), credentials(access, nullptr, date) {
        auto made = TlsDialer::make(loop, access);
        if (!made) {
            std::fprintf(stderr, "%s\n", made.error().message.c_str());
            std::exit(1);
        }
        dialer = std::move(*made);
        requests = std::make_unique<Requests>(access, *dialer, credentials, timers);
    }

    Outcome ask(Request request) {
        Outcome got;
        bool is_there = false;
        requests->send(std::move(request), [&](Outcome outcome) {
            got = std::move(outcome);
            is_there = true;
        });
        while (!is_there) loop.run_one();
        return got;
    }
    // Until it holds; a minute at most.
    template <typename Holds>
    bool wait_for(Holds holds) {
        const auto late = clock.now() + std::chrono::minutes(1);
        while (!holds()) {
            if (clock.now() > late) return false;
            loop.run_one_for(std::chrono::milliseconds(100));
        }
        return true;
    }

    boost::asio::io_context loop;
    tests::SteadyClock clock;
    WallClock date;
    LoopTimers timers{loop, clock};
    Access access;
    Credentials credentials;
    std::unique_ptr<TlsDialer> dialer;
    std::unique_ptr<Requests> requests;
};

std::string text_at(const std::string& body, std::initializer_list<std::string_view> path) {
    const auto parsed = codec::parse_json(body, "answer");
    if (!parsed) return {};
    const codec::Value* value = &*parsed;
    for (const std::string_view name : path) {
        value = value->find(name);
        if (value == nullptr) return {};
    }
    return value->text;
}

class Trial {
  public:
    explicit Trial(const Access& access)
        : client_(access),
          cache_([this](codec::JsonReader& reader) { return read_pod(reader, pools_); }),
          space_("berth-test-" + std::to_string(::getpid())),
          pods_path_("/api/v1/namespaces/" + space_ + "/pods") {}

    bool run() {
        const Outcome made = client_.ask(
            {Method::Post, "/api/v1/namespaces",
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":")" + space_ + R"("}})"});
        expect(made.code == 201, "a namespace is made", made);
        if (made.code != 201) return false;
        // Its ServiceAccount comes a moment later, and pods are refused until then.
        client_.wait_for([&] { return client_.ask(pod_request("first")).code == 201; });
        Reflector reflector(*client_.requests, client_.timers, {pods_path_}, cache_, 1);
        reflector.start();
        expect(client_.wait_for([&] { return reflector.is_synced(); }), "the pods are listed");
        binds();
        removes();
        patches();
        leases();
        reads(reflector);
        accounts();
        client_.ask({Method::Delete, "/api/v1/namespaces/" + space_, "{}"});
        return !has_failed_;
    }

  private:
    void expect(bool holds, const std::string& what) {
        std::printf("%s  %s\n", holds ? "holds" : "FAILS", what.c_str());
        has_failed_ = has_failed_ || !holds;
    }
    void expect(bool holds, const std::string& what, const Outcome& outcome) {
        expect(holds, what + ": " + std::to_string(outcome.code) + " " + outcome.reason);
        if (!holds) std::printf("       %s %s\n", outcome.message.c_str(), outcome.body.c_str());
    }

    Request pod_request(const std::string& name, const std::string& more = "") const {
        return {Method::Post, pods_path_,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name +
                    R"("},"spec":{"schedulerName":"berth","containers":[{"name":"a",)"
                    R"("image":"a","resources":{"requests":{"cpu":"250m"}}}])" +
                    more + "}}"};
    }
    PodName make(const std::string& name, const std::string& more = "") {
        const Outcome made = client_.ask(pod_request(name, more));
        expect(made.code == 201, "pod " + name + " is made", made);
        return {space_, name, text_at(made.body, {"metadata", "uid"})};
    }
    const Pod* cached(const PodName& pod) {
        const auto uid = kube::objects::Uid::parse(pod.uid);
        return uid ? cache_.find(*uid) : nullptr;
    }

    void binds() {
        const PodName pod = make("bound");
        PodName other = pod;
        other.uid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        Outcome outcome = client_.ask(bind(other, "n1", {}));
        expect(outcome.code == 409, "a bind with another uid is refused", outcome);
        expect(read_bind(client_.ask(read_pod(pod)), pod, "n1") == BindFate::NotBound,
               "and has bound nothing");
        outcome = client_.ask(bind(pod, "n1", {{"berth.dev/gpus", "GPU-1"}}));
        expect(outcome.code == 201, "a bind, to a node that does not exist", outcome);
        expect(read_bind(client_.ask(read_pod(pod)), pod, "n1") == BindFate::Bound,
               "the pod says where it is");
        outcome = client_.ask(bind(pod, "n2", {}));
        expect(outcome.code == 409, "a second bind is refused", outcome);
        outcome = client_.ask(bind({space_, "missing", pod.uid}, "n1", {}));
        expect(outcome.code == 404, "a bind of no pod is refused", outcome);
        const PodName gated = make("gated", R"(,"schedulingGates":[{"name":"berth.dev/test"}])");
        outcome = client_.ask(bind(gated, "n1", {}));
        expect(outcome.code == 409, "a bind of a gated pod is refused", outcome);
        expect(client_.wait_for([&] {
            const Pod* seen = cached(pod);
            const std::string* gpus =
                seen != nullptr ? find(*seen->meta.annotations, "berth.dev/gpus") : nullptr;
            return gpus != nullptr && *gpus == "GPU-1" && *seen->node == "n1";
        }),
               "the cache has node and annotation of the bind");
        expect(client_.wait_for([&] {
            const Pod* seen = cached(gated);
            return seen != nullptr && seen->is_gated && seen->ask->requests.cpu().value == 250;
        }),
               "the cache has the gate and the requests");
    }

    void removes() {
        const PodName pod = make("removed");
        Outcome outcome = client_.ask(remove_pod(pod, "1", 0));
        expect(outcome.code == 409, "a deletion with an old version is refused", outcome);
        PodName other = pod;
        other.uid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        outcome = client_.ask(remove_pod(other, "", 0));
        expect(outcome.code == 409, "a deletion with another uid is refused", outcome);
        outcome = client_.ask(remove_within_budget(other));
        expect(outcome.kind == Outcome::Kind::Unknown,
               "an `Eviction` with another uid is tried for as long as it may", outcome);
        client_.wait_for([&] { return cached(pod) != nullptr; });
        outcome = client_.ask(remove_within_budget(pod));
        expect(outcome.code == 201, "an `Eviction`", outcome);
        expect(client_.wait_for([&] { return cached(pod) == nullptr; }),
               "the cache hears that it is gone");
    }

    void patches() {
        const PodName pod = make("waiting");
        const WaitReason why{"QuotaExceeded", "the quota is full", "2026-03-01T12:00:00Z"};
        Outcome outcome = client_.ask(tell_wait(pod, why));
        expect(outcome.code == 200, "why a pod waits", outcome);
        expect(client_.wait_for([&] {
            return cached(pod) != nullptr && *cached(pod)->unscheduled_reason == "QuotaExceeded";
        }),
               "the cache has the reason");
        PodName other = pod;
        other.uid = "7c9e6679-7425-40de-944b-e07fc1f90ae7";
        outcome = client_.ask(tell_wait(other, why));
        expect(outcome.code == 422, "the reason of another uid is refused", outcome);

        const std::string jobs = "/apis/batch/v1/namespaces/" + space_ + "/jobs";
        outcome = client_.ask(
            {Method::Post, jobs,
             R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j"},"spec":)"
             R"({"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":)"
             R"([{"name":"a","image":"a"}]}}}})"});
        ObjectName job{jobs + "/j", text_at(outcome.body, {"metadata", "uid"}), "1"};
        outcome = client_.ask(merge_patch(job, R"({"spec":{"suspend":false}})", {}));
        expect(outcome.code == 409, "a patch of an old version is refused", outcome);
        job.version =
            text_at(client_.ask({Method::Get, job.path}).body, {"metadata", "resourceVersion"});
        outcome = client_.ask(
            merge_patch(job, R"({"spec":{"parallelism":2}})", {{"berth.dev/last-pause", "x"}}));
        // The Job's controller may have been faster once.
        if (outcome.code == 409) {
            job.version.clear();
            outcome = client_.ask(merge_patch(job, "{}", {{"berth.dev/last-pause", "x"}}));
        }
        expect(text_at(outcome.body, {"metadata", "annotations", "berth.dev/last-pause"}) == "x",
               "a patch with its annotation", outcome);
    }

    void leases() {
        Lease lease;
        lease.name_space = space_;
        lease.name = "leader";
        lease.holder = "one";
        lease.renewed = "2026-03-01T12:00:00.000000Z";
        Outcome outcome = client_.ask(write_lease(lease));
        expect(outcome.code == 201, "a Lease is made", outcome);
        outcome = client_.ask(write_lease(lease));
        expect(outcome.code == 409, "a second one of that name is refused", outcome);
        auto read = parse_lease(client_.ask(read_lease(lease)).body);
        expect(read && read->holder == "one", "it is read");
        if (!read) return;
        const Lease old = *read;
        read->holder = "two";
        outcome = client_.ask(write_lease(*read));
        expect(outcome.code == 200, "it is written over", outcome);
        outcome = client_.ask(write_lease(old));
        expect(outcome.code == 409, "who has read it before is refused", outcome);
    }

    void reads(const Reflector& reflector) {
        const Outcome page = client_.ask({Method::Get, pods_path_ + "?limit=1"});
        const std::string more = text_at(page.body, {"metadata", "continue"});
        expect(!more.empty(), "a list goes on", page);
        const Outcome future = client_.ask(
            {Method::Get, pods_path_ + "?watch=1&resourceVersion=999999999&timeoutSeconds=1"});
        expect(future.code == 200 && future.body.empty(),
               "a watch from a version to come says nothing", future);
        const auto watches = reflector.counts().watches;
        const auto until = std::chrono::seconds(kWatchMostS) + std::chrono::seconds(4);
        const auto late = client_.clock.now() + until;
        client_.wait_for(
            [&] { return reflector.counts().watches > watches + 1 || client_.clock.now() > late; });
        expect(reflector.counts().watches > watches, "a watch ends in time and goes on");
        expect(reflector.counts().lists == 1 && reflector.counts().failures == 0,
               "without a list or a failure");
        expect(!reflector.is_stale() && reflector.trouble().empty(), "and the cache is fresh");
        kube::objects::NodePools pools;
        const Outcome nodes = client_.ask({Method::Get, "/api/v1/nodes?limit=5"});
        expect(nodes.code == 200, "nodes are listed", nodes);
    }

    // By token instead of a certificate, as in a pod.
    void accounts() {
        const std::string accounts = "/api/v1/namespaces/" + space_ + "/serviceaccounts";
        const Outcome made = client_.ask(
            {Method::Post, accounts + "/default/token",
             R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{}})"});
        expect(made.code == 201, "a ServiceAccount has a token", made);
        Access access = client_.access;
        access.certificate_pem.clear();
        access.key_pem.clear();
        access.token = text_at(made.body, {"status", "token"});
        Client account(access);
        Outcome outcome = account.ask({Method::Get, pods_path_ + "?limit=1"});
        expect(outcome.code == 403, "who is known and has no role is refused", outcome);
        access.token = "wrong";
        Client stranger(access);
        outcome = stranger.ask({Method::Get, pods_path_ + "?limit=1"});
        expect(outcome.code == 401, "who is not known is refused otherwise", outcome);
    }

    Client client_;
    kube::objects::PodPools pools_;
    Cache<Pod> cache_;
    std::string space_;
    std::string pods_path_;
    bool has_failed_ = false;
};

}  // namespace

int main() {
    const char* path = std::getenv("BERTH_TEST_KUBECONFIG");
    if (path == nullptr) {
        std::printf("skipped: BERTH_TEST_KUBECONFIG names no cluster to try this on\n");
        return kSkipped;
    }
    const auto text = read_small_file(path);
    const Kubeconfig file{path, text ? *text : ""};
    const auto access = read_kubeconfig({&file, 1}, "");
    if (!access) {
        std::fprintf(stderr, "%s\n", access.error().message.c_str());
        return 1;
    }
    return Trial(*access).run() ? 0 : 1;
}
