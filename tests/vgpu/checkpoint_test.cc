// SPDX-License-Identifier: Apache-2.0
//
// A process is taken off the GPU and put back by another one, and does not notice but for the time.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "vgpu/api.h"
#include "vgpu/tenant.h"

using namespace berth::test_vgpu;

namespace {

struct Checkpoint {
    decltype(&cuCheckpointProcessLock) lock =
        cuda().find_as<decltype(cuCheckpointProcessLock)>("cuCheckpointProcessLock");
    decltype(&cuCheckpointProcessCheckpoint) save =
        cuda().find_as<decltype(cuCheckpointProcessCheckpoint)>("cuCheckpointProcessCheckpoint");
    decltype(&cuCheckpointProcessRestore) restore =
        cuda().find_as<decltype(cuCheckpointProcessRestore)>("cuCheckpointProcessRestore");
    decltype(&cuCheckpointProcessUnlock) unlock =
        cuda().find_as<decltype(cuCheckpointProcessUnlock)>("cuCheckpointProcessUnlock");
    decltype(&cuCheckpointProcessGetState) get_state =
        cuda().find_as<decltype(cuCheckpointProcessGetState)>("cuCheckpointProcessGetState");

    CUprocessState state(pid_t pid) const {
        auto now = CU_PROCESS_STATE_FAILED;
        CHECK(get_state(pid, &now) == CUDA_SUCCESS);
        return now;
    }
};

std::string pointer_in(const std::string& answer) {
    CHECK(answer.starts_with("0 "));
    return answer.substr(2);
}

// A machine of its own, as this process's environment says for as long as it lives.
std::string machine(const std::string& more) {
    return "state=/dev/shm/berth_checkpoint_test." + std::to_string(::getpid()) +
           "; memory=2GiB; reserved=64MiB; context=32MiB; driver=13.0; " + more;
}

}  // namespace

TEST_CASE("checkpointed memory is free for others, and is back with its contents") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    const std::string pointer = pointer_in(tenant.ask("alloc " + std::to_string(256 * kMiB)));
    CHECK(tenant.ask("put " + pointer + " 99 1000") == "0");
    const std::uint64_t used = used_bytes();
    const pid_t pid = tenant.pid();
    CHECK(checkpoint.state(pid) == CU_PROCESS_STATE_RUNNING);
    REQUIRE(checkpoint.lock(pid, nullptr) == CUDA_SUCCESS);
    CHECK(checkpoint.state(pid) == CU_PROCESS_STATE_LOCKED);
    REQUIRE(checkpoint.save(pid, nullptr) == CUDA_SUCCESS);
    CHECK(checkpoint.state(pid) == CU_PROCESS_STATE_CHECKPOINTED);
    CHECK(used - used_bytes() >= 256 * kMiB);
    if (is_software()) CHECK(used - used_bytes() == 256 * kMiB + kContextBytes);
    REQUIRE(checkpoint.restore(pid, nullptr) == CUDA_SUCCESS);
    CHECK(used_bytes() == used);
    REQUIRE(checkpoint.unlock(pid, nullptr) == CUDA_SUCCESS);
    CHECK(checkpoint.state(pid) == CU_PROCESS_STATE_RUNNING);
    CHECK(tenant.ask("get " + pointer) == "0 99");
}

