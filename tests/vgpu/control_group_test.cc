// SPDX-License-Identifier: Apache-2.0
//
// The software driver keeps to the limits of control groups, as drivers do that know the kernel's
// dmem controller.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "vgpu/api.h"
#include "vgpu/tenant.h"

using namespace berth::test_vgpu;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMebibyte = 1ULL << 20U;

// Folders with the files of control groups, and GPUs of 4 GiB whose driver looks at them.
class Groups {
  public:
    Groups() {
        cuda();  // this process is on a machine of its own
        REQUIRE(::mkdtemp(root_) != nullptr);
    }
    ~Groups() {
        fs::remove_all(root_);
        ::unlink(state_.c_str());
    }

    void limit(const std::string& group, const std::string& bytes) const {
        fs::create_directories(fs::path(root_) / group);
        std::ofstream(fs::path(root_) / group / "dmem.max")
            << "drm/0000:00:02.0/vram0 1\nnvidia/0000:03:00.0/vidmem " << bytes << '\n';
    }

    Tenant start() const {
        return Tenant("state=" + state_ +
                      "; memory=4GiB; reserved=0MiB; context=64MiB; contents=0MiB; driver=13.4;"
                      "cgroups=" +
                      root_);
    }

    // Before its driver looks.
    void join(const std::string& group, const Tenant& tenant) const {
        std::ofstream(fs::path(root_) / group / "cgroup.procs", std::ios::app)
            << tenant.pid() << '\n';
        tenant.ask("init");
        tenant.ask("context");
    }

  private:
    char root_[32] = "/tmp/berth-groups-XXXXXX";
    std::string state_ = "/dev/shm/berth_group_test." + std::to_string(::getpid());
};

bool can_have(const Tenant& tenant, std::uint64_t mebibytes) {
    return tenant.ask("alloc " + std::to_string(mebibytes * kMebibyte)).starts_with("0 ");
}

std::string info(std::uint64_t free, std::uint64_t total) {
    return "0 " + std::to_string(free * kMebibyte) + " " + std::to_string(total * kMebibyte);
}

}  // namespace

TEST_CASE("the processes of a group have no more than its limit together, contexts included") {
    const Groups groups;
    groups.limit("job", std::to_string(1024 * kMebibyte));
    const Tenant one = groups.start();
    groups.join("job", one);
    const Tenant other = groups.start();
    groups.join("job", other);
    CHECK(can_have(one, 500));
    CHECK(can_have(other, 396));  // and 64 for each context
    CHECK_FALSE(can_have(other, 2));
    CHECK_FALSE(can_have(one, 2));
}

TEST_CASE("a group's limit is its own, and who is in no group has none") {
    const Groups groups;
    groups.limit("job", std::to_string(1024 * kMebibyte));
    groups.limit("other", "max");
    const Tenant limited = groups.start();
    groups.join("job", limited);
    CHECK(can_have(limited, 960));
    const Tenant unlimited = groups.start();
    groups.join("other", unlimited);
    CHECK(can_have(unlimited, 2000));
    CHECK_FALSE(can_have(limited, 2));
}

TEST_CASE("inside a group the GPU is as large as the limit") {
    const Groups groups;
    groups.limit("job", std::to_string(1024 * kMebibyte));
    const Tenant tenant = groups.start();
    groups.join("job", tenant);
    CHECK(tenant.ask("info") == info(960, 1024));
}

TEST_CASE("a limit that is changed holds at the next allocation, and nothing is taken away") {
    const Groups groups;
    groups.limit("job", std::to_string(1024 * kMebibyte));
    const Tenant tenant = groups.start();
    groups.join("job", tenant);
    CHECK(can_have(tenant, 900));
    groups.limit("job", std::to_string(512 * kMebibyte));
    CHECK_FALSE(can_have(tenant, 2));
    groups.limit("job", std::to_string(2048 * kMebibyte));
    CHECK(can_have(tenant, 1000));
}
