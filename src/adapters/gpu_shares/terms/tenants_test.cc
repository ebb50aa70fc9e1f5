// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/tenants.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

constexpr std::int64_t kTenantGibibyte = std::int64_t{1} << 30;

std::vector<Gpu> two_nodes() {
    std::vector<Gpu> gpus;
    for (const char* node : {"n0", "n1"}) {
        for (int index = 0; index < 2; ++index) {
            gpus.push_back({node, index, std::string("GPU-") + node + "-" + std::to_string(index),
                            base::Bytes{80 * kTenantGibibyte}, base::Bytes{kTenantGibibyte / 2}});
        }
    }
    return gpus;
}

ports::LaunchOrder order_for(std::vector<ports::TaskLaunch> tasks) {
    ports::LaunchOrder order;
    order.attempt = {model::JobId{7}, 2};
    order.tasks = std::move(tasks);
    return order;
}

ports::TaskLaunch task(int rank, std::string node, std::vector<int> gpus, std::int64_t milli) {
    ports::TaskLaunch launch;
    launch.rank = rank;
    launch.node = std::move(node);
    launch.gpu_indices = std::move(gpus);
    launch.share = base::MilliGpu{milli};
    return launch;
}

}  // namespace

TEST_CASE("whole GPUs need no tenant") {
    const auto order = order_for({task(0, "n0", {0, 1}, 1000)});
    CHECK_FALSE(shares(order));
    CHECK(tenants_of(order, two_nodes())->empty());
}

TEST_CASE("who may be parked is a tenant whose calls are noted, with whole GPUs as well") {
    auto order = order_for({task(0, "n0", {0, 1}, 1000)});
    order.park_after = base::Duration{1'800'000};
    CHECK_FALSE(shares(order));
    CHECK(has_tenants(order));
    const auto tenants = tenants_of(order, two_nodes());
    REQUIRE(tenants->size() == 1);
    CHECK(tenants->front().gpus == "GPU-n0-0,GPU-n0-1");
    CHECK(tenants->front().order ==
          "tenant 7.2.0 gpus=GPU-n0-0:none,GPU-n0-1:none share=1 cap=1 context=512M priority=0 "
          "park=1800000ms");
    CHECK(tenants->front().may_leave);
}

TEST_CASE("half a GPU is half of its time and of its memory") {
    const auto tenants = tenants_of(order_for({task(0, "n0", {1}, 500)}), two_nodes());
    REQUIRE(tenants->size() == 1);
    CHECK_FALSE(tenants->front().may_leave);
    CHECK((*tenants)[0].name == "7.2.0");
    CHECK((*tenants)[0].order ==
          "tenant 7.2.0 gpus=GPU-n0-1:40960M share=0.5 cap=1 context=512M priority=0");
}

TEST_CASE("memory that was asked for is the limit, whatever the share") {
    auto order = order_for({task(0, "n0", {0}, 250)});
    order.tasks[0].gpu_memory = base::Bytes{12 * kTenantGibibyte};
    order.kind = model::JobKind::Build;
    const auto tenants = tenants_of(order, two_nodes());
    CHECK((*tenants)[0].order ==
          "tenant 7.2.0 gpus=GPU-n0-0:12288M share=0.25 cap=1 context=512M priority=1");
}

TEST_CASE("a job that may borrow memory gets a burst of up to what the GPU has") {
    auto order = order_for({task(0, "n0", {0}, 1000)});
    order.tasks[0].share = base::MilliGpu{250};
    order.tasks[0].gpu_memory = base::Bytes{12 * kTenantGibibyte};
    order.tasks[0].gpu_memory_max = base::Bytes{20 * kTenantGibibyte};
    const auto memory = [&] {
        const std::string text = (*tenants_of(order, two_nodes()))[0].order;
        return text.substr(text.find("GPU-n0-0"), text.find(" share") - text.find("GPU-n0-0"));
    };
    CHECK(memory() == "GPU-n0-0:12288M..20480M/81920M");
    CHECK((*tenants_of(order, two_nodes()))[0].may_leave);
    order.tasks[0].gpu_memory_max = base::Bytes{90 * kTenantGibibyte};
    CHECK(memory() == "GPU-n0-0:12288M..81920M/81920M");
}

