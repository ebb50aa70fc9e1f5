// SPDX-License-Identifier: Apache-2.0
//
// Processes compete on one GPU: for memory, for time, and none can harm another by dying.
#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <thread>
#include <vector>

#include "vgpu/api.h"
#include "vgpu/tenant.h"

using namespace berth::test_vgpu;

namespace {

// The number after the result in a tenant's answer.
std::uint64_t number_in(const std::string& answer) {
    std::istringstream in(answer);
    int result = -1;
    std::uint64_t number = 0;
    in >> result >> number;
    CHECK(result == 0);
    return number;
}

std::string mib(std::uint64_t amount) { return std::to_string(amount * kMiB); }

void wait_until(const auto& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (!condition() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    CHECK(condition());
}

// A process of its own on a GPU whose time passes only while that process waits.
class InVirtualTime {
  public:
    InVirtualTime() { CHECK(tenant_.ask("context") == "0"); }
    ~InVirtualTime() { ::unlink(path_.c_str()); }
    InVirtualTime(const InVirtualTime&) = delete;
    InVirtualTime& operator=(const InVirtualTime&) = delete;
    std::string ask(const std::string& command) const { return tenant_.ask(command); }

  private:
    std::string path_ = "/dev/shm/berth_virtual_test." + std::to_string(::getpid());
    Tenant tenant_{"state=" + path_ + "; time=virtual"};
};

std::vector<nvmlProcessInfo_v2_t> running() {
    const auto list = nvml<decltype(nvmlDeviceGetComputeRunningProcesses_v3)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    unsigned int count = 0;
    std::vector<nvmlProcessInfo_v2_t> infos(64);
    count = 64;
    CHECK(list(nvml_device(), &count, infos.data()) == NVML_SUCCESS);
    infos.resize(count);
    return infos;
}

std::uint64_t listed(pid_t pid) {
    for (const auto& info : running())
        if (info.pid == static_cast<unsigned int>(pid)) return info.usedGpuMemory;
    return 0;
}

}  // namespace

TEST_CASE("what one process takes another one has not") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    const std::uint64_t pointer = number_in(tenant.ask("alloc " + mib(512)));
    if (is_software()) CHECK(used_bytes() - before == 512 * kMiB + kContextBytes);
    CHECK(used_bytes() - before >= 512 * kMiB);
    CHECK(tenant.ask("free " + std::to_string(pointer)) == "0");
    if (is_software()) CHECK(used_bytes() - before == kContextBytes);
}

TEST_CASE("two processes cannot have more than there is") {
    if (!is_software()) return;
    const PrimaryContext context;
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    std::size_t free = 0;
    REQUIRE(cuda().cuMemGetInfo(&free, nullptr) == CUDA_SUCCESS);
    number_in(tenant.ask("alloc " + std::to_string(free - 100 * kMiB)));
    CUdeviceptr pointer = 0;
    CHECK(cuda().cuMemAlloc(&pointer, 102 * kMiB) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cuda().cuMemAlloc(&pointer, 100 * kMiB) == CUDA_SUCCESS);
    CHECK(tenant.ask("alloc 1000").starts_with("2"));
}

TEST_CASE("NVML lists each process with what it has, and no longer when it is killed") {
    const PrimaryContext context;
    Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    number_in(tenant.ask("alloc " + mib(100)));
    const pid_t pid = tenant.pid();
    if (is_software()) CHECK(listed(pid) == 100 * kMiB + kContextBytes);
    CHECK(listed(pid) >= 100 * kMiB);
    CHECK(listed(::getpid()) >= (is_software() ? kContextBytes : 1));
    const std::uint64_t used = used_bytes();
    tenant.kill();
    wait_until([&] { return used - used_bytes() >= 100 * kMiB; });
    wait_until([&] { return listed(pid) == 0; });
}

