// SPDX-License-Identifier: Apache-2.0
//
// How the client sends: how many at once, how long each lives, what it says of what became of it.
#include "kube/client/transport/requests.h"

#include <doctest/doctest.h>

#include <chrono>
#include <vector>

#include "doubles/kube_api/server.h"
#include "doubles/virtual_time.h"
#include "kube/client/writes.h"

using namespace berth;
using namespace berth::kube::client;
using berth::tests::VirtualTime;
using Kind = Outcome::Kind;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct World {
    World() {
        for (int i = 0; i < 40; ++i) {
            const auto pod = server.store.create("pods", "ml", "p" + std::to_string(i));
            pods.push_back({pod->name_space, pod->name, pod->uid});
        }
    }
    // What has become of it, as soon as it is known.
    const Outcome* send(Request request) {
        const auto outcome = std::make_shared<Outcome>();
        outcomes.push_back(outcome);
        moments.emplace_back();
        const std::size_t at = moments.size() - 1;
        requests.send(std::move(request), [this, outcome, at](Outcome made) {
            *outcome = std::move(made);
            moments[at] = time.now();
            ++answered;
        });
        return outcome.get();
    }

    VirtualTime time;
    tests::kube_api::Server server{time, 1};
    Access access{.host = "api", .port = "443"};
    Credentials credentials{access, nullptr, time};
    Requests requests{access, server, credentials, time};
    std::vector<PodName> pods;
    std::vector<std::shared_ptr<Outcome>> outcomes;
    std::vector<base::TimePoint> moments;
    int answered = 0;
};

}  // namespace

TEST_CASE("a limited number of requests are under way, over as many kept connections") {
    World world;
    for (const PodName& pod : world.pods) world.send(bind(pod, "n1", {}));
    world.time.run(seconds(1));
    CHECK(world.answered == 40);
    CHECK(world.server.counts().most_at_once <= kConnectionsMax);
    CHECK(world.server.counts().most_at_once > kConnectionsMax / 2);
    CHECK(world.server.counts().connections <= kConnectionsMax);
    CHECK(world.server.counts().bound == 40);
    CHECK(world.requests.under_way() == 0);
}

TEST_CASE("a write lives four seconds, its time in line included") {
    World world;
    world.server.faults.stalled = 1000;
    const base::TimePoint start = world.time.now();
    for (const PodName& pod : world.pods) world.send(bind(pod, "n1", {}));
    world.time.run(seconds(10));
    REQUIRE(world.answered == 40);
    int unknown = 0;
    for (std::size_t i = 0; i < world.outcomes.size(); ++i) {
        CHECK(world.moments[i] - start == kWritePatience);
        const bool is_unknown = world.outcomes[i]->kind == Kind::Unknown;
        if (!is_unknown) CHECK(world.outcomes[i]->kind == Kind::NotSent);
        unknown += is_unknown ? 1 : 0;
    }
    CHECK(unknown == static_cast<int>(kConnectionsMax));
    // What is reported as not sent is not sent later, what is unknown may be done.
    world.time.run(seconds(60));
    CHECK(world.server.counts().bound == kConnectionsMax);
}

TEST_CASE("what goes first, as Leases do, waits for none of those in line") {
    World world;
    world.server.faults.stalled = 1000;
    for (const PodName& pod : world.pods) world.send(bind(pod, "n1", {}));
    world.time.run(seconds(1));
    world.server.faults.stalled = 0;
    Request lease = read_pod(world.pods[0]);
    lease.goes_first = read_lease({}).goes_first;
    const Outcome* outcome = world.send(std::move(lease));
    world.time.run(seconds(1));
    CHECK(outcome->is_done());
    CHECK(write_lease({}).goes_first);
    CHECK(world.answered == 1);
}

