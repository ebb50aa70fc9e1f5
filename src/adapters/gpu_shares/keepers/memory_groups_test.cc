// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/memory_groups.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth::gpu_shares {
namespace {

namespace fs = std::filesystem;

// Folders as a kernel with the dmem controller shows them, for one GPU.
class Tree {
  public:
    Tree() {
        REQUIRE(::mkdtemp(root_) != nullptr);
        write("cgroup.controllers", "cpu memory dmem pids\n");
        write("dmem.capacity",
              "drm/0000:00:02.0/vram0 1073741824\n"
              "nvidia/0000:3b:00.0/vidmem 85899345920\n");
        write("cgroup.subtree_control", "cpu memory\n");
    }
    ~Tree() { fs::remove_all(root_); }

    void write(const std::string& file, const std::string& text) const {
        std::ofstream(fs::path(root_) / file) << text;
    }
    std::string read(const std::string& file) const {
        std::ostringstream text;
        text << std::ifstream(fs::path(root_) / file).rdbuf();
        return text.str();
    }
    bool has(const std::string& file) const { return fs::exists(fs::path(root_) / file); }
    std::string root() const { return root_; }

  private:
    char root_[32] = "/tmp/berth-groups-XXXXXX";
};

std::vector<Gpu> one_gpu() {
    Gpu gpu;
    gpu.node = "host";
    gpu.pci_address = "0000:3b:00.0";
    return {gpu};
}

Tenant tenant(std::string name, std::int64_t bytes) {
    Tenant made;
    made.name = std::move(name);
    made.limits = {{"0000:3b:00.0", base::Bytes{bytes}}};
    return made;
}

}  // namespace

TEST_CASE("a tenant's limit is what its group may have, and what is never taken from it") {
    const Tree tree;
    MemoryGroups groups(tree.root(), "c1");
    REQUIRE(groups.problem(one_gpu()).empty());
    CHECK(tree.read("cgroup.subtree_control") == "+dmem");
    CHECK(tree.read("berth-c1/cgroup.subtree_control") == "+dmem");
    REQUIRE(groups.add(tenant("7.2.0", 4'294'967'296)));
    CHECK(tree.read("berth-c1/7.2.0/dmem.max") == "nvidia/0000:3b:00.0/vidmem 4294967296\n");
    CHECK(tree.read("berth-c1/7.2.0/dmem.min") == "nvidia/0000:3b:00.0/vidmem 4294967296\n");
    CHECK(groups.folder_of(tenant("7.2.0", 0)) == tree.root() + "/berth-c1/7.2.0");
}

TEST_CASE("a tenant of unknown memory has no limit") {
    const Tree tree;
    MemoryGroups groups(tree.root(), "c1");
    REQUIRE(groups.problem(one_gpu()).empty());
    REQUIRE(groups.add(tenant("7.2.0", -1)));
    CHECK_FALSE(tree.has("berth-c1/7.2.0/dmem.max"));
}

TEST_CASE("groups are found again by the next server, and go with their tenants") {
    const Tree tree;
    {
        MemoryGroups first(tree.root(), "c1");
        REQUIRE(first.problem(one_gpu()).empty());
        REQUIRE(first.add(tenant("7.2.0", 1)));
        REQUIRE(first.add(tenant("7.20.0", 1)));
    }
    MemoryGroups groups(tree.root(), "c1");
    CHECK_FALSE(groups.tenants().empty());
    groups.drop("7.2");
    CHECK_FALSE(tree.has("berth-c1/7.2.0"));
    CHECK(tree.has("berth-c1/7.20.0"));
    groups.remove();
    CHECK(tree.has("berth-c1"));  // a process is there
    groups.drop("7.20");
    CHECK(groups.tenants().empty());
    groups.remove();
    CHECK_FALSE(tree.has("berth-c1"));
}

TEST_CASE("what is missing is reported") {
    const Tree tree;
    std::vector<Gpu> other = one_gpu();
    other[0].pci_address = "0000:5e:00.0";
    CHECK(MemoryGroups(tree.root(), "c1").problem(other) ==
          "dmem.capacity does not list nvidia/0000:5e:00.0/vidmem");
    tree.write("cgroup.controllers", "cpu memory\n");
    CHECK(MemoryGroups(tree.root(), "c1").problem(one_gpu()) ==
          tree.root() + " has no dmem controller; Linux has one from 6.14 on");
}

TEST_CASE("a folder below the kernel's root serves, when it has the controller") {
    const Tree tree;
    fs::create_directory(tree.root() + "/ours");
    tree.write("ours/cgroup.controllers", "dmem\n");
    tree.write("ours/cgroup.subtree_control", "");
    MemoryGroups groups(tree.root() + "/ours", "c1");
    CHECK(groups.problem(one_gpu()).empty());
    REQUIRE(groups.add(tenant("7.2.0", 5)));
    CHECK(tree.has("ours/berth-c1/7.2.0/dmem.max"));
}

TEST_CASE("slices of a GPU need no group") {
    const Tree tree;
    std::vector<Gpu> gpus = one_gpu();
    gpus.push_back({});
    gpus.back().visible_as = "MIG-1";
    CHECK(MemoryGroups(tree.root(), "c1").problem(gpus).empty());
}

}  // namespace berth::gpu_shares
