// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/lanes.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

using Orders = std::vector<std::string>;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

TenantTerms packed(const std::string& name) {
    return {"tenant " + name + " gpus=GPU-a context=400M lane=GPU-a", "GPU-a", {16 * kGibibyte}};
}

}  // namespace

TEST_CASE("a lane has all of its GPU, and is told once") {
    std::map<std::string, base::Bytes> lanes;
    std::map<std::string, TenantTerms> tenants{{"1.1.0", packed("1.1.0")}};
    CHECK(lane_orders(tenants, lanes) == Orders{"lane GPU-a memory=16384M",
                                                "set 1.1.0 memory=16384M",
                                                "lane GPU-a memory=16384M"});
    tenants["2.1.0"] = packed("2.1.0");
    CHECK(lane_orders(tenants, lanes).empty());
}

TEST_CASE("limits of others on the GPU are not the lane's, as long as they are there") {
    std::map<std::string, base::Bytes> lanes;
    std::map<std::string, TenantTerms> tenants{
        {"1.1.0", packed("1.1.0")},
        {"3.1.0", {"tenant 3.1.0 gpus=GPU-a:4096M context=400M", "", {}}},
        {"4.1.0", {"tenant 4.1.0 gpus=GPU-b:4096M context=400M", "", {}}}};
    CHECK(lane_orders(tenants, lanes).front() == "lane GPU-a memory=12288M");
    tenants.erase("3.1.0");
    CHECK(lane_orders(tenants, lanes).front() == "lane GPU-a memory=16384M");
}

TEST_CASE("terms are written down and read back") {
    for (const TenantTerms& terms :
         {packed("1.1.0"), TenantTerms{"tenant 2.1.0 gpus=GPU-b", "", {}},
          TenantTerms{"tenant 3.1.0 gpus=GPU-b:1M..2M/8M", "", {}, "node-1", true}})
        CHECK(read_terms(written(terms)) == terms);
    CHECK(read_terms("").order.empty());
}

}  // namespace berth::gpu_shares