TEST_CASE("room for the list of processes is asked for") {
    const PrimaryContext context;
    const auto list = nvml<decltype(nvmlDeviceGetComputeRunningProcesses_v3)>(
        "nvmlDeviceGetComputeRunningProcesses_v3");
    unsigned int count = 0;
    CHECK(list(nvml_device(), &count, nullptr) == NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK(count >= 1);
}

TEST_CASE("tenants that die at random leave nothing behind") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    std::mt19937 dice(11);
    std::vector<std::unique_ptr<Tenant>> tenants(6);
    for (int i = 0; i < 30; ++i) {
        auto& tenant = tenants[dice() % tenants.size()];
        tenant = std::make_unique<Tenant>();
        // Or the GPU is full at this moment.
        const std::string made = tenant->ask("context");
        CHECK((made == "0" || made == "2"));
        tenant->tell("churn");
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 20000));
    }
    tenants.clear();
    wait_until([&] { return used_bytes() == before; });
}

TEST_CASE("memory of another process shows what that wrote, and outlives it while it is open") {
    if (!is_software()) return;  // a real driver wants both processes to live
    const PrimaryContext context;
    Tenant owner;
    const Tenant reader;
    CHECK(owner.ask("context") == "0");
    CHECK(reader.ask("context") == "0");
    const std::string small = std::to_string(number_in(owner.ask("alloc 400")));
    number_in(owner.ask("alloc 400"));
    const std::string second = std::to_string(number_in(owner.ask("alloc 400")));
    CHECK(owner.ask("put " + second + " 5 100") == "0");
    CHECK(owner.ask("put " + small + " 4 100") == "0");
    for (const auto& [own, word] : {std::pair{small, "0 4"}, std::pair{second, "0 5"}}) {
        const std::string open = reader.ask("import " + owner.ask("export " + own).substr(2));
        CHECK(reader.ask("get " + std::to_string(number_in(open))) == word);
    }
    const std::string pointer = std::to_string(number_in(owner.ask("alloc " + mib(8))));
    CHECK(owner.ask("put " + pointer + " 321 100") == "0");
    const std::string handle = owner.ask("export " + pointer);
    REQUIRE(handle.starts_with("0 "));
    const std::uint64_t before = used_bytes();
    const std::string seen = std::to_string(number_in(reader.ask("import " + handle.substr(2))));
    CHECK(reader.ask("get " + seen) == "0 321");
    CHECK(used_bytes() == before);
    CHECK(owner.ask("put " + pointer + " 322 1") == "0");
    CHECK(reader.ask("get " + seen) == "0 322");
    owner.kill();
    wait_until([&] { return before - used_bytes() == kContextBytes; });
    CHECK(reader.ask("get " + seen) == "0 322");
}

