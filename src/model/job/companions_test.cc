// SPDX-License-Identifier: Apache-2.0
#include "model/job/companions.h"

#include <doctest/doctest.h>

#include "model/limits.h"

namespace {

namespace model = berth::model;
using berth::base::Bytes;
using berth::model::Companion;
using berth::model::JobSpec;
using berth::model::MilliCpu;

Companion kind(std::string name, int count = 1) {
    Companion companion;
    companion.name = std::move(name);
    companion.count = count;
    return companion;
}

std::string problem(std::vector<Companion> companions) {
    JobSpec spec;
    spec.companions = std::move(companions);
    const auto status = model::check_limits(spec);
    return status ? "" : status.error().message;
}

TEST_CASE("the ranks of companions follow those of the tasks, kind by kind") {
    JobSpec spec;
    spec.tasks_min = 2;
    spec.tasks_max = 4;
    CHECK(model::companions(spec) == 0);
    CHECK(model::companion_of(spec, 4) == nullptr);
    spec.companions = {kind("driver"), kind("proxy", 2)};
    spec.companions[0].request.cpu = MilliCpu{4000};
    CHECK(model::companions(spec) == 3);
    CHECK(model::companion_of(spec, 3) == nullptr);
    CHECK(model::companion_of(spec, 4)->name == "driver");
    CHECK(model::companion_of(spec, 5)->name == "proxy");
    CHECK(model::companion_of(spec, 6)->name == "proxy");
    CHECK(model::companion_of(spec, 7) == nullptr);
    CHECK(model::request_of(spec, 3) == spec.request);
    CHECK(model::request_of(spec, 4) == spec.companions[0].request);
}

TEST_CASE("what a companion asks is said with its units") {
    model::TaskRequest request{.gpus = 0};
    CHECK(model::format_request(request) == "nothing that is counted");
    request.cpu = MilliCpu{1000};
    CHECK(model::format_request(request) == "1 CPU");
    request.memory = Bytes{std::int64_t{16} << 30};
    CHECK(model::format_request(request) == "1 CPU and 16G of memory");
    request.resources = {{"rdma/hca", 2}};
    CHECK(model::format_request(request) == "1 CPU, 16G of memory and 2 rdma/hca");
}

TEST_CASE("GPUs that a companion asks come first, with their model") {
    model::TaskRequest request{.gpus = 1};
    CHECK(model::format_request(request) == "1 GPU");
    CHECK(model::format_request(request, "T4") == "1 T4 GPU");
    request.cpu = MilliCpu{4000};
    request.gpus = 2;
    CHECK(model::format_request(request, "T4") == "2 T4 GPUs and 4 CPUs");
    request.share = {500};
    CHECK(model::format_request(request) == "0.5 of each of 2 GPUs and 4 CPUs");
    request.gpus = 1;
    CHECK(model::format_request(request, "T4") == "0.5 of a T4 GPU and 4 CPUs");
}

TEST_CASE("companions ask for GPUs beside tasks that do") {
    JobSpec spec;
    spec.companions = {kind("a"), kind("b")};
    CHECK(!model::has_two_gpu_requests(spec));
    spec.companions[1].request.gpus = 1;
    spec.companions[1].gpu_model = "T4";
    CHECK(model::check_limits(spec));
    CHECK(model::has_two_gpu_requests(spec));
    spec.request.gpus = 0;
    CHECK(model::check_limits(spec).error().message ==
          "companions: \"b\": asks for GPUs and the tasks of the job for none; make these the "
          "tasks");
    Companion of_no_gpu = kind("a");
    of_no_gpu.gpu_model = "T4";
    CHECK(problem({of_no_gpu}) == "companions: \"a\": names a GPU model and asks for no GPU");
    Companion by_memory = kind("a");
    by_memory.request.gpus = 1;
    by_memory.request.gpu_memory = Bytes{1'000};
    CHECK(problem({by_memory}) ==
          "companions: \"a\": a companion asks for whole GPUs or a share of one, not for memory "
          "of a GPU");
}

TEST_CASE("companions have names of their own, and are few") {
    CHECK(problem({kind("driver"), kind("proxy", 1'023)}).empty());
    CHECK(problem({kind("")}) == "companions: wanted a name, found nothing");
    CHECK(problem({kind("a"), kind("a")}) == "companions: \"a\": another kind has the same name");
    CHECK(problem({kind("a", 0)}) == "companions: \"a\": wanted a count of 1 or more, found 0");
    CHECK(problem({kind("a", 1'000), kind("b", 25)}) ==
          "companions: wanted at most 1024 in all, found 1025");
    CHECK(problem(std::vector<Companion>(9)) == "companions: wanted at most 8 kinds, found 9");
    Companion too_large = kind("a");
    too_large.request.cpu = MilliCpu{-1};
    CHECK(problem({too_large}).starts_with("companions: \"a\": cpu: wanted"));
}

}  // namespace
