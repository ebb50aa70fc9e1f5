// SPDX-License-Identifier: Apache-2.0
//
// Slices of GPUs, asked of the software GPUs' management library.
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>
#include <string>

#include "adapters/nvml/nvml_gpus.h"
#include "model/node/mig.h"

using namespace berth;
using nvml::NvmlGpus;

namespace {

class Machine {
  public:
    // `description` as device/configuration.h reads it; one machine for the process.
    explicit Machine(const std::string& description)
        : state_("/dev/shm/berth-slices-" + std::to_string(::getpid())) {
        ::setenv("BERTH_SOFTWARE_GPU", ("state=" + state_ + ";" + description).c_str(), 1);
    }
    ~Machine() { ::unlink(state_.c_str()); }

    NvmlGpus gpus = NvmlGpus("host", BERTH_SOFTWARE_NVML);

  private:
    std::string state_;
};

}  // namespace

TEST_CASE("slices are nodes beside their machine, and a GPU that is cut is no whole one") {
    Machine machine(
        "name=NVIDIA H100 80GB HBM3;gpus=4;memory=80GiB;"
        "mig=1:3g.40gb, 1:1g.10gb, 1:1g.10gb, 3:1g.10gb");
    const auto nodes = machine.gpus.discover();
    REQUIRE(nodes.has_value());
    REQUIRE(nodes->size() == 3);
    const model::Node& whole = nodes->at(0);
    CHECK(whole.name == "host");
    CHECK(whole.gpus == 2);
    CHECK(whole.gpu_model == "H100");
    const model::Node& small = nodes->at(1);
    CHECK(small.name == "host/1g.10gb");
    CHECK(small.gpus == 3);
    CHECK(small.gpu_model == "1g.10gb");
    CHECK(small.gpu_memory.value == 10LL << 30);
    CHECK(small.gpu_reserved.value == 0);
    CHECK(nodes->at(2).name == "host/3g.40gb");
    CHECK(nodes->at(2).gpus == 1);

    // Each device is one place of one node, under a name of its own.
    const auto readings = machine.gpus.read();
    REQUIRE(readings.has_value());
    REQUIRE(readings->size() == 6);
    std::map<std::string, std::string> place_of;  // by name
    for (const ports::GpuReading& reading : *readings) {
        CHECK(reading.visible_as == reading.uuid);
        CHECK(reading.uuid.starts_with(reading.node == "host" ? "GPU-" : "MIG-"));
        CHECK(reading.healthy);
        const std::string place = reading.node + ":" + std::to_string(reading.index);
        CHECK(place_of.emplace(reading.uuid, place).second);
    }
    CHECK(readings->at(1).node == "host");
    CHECK(readings->at(1).index == 1);
    CHECK(readings->at(4).node == "host/1g.10gb");
    CHECK(readings->at(4).index == 2);
    CHECK(readings->at(4).utilization_percent == -1);
    CHECK(readings->at(4).memory_used.value == 0);
}