TEST_CASE("physical memory is handed to another process through a file descriptor") {
    const PrimaryContext context;
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle = 0;
    REQUIRE(cuda().cuMemCreate(&handle, 2 * kMiB, &prop, 0) == CUDA_SUCCESS);
    const std::uint64_t before = used_bytes();
    int file = -1;
    REQUIRE(cuda().cuMemExportToShareableHandle(
                &file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS);
    CUmemGenericAllocationHandle imported = 0;
    CHECK(cuda().cuMemImportFromShareableHandle(
              &imported, reinterpret_cast<void*>(static_cast<std::intptr_t>(file)),
              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
    CHECK(cuda().cuMemRelease(handle) == CUDA_SUCCESS);
    CHECK(used_bytes() == before);
    CHECK(cuda().cuMemRelease(imported) == CUDA_SUCCESS);
    CHECK(before - used_bytes() == 2 * kMiB);
    ::close(file);
}

TEST_CASE("processes that are always busy get equal parts of the GPU's time") {
    if (!is_software()) return;
    std::vector<std::unique_ptr<Tenant>> tenants;
    for (int i = 0; i < 3; ++i) {
        tenants.push_back(std::make_unique<Tenant>());
        CHECK(tenants.back()->ask("context") == "0");
        CHECK(tenants.back()->ask("spin 1000 1") == "0");
    }
    const auto began = std::chrono::steady_clock::now();
    for (const auto& tenant : tenants) tenant->tell("work 5000000 1200");
    double sum = 0;
    double squares = 0;
    for (const auto& tenant : tenants) {
        const auto done = static_cast<double>(number_in(tenant->hear()));
        MESSAGE("kernels of 5 ms: ", done);
        sum += done;
        squares += done * done;
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    CHECK(sum * sum / (3 * squares) >= 0.98);  // Jain's index
    CHECK(sum * 5 >= 1200 * 0.9);              // the GPU did not idle
    CHECK(sum * 5 <= took.count());            // and did not run what it has no time for
}

TEST_CASE("small kernels of two processes run side by side where sharing is concurrent") {
    if (!is_software()) return;
    const std::string path = "/dev/shm/berth_concurrent_test." + std::to_string(::getpid());
    const std::string text = "state=" + path + "; sharing=concurrent";
    const Tenant one(text);
    const Tenant other(text);
    for (const Tenant* tenant : {&one, &other}) {
        CHECK(tenant->ask("context") == "0");
        CHECK(tenant->ask("spin 1000 1") == "0");
    }
    const auto began = std::chrono::steady_clock::now();
    for (const Tenant* tenant : {&one, &other}) tenant->tell("work 5000000 1000 8");
    const std::uint64_t done = number_in(one.hear()) + number_in(other.hear());
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
    ::unlink(path.c_str());
    // More than one after the other has time for; 2 x 200 where nothing else runs.
    MESSAGE("kernels of 5 ms: ", done, " in ", took.count(), " ms");
    CHECK(done >= 300);
}

TEST_CASE("NVML tells how busy the GPU is") {
    if (!is_software()) return;
    const PrimaryContext context;
    const auto rates =
        nvml<decltype(nvmlDeviceGetUtilizationRates)>("nvmlDeviceGetUtilizationRates");
    nvmlUtilization_t utilization = {};
    REQUIRE(rates(nvml_device(), &utilization) == NVML_SUCCESS);
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    REQUIRE(rates(nvml_device(), &utilization) == NVML_SUCCESS);
    CHECK(utilization.gpu == 0);
    tenant.tell("spin 1000000000 3");
    wait_until(
        [&] { return rates(nvml_device(), &utilization) == NVML_SUCCESS && utilization.gpu > 70; });
    CHECK(tenant.hear() == "0");
}

TEST_CASE("a forked child gets the error that the driver is not initialised there") {
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    CHECK(tenant.ask("fork") == std::to_string(CUDA_ERROR_NOT_INITIALIZED));
    number_in(tenant.ask("alloc 100"));
}

TEST_CASE("a program that replaces itself by exec has nothing any more") {
    const PrimaryContext context;
    const std::uint64_t before = used_bytes();
    const Tenant tenant;
    CHECK(tenant.ask("context") == "0");
    number_in(tenant.ask("alloc " + mib(100)));
    CHECK(tenant.ask("exec") == "again");
    CHECK(tenant.ask("info").starts_with("201"));  // it lives, and has no context
    wait_until([&] { return used_bytes() == before; });
}

TEST_CASE("in virtual time work takes none of ours, and always the same of its own") {
    if (!is_software()) return;
    const auto begin = std::chrono::steady_clock::now();
    for (int times = 0; times < 2; ++times)
        CHECK(InVirtualTime().ask("timed 1000000000 60") == "0 60000.000000");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(60));
}

TEST_CASE("small kernels in two streams run side by side") {
    if (!is_software()) return;
    CHECK(InVirtualTime().ask("beside 40000000") == "0 40.000000");
}

TEST_CASE("a copy takes as long as the link needs") {
    if (!is_software()) return;
    const std::uint64_t ten_ms_at_50_gib_per_s = 512 * kMiB;
    const InVirtualTime tenant;
    CHECK(tenant.ask("copied " + std::to_string(ten_ms_at_50_gib_per_s)) == "0 10.000000");
}

TEST_CASE("a wrong description is an error before anything is made") {
    if (!is_software()) return;
    const Tenant tenant("state=/dev/shm/never_made; gpus=99");
    CHECK(tenant.ask("init").empty());  // it says why on stderr and ends
    CHECK(::access("/dev/shm/never_made", F_OK) != 0);
}
