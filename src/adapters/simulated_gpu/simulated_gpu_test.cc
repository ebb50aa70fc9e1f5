// SPDX-License-Identifier: Apache-2.0
#include "adapters/simulated_gpu/simulated_gpu.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

using namespace berth;
using simulated_gpu::SimulatedGpus;

TEST_CASE("one node is named by the caller, many are numbered") {
    struct Case {
        const char* spec;
        std::size_t nodes;
        const char* last;
        int gpus;
        const char* gpu_model;
        std::int64_t gibibytes;
    };
    const Case cases[] = {
        {"sim:8x80G", 1, "host", 8, "", 80},
        {"8x80G", 1, "host", 8, "", 80},
        {"sim:64x8x80G", 64, "n63", 8, "", 80},
        {"sim:1x8x80G", 1, "n0", 8, "", 80},
        {"sim:8xH100:80G", 1, "host", 8, "H100", 80},
        {"sim:2x4xA100-SXM:40G", 2, "n1", 4, "A100-SXM", 40},
        {"sim:8xH100", 1, "host", 8, "H100", 0},
        {"sim:8", 1, "host", 8, "", 0},
        {"sim:3x2", 3, "n2", 2, "", 0},
        {"sim:64x80G", 1, "host", 64, "", 80},
    };
    for (const Case& example : cases) {
        CAPTURE(example.spec);
        auto gpus = SimulatedGpus::parse(example.spec, "host");
        REQUIRE(gpus.has_value());
        const auto nodes = gpus->discover();
        REQUIRE(nodes->size() == example.nodes);
        const model::Node& node = nodes->back();
        CHECK(node.name == example.last);
        CHECK(node.gpus == example.gpus);
        CHECK(node.gpu_model == example.gpu_model);
        CHECK(node.gpu_memory.value == example.gibibytes << 30);
        CHECK_FALSE(node.cpu.has_value());
        CHECK_FALSE(node.memory.has_value());
        CHECK(gpus->read()->size() == example.nodes * static_cast<std::size_t>(example.gpus));
    }
}

TEST_CASE("what describes no GPUs is refused with what to write") {
    for (const char* spec :
         {"", "sim:", "sim:x", "sim:8x", "sim:0x80G", "sim:-1", "sim:65", "sim:20000x8x80G",
          "sim:8x:80G", "sim:8xH100:", "sim:8xH100:lots", "sim:99999999999999x8"}) {
        CAPTURE(spec);
        const auto gpus = SimulatedGpus::parse(spec, "host");
        REQUIRE_FALSE(gpus.has_value());
        CHECK(gpus.error().code == base::ErrorCode::Invalid);
        CHECK(gpus.error().message.find("write 8x80G") != std::string::npos);
    }
}

TEST_CASE("readings say that nothing was measured") {
    const auto readings = SimulatedGpus::parse("2x2x80G", "host")->read();
    REQUIRE(readings->size() == 4);
    CHECK(readings->back().uuid == "SIM-n1-1");
    CHECK(readings->back().utilization_percent == -1);
    CHECK(readings->back().memory_used.value == -1);
    CHECK(readings->back().healthy);
}

TEST_CASE("a GPU does what the programs on it say, until they are silent") {
    namespace fs = std::filesystem;
    char name[] = "/tmp/berth-counters-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    const fs::path folder = name;
    const auto write = [&](const char* file, const char* text) {
        std::ofstream(folder / file) << text;
    };
    write("n1.0.71", "60 20\n");
    write("n1.0.72", "30 30\n");
    write("n.0.1.73", "50 50\n");  // of a node with a point in its name
    write("n0.1.74", "80 10\n");
    write("n0.0", "80 10\n");
    write("n0.0.75", "none\n");
    fs::last_write_time(folder / "n0.1.74",
                        fs::file_time_type::clock::now() - std::chrono::minutes{1});
    const auto readings = SimulatedGpus::parse("2x2x80G", "host", folder.string())->read();
    REQUIRE(readings->size() == 4);
    CHECK(readings->at(2).utilization_percent == 90);
    CHECK(readings->at(2).memory_used.value == (80LL << 30) / 100 * 50);
    for (const std::size_t gpu : {0, 1, 3}) CHECK(readings->at(gpu).utilization_percent == -1);
    CHECK_FALSE(fs::exists(folder / "n0.1.74"));
    fs::remove_all(folder);
}