TEST_CASE("calls of a locked process wait until it is unlocked") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    REQUIRE(checkpoint.lock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    tenant.tell("alloc 100");
    std::string answer;
    std::thread listener([&] { answer = tenant.hear(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const std::uint64_t used = used_bytes();
    REQUIRE(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    listener.join();
    CHECK(answer.starts_with("0 "));
    if (is_software()) CHECK(used_bytes() - used == 2 * kMiB);
}

TEST_CASE("a lock waits for the work that is queued, no longer than its timeout") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr || !is_software()) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    CHECK(tenant.ask("launch 2000000000") == "0");
    CUcheckpointLockArgs args = {};
    args.timeoutMs = 20;
    CHECK(checkpoint.lock(tenant.pid(), &args) == CUDA_ERROR_NOT_READY);
    CHECK(checkpoint.state(tenant.pid()) == CU_PROCESS_STATE_RUNNING);
    args.timeoutMs = 120'000;
    CHECK(checkpoint.lock(tenant.pid(), &args) == CUDA_SUCCESS);
    CHECK(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CHECK(tenant.ask("spin 1000 1") == "0");
}

TEST_CASE("steps out of order and strangers are refused") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr || !is_software()) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    CHECK(checkpoint.save(tenant.pid(), nullptr) == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(checkpoint.restore(tenant.pid(), nullptr) == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_ERROR_ILLEGAL_STATE);
    CHECK(checkpoint.lock(1, nullptr) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("a process with managed memory cannot be checkpointed, and goes on") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr || !is_software()) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    pointer_in(tenant.ask("managed 4096"));
    REQUIRE(checkpoint.lock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CHECK(checkpoint.save(tenant.pid(), nullptr) == CUDA_ERROR_NOT_SUPPORTED);
    REQUIRE(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CHECK(tenant.ask("info").starts_with("0 "));
}

TEST_CASE("there must be room to come back to") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr || !is_software()) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    pointer_in(tenant.ask("alloc " + std::to_string(1024 * kMiB)));
    REQUIRE(checkpoint.lock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    REQUIRE(checkpoint.save(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CUdeviceptr mine = 0;
    REQUIRE(cuda().cuMemAlloc(&mine, 1500 * kMiB) == CUDA_SUCCESS);
    CHECK(checkpoint.restore(tenant.pid(), nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(checkpoint.state(tenant.pid()) == CU_PROCESS_STATE_CHECKPOINTED);
    CHECK(cuda().cuMemFree(mine) == CUDA_SUCCESS);
    CHECK(checkpoint.restore(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CHECK(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_SUCCESS);
}

TEST_CASE("a process comes back on another GPU, at the same addresses") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    int count = 0;
    cuda().cuDeviceGetCount(&count);
    if (checkpoint.lock == nullptr || count < 2) return;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    const std::string pointer = pointer_in(tenant.ask("alloc " + std::to_string(64 * kMiB)));
    CHECK(tenant.ask("put " + pointer + " 7 1") == "0");
    const std::uint64_t used = used_bytes();
    REQUIRE(checkpoint.lock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    REQUIRE(checkpoint.save(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CUcheckpointGpuPair pairs[2] = {};
    cuda().cuDeviceGetUuid(&pairs[0].oldUuid, 0);
    cuda().cuDeviceGetUuid(&pairs[0].newUuid, 1);
    pairs[1] = {pairs[0].newUuid, pairs[0].oldUuid};
    CUcheckpointRestoreArgs args = {};
    args.gpuPairs = pairs;
    args.gpuPairsCount = 2;
    REQUIRE(checkpoint.restore(tenant.pid(), &args) == CUDA_SUCCESS);
    REQUIRE(checkpoint.unlock(tenant.pid(), nullptr) == CUDA_SUCCESS);
    CHECK(used - used_bytes() >= 64 * kMiB);
    CHECK(tenant.ask("get " + pointer) == "0 7");
}

TEST_CASE("a process that is killed while it is checkpointed is gone for good") {
    const PrimaryContext context;
    const Checkpoint checkpoint;
    if (checkpoint.lock == nullptr || !is_software()) return;
    const std::uint64_t before = used_bytes();
    Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    pointer_in(tenant.ask("alloc " + std::to_string(64 * kMiB)));
    const pid_t pid = tenant.pid();
    REQUIRE(checkpoint.lock(pid, nullptr) == CUDA_SUCCESS);
    REQUIRE(checkpoint.save(pid, nullptr) == CUDA_SUCCESS);
    tenant.kill();
    CHECK(checkpoint.restore(pid, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(used_bytes() == before);
}

TEST_CASE("a checkpoint fails as described") {
    if (!is_software()) return;
    const auto outcome = [](const std::string& how) {
        const std::string text = machine("checkpoint=" + how);
        const Tenant victim(text);
        const Tenant other(text);
        CHECK(victim.ask("context") == "0");
        CHECK(other.ask("context") == "0");
        const std::string answer = other.ask("checkpoint " + std::to_string(victim.pid()));
        ::unlink(("/dev/shm/berth_checkpoint_test." + std::to_string(::getpid())).c_str());
        return answer;
    };
    CHECK(outcome("works") == "0 0 2");
    CHECK(outcome("fails") == "0 999 3");
    CHECK(outcome("out_of_memory") == "0 2 1");
    CHECK(outcome("unsupported") == "0 801 1");
}
