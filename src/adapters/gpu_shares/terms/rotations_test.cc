// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/rotations.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

using Orders = std::vector<std::string>;

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

TenantTerms packed(const std::string& name) {
    return {
        "tenant " + name + " gpus=GPU-a context=400M rotation=GPU-a", "GPU-a", {16 * kGibibyte}};
}

}  // namespace

TEST_CASE("a rotation has all of its GPU, and is ordered once") {
    std::map<std::string, base::Bytes> rotations;
    std::map<std::string, TenantTerms> tenants{{"1.1.0", packed("1.1.0")}};
    CHECK(rotation_orders(tenants, rotations) == Orders{"rotation GPU-a memory=16384M",
                                                        "set 1.1.0 memory=16384M",
                                                        "rotation GPU-a memory=16384M"});
    tenants["2.1.0"] = packed("2.1.0");
    CHECK(rotation_orders(tenants, rotations).empty());
}

TEST_CASE("limits of others on the GPU are not the rotation's, as long as they are there") {
    std::map<std::string, base::Bytes> rotations;
    std::map<std::string, TenantTerms> tenants{
        {"1.1.0", packed("1.1.0")},
        {"3.1.0", {"tenant 3.1.0 gpus=GPU-a:4096M context=400M", "", {}}},
        {"4.1.0", {"tenant 4.1.0 gpus=GPU-b:4096M context=400M", "", {}}}};
    CHECK(rotation_orders(tenants, rotations).front() == "rotation GPU-a memory=12288M");
    tenants.erase("3.1.0");
    CHECK(rotation_orders(tenants, rotations).front() == "rotation GPU-a memory=16384M");
}

TEST_CASE("terms are written down and read back") {
    for (const TenantTerms& terms :
         {packed("1.1.0"), TenantTerms{"tenant 2.1.0 gpus=GPU-b", "", {}},
          TenantTerms{"tenant 3.1.0 gpus=GPU-b:1M..2M/8M", "", {}, "node-1", true}})
        CHECK(read_terms(written(terms)) == terms);
    CHECK(read_terms("").order.empty());
}

TEST_CASE("terms that an earlier server wrote are read with the word of today") {
    const std::string word = "lane";
    CHECK(read_terms("tenant 1.1.0 gpus=GPU-a context=400M " + word + "=GPU-a\n" + word +
                     " GPU-a 17179869184\n") == packed("1.1.0"));
}

}  // namespace berth::gpu_shares
