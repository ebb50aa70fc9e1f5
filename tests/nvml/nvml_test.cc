// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "adapters/nvml/gpu_model_name.h"
#include "adapters/nvml/nvml_gpus.h"

using namespace berth;
using nvml::NvmlGpus;

namespace {

NvmlGpus stub(const char* gpus) {
    if (gpus != nullptr)
        ::setenv("BERTH_NVML_STUB_GPUS", gpus, 1);
    else
        ::unsetenv("BERTH_NVML_STUB_GPUS");
    return NvmlGpus("host", BERTH_NVML_STUB);
}

}  // namespace

TEST_CASE("a machine without the library or the driver says what is missing and what to do") {
    const auto no_library = NvmlGpus("host", "libno-such-thing.so").discover();
    REQUIRE_FALSE(no_library.has_value());
    CHECK(no_library.error().code == base::ErrorCode::Unavailable);
    CHECK(no_library.error().message.find("libno-such-thing.so") != std::string::npos);
    CHECK(no_library.error().message.find("sim:8x80G") != std::string::npos);

    const auto no_driver = stub(nullptr).read();
    REQUIRE_FALSE(no_driver.has_value());
    CHECK(no_driver.error().message.find("Driver Not Loaded") != std::string::npos);

    const auto another_library = NvmlGpus("host", "libc.so.6").discover();
    REQUIRE_FALSE(another_library.has_value());
    CHECK(another_library.error().message.find("has no nvmlInit_v2") != std::string::npos);
}

TEST_CASE("a driver that comes later is found") {
    NvmlGpus gpus = stub(nullptr);
    CHECK_FALSE(gpus.discover().has_value());
    ::setenv("BERTH_NVML_STUB_GPUS", "NVIDIA H200", 1);
    CHECK(gpus.discover()->front().gpus == 1);
}

TEST_CASE("the GPUs of a machine make one node") {
    const auto nodes = stub("NVIDIA H100 80GB HBM3;NVIDIA H100 80GB HBM3").discover();
    REQUIRE(nodes.has_value());
    REQUIRE(nodes->size() == 1);
    const model::Node& node = nodes->front();
    CHECK(node.name == "host");
    CHECK(node.gpus == 2);
    CHECK(node.gpu_model == "H100");
    CHECK(node.gpu_memory.value == 80LL << 30);
    CHECK(node.gpu_reserved.value == 600LL << 20);
    CHECK(node.labels.at("gpu.product") == "NVIDIA-H100-80GB-HBM3");
}

TEST_CASE("links are read from the driver, NUMA nodes from the kernel") {
    namespace fs = std::filesystem;
    char folder[] = "/tmp/berth-sys-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    for (const int gpu : {0, 1, 2}) {
        const fs::path device =
            fs::path(folder) / ("bus/pci/devices/0000:a" + std::to_string(gpu) + ":00.0");
        fs::create_directories(device);
        std::ofstream(device / "numa_node") << (gpu == 2 ? 1 : 0) << '\n';
    }
    ::setenv("BERTH_NVML_STUB_GPUS", "NVIDIA L4;NVIDIA L4;A100-SXM4;A100-SXM4", 1);
    const auto nodes = NvmlGpus("host", BERTH_NVML_STUB, folder).discover();
    fs::remove_all(folder);
    REQUIRE(nodes.has_value());
    const model::GpuLinks& links = nodes->front().gpu_links;
    CHECK(links.matrix == std::vector<std::string>{"X PIX SYS SYS", "PIX X SYS SYS",
                                                   "SYS SYS X NV1", "SYS SYS NV1 X"});
    CHECK(links.numa == std::vector{0, 0, 1, -1});
    CHECK(model::nearness(links, 4).has_value());
    CHECK(stub("NVIDIA H200").discover()->front().gpu_links == model::GpuLinks{});
}

TEST_CASE("a machine of several models names none") {
    const model::Node node = stub("NVIDIA A100-SXM4-80GB;NVIDIA H200").discover()->front();
    CHECK(node.gpus == 2);
    CHECK(node.gpu_model == "");
    CHECK(node.labels.empty());
}

TEST_CASE("readings are in percent, bytes and watts, and say what was not measured") {
    const auto readings = stub("NVIDIA H200;plain;lost").read();
    REQUIRE(readings.has_value());
    REQUIRE(readings->size() == 3);
    CHECK(readings->at(0).uuid == "GPU-0");
    CHECK(readings->at(0).visible_as.empty());  // nothing is cut here
    CHECK(readings->at(0).utilization_percent == 70);
    CHECK(readings->at(0).memory_used.value == 5LL << 30);
    CHECK(readings->at(0).power_watts == 351);
    CHECK(readings->at(0).healthy);
    CHECK(readings->at(1).index == 1);
    CHECK(readings->at(1).utilization_percent == -1);
    CHECK(readings->at(1).memory_used.value == -1);
    CHECK(readings->at(1).power_watts == -1);
    CHECK(readings->at(1).healthy);
    CHECK_FALSE(readings->at(2).healthy);
}

TEST_CASE("a GPU is called what people call it") {
    const std::pair<const char*, const char*> cases[] = {
        {"NVIDIA H100 80GB HBM3", "H100"}, {"NVIDIA H200", "H200"},
        {"NVIDIA A100-SXM4-80GB", "A100"}, {"NVIDIA A100 80GB PCIe", "A100"},
        {"Tesla V100-SXM2-32GB", "V100"},  {"NVIDIA GeForce RTX 4090", "RTX4090"},
        {"NVIDIA RTX A6000", "RTXA6000"},  {"NVIDIA L40S", "L40S"},
        {"NVIDIA GH200 480GB", "GH200"},   {"Tesla T4", "T4"},
        {"NVIDIA B200", "B200"},           {"", ""},
    };
    for (const auto& [product, name] : cases) CHECK(nvml::short_model_name(product) == name);
}
