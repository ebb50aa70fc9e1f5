// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/pci_places.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

using namespace berth;
namespace fs = std::filesystem;

namespace {

// Folders and links as the kernel has them below /sys, of a machine that we describe.
class Sys {
  public:
    Sys() { REQUIRE(::mkdtemp(root_) != nullptr); }
    ~Sys() { fs::remove_all(root_); }

    // `way`: "pci0000:3a/0000:3a:01.0/0000:3b:00.0".
    void add_gpu(const std::string& way, int numa) {
        const fs::path device = add_device(way);
        std::ofstream(device / "numa_node") << numa << '\n';
    }

    void add_card(const std::string& name, const std::string& way) {
        const fs::path card = fs::path(root_) / "class/infiniband" / name;
        fs::create_directories(card);
        fs::create_directory_symlink(add_device(way), card / "device");
    }

    void add_virtual_card(const std::string& name, const std::string& way) {
        add_card(name, way);
        fs::create_directory(fs::path(root_) / "class/infiniband" / name / "device/physfn");
    }

    nvml::PciPlaces read(const std::vector<std::string>& addresses) const {
        return nvml::read_pci_places(addresses, root_);
    }

  private:
    fs::path add_device(const std::string& way) {
        const fs::path device = fs::path(root_) / "devices" / way;
        const fs::path list = fs::path(root_) / "bus/pci/devices";
        fs::create_directories(device);
        fs::create_directories(list);
        fs::create_directory_symlink(device, list / device.filename());
        return device;
    }

    char root_[32] = "/tmp/berth-sys-XXXXXX";
};

}  // namespace

TEST_CASE("a GPU's card is the one behind the same switch") {
    Sys sys;
    sys.add_gpu("pci0000:16/0000:16:01.0/0000:17:00.0/0000:18:00.0", 0);
    sys.add_gpu("pci0000:38/0000:38:01.0/0000:39:00.0/0000:3a:00.0", 0);
    sys.add_gpu("pci0000:98/0000:98:01.0/0000:99:00.0/0000:9a:00.0", 1);
    sys.add_card("mlx5_0", "pci0000:98/0000:98:01.0/0000:99:01.0/0000:9b:00.0");
    sys.add_card("mlx5_1", "pci0000:16/0000:16:01.0/0000:17:01.0/0000:19:00.0");
    sys.add_card("mlx5_2", "pci0000:38/0000:38:01.0/0000:39:01.0/0000:3b:00.0");
    const auto places = sys.read({"0000:18:00.0", "0000:3a:00.0", "0000:9a:00.0"});
    CHECK(places.numa == std::vector{0, 0, 1});
    CHECK(places.nics == std::vector{1, 2, 0});
}

TEST_CASE("a card on the same switch is nearer than one on the same bridge") {
    Sys sys;
    sys.add_gpu("pci0000:16/0000:16:03.0/0000:18:00.0", 0);
    sys.add_card("mlx5_0", "pci0000:16/0000:16:01.0/0000:17:00.0");
    sys.add_card("mlx5_1", "pci0000:16/0000:16:03.0/0000:19:00.0");
    CHECK(sys.read({"0000:18:00.0"}).nics == std::vector{1});
}

TEST_CASE("cards on equal ways are dealt out in the order of their numbers") {
    Sys sys;
    std::vector<std::string> gpus;
    for (const char* gpu : {"18", "19", "1a"}) {
        sys.add_gpu("pci0000:16/0000:16:01.0/0000:" + std::string(gpu) + ":00.0", 0);
        gpus.push_back("0000:" + std::string(gpu) + ":00.0");
    }
    sys.add_card("mlx5_10", "pci0000:16/0000:16:01.0/0000:21:00.0");
    sys.add_card("mlx5_9", "pci0000:16/0000:16:01.0/0000:20:00.0");
    CHECK(sys.read(gpus).nics == std::vector{0, 1, 0});
}

TEST_CASE("a card behind another bridge belongs to no GPU") {
    Sys sys;
    sys.add_gpu("pci0000:16/0000:16:01.0/0000:18:00.0", 0);
    sys.add_card("mlx5_0", "pci0000:98/0000:98:01.0/0000:9b:00.0");
    CHECK(sys.read({"0000:18:00.0"}).nics == std::vector{-1});
}

TEST_CASE("virtual functions are parts of cards, not cards") {
    Sys sys;
    sys.add_gpu("pci0000:16/0000:16:01.0/0000:18:00.0", 0);
    sys.add_virtual_card("mlx5_0", "pci0000:16/0000:16:01.0/0000:19:00.1");
    sys.add_card("mlx5_1", "pci0000:16/0000:16:01.0/0000:19:00.0");
    CHECK(sys.read({"0000:18:00.0"}).nics == std::vector{0});
}

TEST_CASE("what the kernel does not show is not known") {
    const Sys sys;
    const auto places = sys.read({"0000:18:00.0", ""});
    CHECK(places.numa == std::vector{-1, -1});
    CHECK(places.nics == std::vector{-1, -1});
}