TEST_CASE("tasks of one job on one GPU have together what each was given; each node is apart") {
    const auto tenants = tenants_of(
        order_for({task(0, "n0", {0}, 250), task(1, "n0", {0}, 250), task(2, "n1", {1}, 250)}),
        two_nodes());
    REQUIRE(tenants->size() == 2);
    CHECK((*tenants)[0].order.find("gpus=GPU-n0-0:40960M share=0.5 cap=1") != std::string::npos);
    CHECK((*tenants)[1].name == "7.2.1");
    CHECK((*tenants)[1].order.find("gpus=GPU-n1-1:20480M share=0.25 cap=1") != std::string::npos);
}

TEST_CASE(
    "who may share a GPU is in its rotation, sees all of it and says what jobs like it took") {
    auto order = order_for({task(0, "n0", {1}, 416)});
    order.may_share = true;
    CHECK(shares(order));
    auto tenants = tenants_of(order, two_nodes());
    REQUIRE(tenants->size() == 1);
    CHECK((*tenants)[0].order == "tenant 7.2.0 gpus=GPU-n0-1 context=512M rotation=GPU-n0-1");
    CHECK((*tenants)[0].rotation == "GPU-n0-1");
    CHECK((*tenants)[0].rotation_memory.value == 80 * kTenantGibibyte);
    order.tasks[0].share = base::kWholeGpu;  // it is measured
    order.profile = model::GpuProfile{.iterations = 9,
                                      .compute = {},
                                      .persistent = {2 * kTenantGibibyte - 1},
                                      .peak = {3 * kTenantGibibyte - 1}};
    tenants = tenants_of(order, two_nodes());
    CHECK((*tenants)[0].order ==
          "tenant 7.2.0 gpus=GPU-n0-1 context=512M rotation=GPU-n0-1 persistent=2048M peak=3072M");
}

TEST_CASE("a GPU of unknown memory has no limit, one without identity is an error") {
    auto gpus = two_nodes();
    gpus[0].memory = {};
    const auto tenants = tenants_of(order_for({task(0, "n0", {0}, 500)}), gpus);
    CHECK((*tenants)[0].order.find("gpus=GPU-n0-0:none share") != std::string::npos);
    const auto unknown = tenants_of(order_for({task(0, "n9", {0}, 500)}), gpus);
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().message == "GPU 0 of node \"n9\" has no known identity");
}

TEST_CASE("a cap is never below the share, which may follow from memory") {
    auto order = order_for({task(0, "n0", {0}, 500)});
    const auto cap = [&] {
        const std::string text = (*tenants_of(order, two_nodes()))[0].order;
        return text.substr(text.find("cap="), text.find(" context") - text.find("cap="));
    };
    CHECK(cap() == "cap=1");
    order.tasks[0].cap = base::MilliGpu{700};
    CHECK(cap() == "cap=0.7");
    order.tasks[0].cap = base::MilliGpu{400};
    CHECK(cap() == "cap=0.5");
    order.tasks.push_back(task(1, "n0", {0}, 250));  // without one, on the same GPU
    CHECK(cap() == "cap=1");
}

TEST_CASE("what changes of a running attempt is said of each of its nodes") {
    auto tasks = std::vector{task(0, "n0", {0}, 250), task(1, "n1", {0, 1}, 1000)};
    const auto changed = changed_terms(tasks, two_nodes());
    REQUIRE(changed);
    CHECK(changed->at("n0") == " gpus=GPU-n0-0:20480M share=0.25 cap=1");
    CHECK(changed->at("n1") == " gpus=GPU-n1-0:none,GPU-n1-1:none share=1 cap=1");
    CHECK(with_terms("tenant 7.2.0 gpus=GPU-n0-0:1M share=0.5 cap=1 context=512M priority=0",
                     changed->at("n0")) ==
          "tenant 7.2.0 context=512M priority=0 cap=1 gpus=GPU-n0-0:20480M share=0.25");
}

}  // namespace berth::gpu_shares
