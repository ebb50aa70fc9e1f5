// SPDX-License-Identifier: Apache-2.0
//
// How a cache stays as the server is: one thing at a time. All of them at once: life.h.
#include "kube/client/caches/reflector.h"

#include <doctest/doctest.h>

#include <chrono>

#include "doubles/kube_api/server.h"
#include "doubles/virtual_time.h"
#include "kube/client/caches/cache.h"
#include "kube/objects/pod.h"

using namespace berth;
using namespace berth::kube::client;
using berth::kube::objects::Pod;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

struct World {
    World() {
        for (int i = 0; i < 20; ++i) create(i);
    }
    tests::kube_api::Held create(int i) {
        return server.store.create("pods", "ml", "p" + std::to_string(i));
    }
    bool is_as_the_server() {
        std::size_t same = 0;
        for (const auto& [key, held] : server.store.all("pods")) {
            const Pod* pod = cache.find(*kube::objects::Uid::parse(held->uid));
            if (pod != nullptr && pod->meta.version == std::to_string(held->version)) ++same;
        }
        return same == cache.size() && same == server.store.all("pods").size();
    }
    void change(int i) {
        auto now = *server.store.find("pods", "ml/p" + std::to_string(i));
        ++now.content;
        server.store.change(now);
    }

    tests::VirtualTime time;
    tests::kube_api::Server server{time, 1};
    Access access{.host = "api", .port = "443"};
    Credentials credentials{access, nullptr, time};
    Requests requests{access, server, credentials, time};
    kube::objects::PodPools pools;
    std::vector<std::string> reported;  // what the cache reported of changes
    Cache<Pod> cache{[this](codec::JsonReader& reader) { return read_pod(reader, pools); },
                     [this](const Pod* before, const Pod* now) {
                         const char* what = before == nullptr ? "+" : now == nullptr ? "-" : "=";
                         reported.push_back(what + (now != nullptr ? now : before)->meta.name);
                     }};
    Reflector reflector{requests, time, {"/api/v1/pods"}, cache, 7};
};

}  // namespace

TEST_CASE("a list in pages, then every change, reported once") {
    World world;
    world.server.page_most = 7;
    world.reflector.start();
    CHECK_FALSE(world.reflector.is_synced());
    CHECK(world.reflector.is_stale());
    world.time.run(seconds(1));
    CHECK(world.reflector.is_synced());
    CHECK(world.is_as_the_server());
    CHECK(world.reported.size() == 20);
    CHECK(world.reflector.counts().lists == 1);

    world.reported.clear();
    world.create(20);
    world.change(3);
    world.server.store.remove(world.server.store.find("pods", "ml/p5"));
    world.time.run(seconds(1));
    CHECK(world.is_as_the_server());
    CHECK(world.reported == std::vector<std::string>{"+p20", "=p3", "-p5"});
}

TEST_CASE("watches follow each other without a list, and a quiet cache stays fresh") {
    World world;
    world.reflector.start();
    for (int second = 0; second < 600; ++second) {
        world.time.run(seconds(1));
        if (second > 0) REQUIRE_FALSE(world.reflector.is_stale());
    }
    CHECK(world.reflector.counts().lists == 1);
    CHECK(world.reflector.counts().watches >= 600 / kWatchMostS);
    CHECK(world.reflector.counts().failures == 0);
    // One connection for watches that end, one for requests.
    CHECK(world.server.counts().connections <= 2);
}

TEST_CASE("what has been compacted is listed again, and what went meanwhile is reported") {
    World world;
    world.reflector.start();
    world.time.run(seconds(1));
    world.server.is_down = true;
    world.server.break_all();
    world.time.run(seconds(5));
    world.reported.clear();
    world.server.store.remove(world.server.store.find("pods", "ml/p5"));
    world.change(3);
    world.server.store.compact(0);
    world.server.is_down = false;
    world.time.run(seconds(10));
    CHECK(world.reflector.counts().gone >= 1);
    CHECK(world.reflector.counts().lists == 2);
    CHECK(world.reported == std::vector<std::string>{"=p3", "-p5"});
    CHECK(world.is_as_the_server());
    CHECK(world.reflector.trouble().empty());
}

TEST_CASE("a 410 storm is met with a back-off") {
    World world;
    world.server.faults.expired = 1000;
    world.reflector.start();
    world.time.run(minutes(10));
    // 0.8 s doubled up to 30 s: about 25 lists, not thousands.
    CHECK(world.reflector.counts().lists > 15);
    CHECK(world.reflector.counts().lists < 45);
    world.server.faults = {};
    world.time.run(minutes(1));
    CHECK(world.is_as_the_server());
}

TEST_CASE("a watch that says nothing more is noticed, and the cache says that it is stale") {
    World world;
    world.server.faults.watch_silent = 1000;
    world.reflector.start();
    world.time.run(seconds(1));
    CHECK_FALSE(world.reflector.is_stale());
    world.change(1);
    world.time.run(seconds(31));
    CHECK(world.reflector.is_stale());
    CHECK(world.reflector.counts().silent >= 1);
    world.server.faults = {};
    world.time.run(seconds(30));
    CHECK_FALSE(world.reflector.is_stale());
    CHECK(world.is_as_the_server());
}

TEST_CASE("a server that is put back from a backup is listed anew") {
    World world;
    world.reflector.start();
    world.time.run(seconds(1));
    world.server.break_all();
    world.server.store.restore(500);
    world.change(2);
    world.time.run(seconds(30));
    CHECK(world.is_as_the_server());
}

TEST_CASE("Retry-After is kept") {
    World world;
    world.server.faults.too_many = 1000;
    world.reflector.start();
    world.time.run(minutes(1));
    // It asks for one to four seconds each time.
    CHECK(world.server.counts().requests >= 10);
    CHECK(world.server.counts().requests <= 60);
    CHECK(world.reflector.trouble() == "too many requests");
}

TEST_CASE("a server that comes back is met within two seconds") {
    World world;
    world.reflector.start();
    world.time.run(seconds(1));
    world.server.is_down = true;
    world.server.break_all();
    world.time.run(seconds(2));
    world.change(1);
    world.server.is_down = false;
    world.time.run(seconds(3));
    CHECK(world.is_as_the_server());
}
