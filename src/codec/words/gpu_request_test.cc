// SPDX-License-Identifier: Apache-2.0
#include "codec/words/gpu_request.h"

#include <doctest/doctest.h>

#include "base/rng.h"

using namespace berth;
using codec::format_gpu_request;
using codec::GpuRequest;
using codec::parse_gpu_request;

namespace {

GpuRequest request(int gpus, std::int64_t share, std::int64_t memory = 0, std::int64_t most = 0) {
    GpuRequest made;
    made.request.gpus = gpus;
    made.request.share = {share};
    made.request.gpu_memory = {memory};
    made.request.gpu_memory_max = {most};
    return made;
}

}  // namespace

TEST_CASE("each form of -g means what the help says") {
    CHECK(parse_gpu_request("2") == request(2, 1000));
    CHECK(parse_gpu_request("0") == request(0, 1000));
    CHECK(parse_gpu_request("1.0") == request(1, 1000));
    CHECK(parse_gpu_request("2.0") == request(2, 1000));
    CHECK(parse_gpu_request("0.5") == request(1, 500));
    CHECK(parse_gpu_request("2x0.5") == request(2, 500));
    CHECK(parse_gpu_request("12G") == request(1, 1000, 12LL << 30));
    CHECK(parse_gpu_request("1.5G") == request(1, 1000, 3LL << 29));
    CHECK(parse_gpu_request("2x12Gi") == request(2, 1000, 12LL << 30));
    CHECK(parse_gpu_request("0.5+12G") == request(1, 500, 12LL << 30));
    CHECK(parse_gpu_request("2x0.25+1.5G") == request(2, 250, 3LL << 29));
    CHECK(parse_gpu_request("12G..20G") == request(1, 1000, 12LL << 30, 20LL << 30));
    CHECK(parse_gpu_request("2x0.5+1.5G..2G") == request(2, 500, 3LL << 29, 2LL << 30));
    CHECK(parse_gpu_request("12G..12G") == request(1, 1000, 12LL << 30));
    GpuRequest elastic = request(1, 1000);
    elastic.tasks_min = 4;
    elastic.tasks_max = 16;
    CHECK(parse_gpu_request("4..16") == elastic);
    elastic.gpu_model = "A100";
    CHECK(parse_gpu_request("A100:4..16") == elastic);
    GpuRequest model = request(1, 1000);
    model.gpu_model = "H100";
    CHECK(parse_gpu_request("H100") == model);
    CHECK(parse_gpu_request("H100:1") == model);
    model.gpu_model = "1g.10gb";
    CHECK(parse_gpu_request("1g.10gb") == model);
    CHECK(parse_gpu_request("1g.10gb:1") == model);
    model.gpu_model = "4090";
    CHECK(parse_gpu_request("4090:1") == model);
    elastic.required = "rack";
    CHECK(parse_gpu_request("A100:4..16@rack") == elastic);
    model = request(8, 1000);
    model.required = "node";
    CHECK(parse_gpu_request("8@node") == model);
}

TEST_CASE("what is no request is refused with an example") {
    for (const char* text :
         {"",         "two",      "-1",    "1.5",    "0.0",     "0.0005",      "2x",
          "x2",       "2x1.5",    "0x0.5", "65",     "16..4",   "0..4",        "4..",
          "..4",      "4...16",   "H100:", ":2",     "0G",      "H100|A100:2", "H100:80G:4",
          "8@",       "1e3",      " 2",    "2 ",     "2x0.5x2", "99999999999", "12X",
          "0.5.5",    "0.5+",     "+12G",  "1+12G",  "12G+0.5", "0.5+2",       "12G+4G",
          "20G..12G", "12G..",    "..12G", "4..20G", "0G..4G",  "12G..20",     "@rack",
          "8@a@b",    "H100|A100"}) {
        CAPTURE(text);
        const auto refused = parse_gpu_request(text);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().message.find(text) != std::string::npos);
    }
    CHECK(parse_gpu_request("two").error().message ==
          "wanted GPUs such as 2, 0.5, 12G, 2x0.5, 4..16 or H100:2, found \"two\"");
}

TEST_CASE("a written request is read as the same request") {
    base::Rng rng(3);
    for (int round = 0; round < 5000; ++round) {
        GpuRequest made = request(static_cast<int>(rng.between(0, 64)), 1000);
        if (rng.chance(1, 3)) {
            made.request.gpus = static_cast<int>(rng.between(1, 64));
            made.request.share = {rng.between(1, 1000)};
        } else if (rng.chance(1, 2)) {
            made.request.gpus = static_cast<int>(rng.between(1, 64));
            made.request.gpu_memory = {rng.between(1, 1LL << 37)};
            if (rng.chance(1, 2)) made.request.share = {rng.between(1, 999)};
            if (rng.chance(1, 2))
                made.request.gpu_memory_max = {made.request.gpu_memory.value +
                                               rng.between(1, 1LL << 37)};
        } else if (rng.chance(1, 3)) {
            made.request.gpus = 1;
            made.tasks_min = static_cast<int>(rng.between(1, 9));
            made.tasks_max = static_cast<int>(rng.between(made.tasks_min, 99));
        }
        if (rng.chance(1, 2)) made.gpu_model = "H100";
        if (rng.chance(1, 3)) made.required = "rack";
        CAPTURE(format_gpu_request(made));
        REQUIRE(parse_gpu_request(format_gpu_request(made)) == made);
    }
}

TEST_CASE("the summary counts all tasks") {
    model::JobSpec spec;
    spec.request.gpus = 8;
    spec.tasks_min = spec.tasks_max = 2;
    spec.gpu_model = "H100";
    CHECK(codec::gpu_summary(spec) == "16 H100");
    spec.tasks_max = 4;
    CHECK(codec::gpu_summary(spec) == "16..32 H100");
    spec.companions.resize(3);
    spec.companions[1].request.gpus = 1;
    spec.companions[1].gpu_model = "T4";
    spec.companions[2].request = {.gpus = 1, .share = {500}};
    spec.companions[2].count = 4;
    CHECK(codec::gpu_summary(spec) == "16..32 H100 + 1 T4 + 4x0.5");
    spec = {};
    spec.request.share = {250};
    CHECK(codec::gpu_summary(spec) == "0.25");
    spec.tasks_min = spec.tasks_max = 2;
    CHECK(codec::gpu_summary(spec) == "2x0.25");
    spec = {};
    spec.request.gpu_memory = {12LL << 30};
    CHECK(codec::gpu_summary(spec) == "12G");
    spec.request.gpu_memory_max = {20LL << 30};
    CHECK(codec::gpu_summary(spec) == "12G..20G");
}
