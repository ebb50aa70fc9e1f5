// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/uncounted.h"

#include <doctest/doctest.h>

namespace berth::gpu_shares {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
const ports::AttemptId kSharer{base::JobId{7}, 1};
const ports::AttemptId kWhole{base::JobId{8}, 2};
const ports::AttemptId kTakenUp{base::JobId{9}, 1};  // from a server before this one

// Processes 70.. are of the sharer, 80.. of the one with a whole GPU, 90.. of the one taken up.
std::optional<ports::AttemptId> owner(std::int64_t pid) {
    if (pid / 10 == 7) return kSharer;
    if (pid / 10 == 8) return kWhole;
    if (pid / 10 == 9) return kTakenUp;
    return {};
}

std::vector<std::int64_t> pids(const std::vector<GpuUser>& users, const Holdings& holdings) {
    std::vector<std::int64_t> found;
    for (const Uncounted& one : uncounted(users, holdings, owner)) {
        CHECK(one.attempt == owner(one.user.pid));
        found.push_back(one.user.pid);
    }
    return found;
}

Holdings holdings() {
    return {{{"7.1.0", "GPU-a", true, {70, 71}}}, {{kSharer, {"GPU-a"}}, {kWhole, {"GPU-b"}}}};
}

}  // namespace

TEST_CASE("who joined its job's share is counted there, who did not is beside it") {
    CHECK(pids({{"GPU-a", 70, {kGib}}, {"GPU-a", 72, {kGib}}}, holdings()) ==
          std::vector<std::int64_t>{72});
}

TEST_CASE("a GPU that was given whole is its job's, whichever of its processes are there") {
    CHECK(pids({{"GPU-b", 80, {kGib}}, {"GPU-b", 81, {kGib}}}, holdings()).empty());
    Holdings measured = holdings();
    measured.members.push_back({"8.2.0", "GPU-b", false, {}});
    CHECK(pids({{"GPU-b", 80, {kGib}}}, measured).empty());
}

TEST_CASE("a GPU that a job was not given is beside its share") {
    CHECK(pids({{"GPU-b", 71, {kGib}}, {"GPU-a", 81, {kGib}}}, holdings()) ==
          std::vector<std::int64_t>{71, 81});
}

TEST_CASE("what is below no job's supervisor is of no job") {
    CHECK(pids({{"GPU-a", 5, {kGib}}}, holdings()) == std::vector<std::int64_t>{5});
}

TEST_CASE("of a job that was taken up only its tenants say which GPUs it has") {
    Holdings known = holdings();
    CHECK(pids({{"GPU-a", 90, {kGib}}}, known).empty());
    known.members.push_back({"9.1.0", "GPU-b", true, {91}});
    CHECK(pids({{"GPU-b", 91, {kGib}}, {"GPU-b", 92, {kGib}}, {"GPU-a", 91, {kGib}}}, known) ==
          std::vector<std::int64_t>{92, 91});
}

TEST_CASE("what is held beside a share is its tenant's, on the GPUs that it shares") {
    Holdings known = holdings();
    known.members.push_back({"8.2.0", "GPU-b", false, {}});
    known.members.push_back({"9.1.0", "GPU-a", true, {}});
    const auto all = uncounted(
        {{"GPU-a", 72, {kGib}}, {"GPU-a", 73, {kGib}}, {"GPU-b", 73, {kGib}}, {"GPU-a", 5, {kGib}}},
        known, owner);
    CHECK(all.size() == 4);
    const auto held = beside_shares(all, known.members);
    CHECK(held.size() == 2);
    CHECK(held.at("7.1.0").at("GPU-a") == base::Bytes{2 * kGib});
    CHECK(held.at("9.1.0").at("GPU-a") == base::Bytes{0});
}

TEST_CASE("of several reports the newest whole one counts, and the begun one is kept") {
    std::string said = "GPU-a 1 5\nend\nGPU-a 2 6\nGPU-b 3 7\nend\nGPU-a 4";
    CHECK(take_report(said) == std::vector<GpuUser>{{"GPU-a", 2, {6}}, {"GPU-b", 3, {7}}});
    CHECK(said == "GPU-a 4");
    CHECK_FALSE(take_report(said));
    said += " 8\nend\n";
    CHECK(take_report(said) == std::vector<GpuUser>{{"GPU-a", 4, {8}}});
    said = "end\n";
    CHECK(take_report(said)->empty());
}

}  // namespace berth::gpu_shares