TEST_CASE(
    "an answer that is lost is unknown, whether it was done or not; no connection is not sent") {
    for (const bool is_done : {false, true}) {
        CAPTURE(is_done);
        World world;
        (is_done ? world.server.faults.lost_after : world.server.faults.lost_before) = 1000;
        const Outcome* outcome = world.send(bind(world.pods[0], "n1", {}));
        world.time.run(seconds(1));
        CHECK(outcome->kind == Kind::Unknown);
        CHECK(world.answered == 1);
        CHECK(world.server.counts().bound == (is_done ? 1 : 0));
    }
    World world;
    world.server.is_down = true;
    const Outcome* outcome = world.send(bind(world.pods[0], "n1", {}));
    world.time.run(seconds(1));
    CHECK(outcome->kind == Kind::NotSent);
    CHECK(world.server.counts().requests == 0);
}

TEST_CASE("half an answer is no answer") {
    World world;
    world.server.faults.cut = 1000;
    const Outcome* outcome = world.send(read_pod(world.pods[0]));
    world.time.run(seconds(1));
    CHECK(outcome->kind == Kind::Unknown);
}

TEST_CASE("writes are refused with what no longer holds") {
    World world;
    PodName pod = world.pods[0];
    const Outcome* first = world.send(bind(pod, "n1", {{"berth.dev/gpus", "GPU-1"}}));
    world.time.run(seconds(1));
    CHECK(first->code == 201);
    const auto bound = world.server.store.find("pods", "ml/p0");
    CHECK(bound->node == "n1");
    CHECK(bound->annotations.at("berth.dev/gpus") == "GPU-1");

    const Outcome* again = world.send(bind(pod, "n2", {}));
    world.time.run(seconds(1));
    CHECK(again->kind == Kind::Refused);
    CHECK(again->code == 409);
    CHECK(again->reason == "Conflict");
    pod.uid = world.pods[1].uid;
    const Outcome* other = world.send(remove_pod(pod, "", 0));
    const Outcome* old = world.send(remove_pod(world.pods[0], "7", 0));
    const Outcome* none = world.send(bind({"ml", "gone", pod.uid}, "n1", {}));
    world.server.is_eviction_allowed = false;
    const Outcome* kept = world.send(remove_within_budget(world.pods[0]));
    world.time.run(seconds(1));
    CHECK(other->code == 409);
    CHECK(old->code == 409);
    CHECK(none->code == 404);
    CHECK(kept->code == 429);
    CHECK(kept->retry_after == seconds(10));
}

TEST_CASE("an `Eviction` of another pod of that name is unknown in the end, and the pod stays") {
    World world;
    PodName pod = world.pods[0];
    pod.uid = world.pods[1].uid;
    const Outcome* outcome = world.send(remove_within_budget(pod));
    world.time.run(seconds(10));
    CHECK(outcome->kind == Kind::Unknown);
    CHECK(world.server.store.find("pods", "ml/p0") != nullptr);
}

TEST_CASE("a token that is no longer taken is renewed once, and the request sent again") {
    class Login final : public ProcessRunner {
      public:
        void run(const ExecCommand&, Printed printed) override {
            printed(R"({"status":{"token":"t)" + std::to_string(++runs) + R"("}})");
        }
        int runs = 0;
    };
    VirtualTime time;
    tests::kube_api::Server server(time, 1);
    Access access{.host = "api", .port = "443"};
    access.exec = ExecCommand{"login", {}, {}, "client.authentication.k8s.io/v1"};
    Login login;
    Credentials credentials(access, &login, time);
    Requests requests(access, server, credentials, time);
    server.token = "t2";
    std::vector<int> codes;
    const auto ask = [&] {
        requests.send({Method::Get, "/api/v1/pods?limit=1"},
                      [&](const Outcome& outcome) { codes.push_back(outcome.code); });
        time.run(seconds(1));
    };
    ask();
    CHECK(login.runs == 2);
    server.token = "gone for good";
    ask();
    CHECK(codes == std::vector<int>{200, 401});
    CHECK(login.runs == 3);
}
