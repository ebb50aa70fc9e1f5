// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <sys/mman.h>

#include <atomic>

#include "vgpu/interposer/job.h"
#include "vgpu/interposer/kernels.h"

using namespace vgpu;

namespace {

// What each tenant's work took of the GPU, as the work itself knows it.
struct Done {
    std::atomic<std::uint64_t> ns[4];
    std::atomic<int> ready;
};

Done& shared_done() {
    static void* at =
        ::mmap(nullptr, sizeof(Done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    auto& done = *static_cast<Done*>(at);
    for (auto& ns : done.ns) ns = 0;
    done.ready = 0;
    return done;
}

// Launches one piece of work on a stream; returns what it takes.
using Launch = std::function<std::uint64_t(const Cuda&, CUstream)>;
using Prepare = std::function<Launch(const Cuda&)>;

Prepare kernels(std::uint64_t ns, cuuint64_t flags = 0) {
    return [ns, flags](const Cuda& cuda) -> Launch {
        const CUfunction spin = load_spin(cuda);
        auto* const launch = cuda.get<decltype(cuLaunchKernel)>("cuLaunchKernel", 12080, flags);
        return [ns, spin, launch](const Cuda&, CUstream stream) {
            std::uint64_t length = ns;
            void* parameters[] = {&length};
            MUST(launch(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr) == CUDA_SUCCESS);
            return length;
        };
    };
}

// By the calls of before CUDA 4.0.
Prepare kept_kernels(std::uint64_t ns) {
    return [ns](const Cuda& cuda) -> Launch {
        const CUfunction spin = load_spin(cuda);
        std::uint64_t length = ns;
        MUST(CUDA(cuFuncSetBlockShape)(spin, 1, 1, 1) == CUDA_SUCCESS);
        MUST(CUDA(cuParamSetSize)(spin, sizeof(length)) == CUDA_SUCCESS);
        MUST(CUDA(cuParamSetv)(spin, 0, &length, sizeof(length)) == CUDA_SUCCESS);
        auto* const launch = CUDA(cuLaunchGridAsync);
        return [ns, spin, launch](const Cuda&, CUstream stream) {
            MUST(launch(spin, 1, 1, stream) == CUDA_SUCCESS);
            return ns;
        };
    };
}

// A graph of `count` kernels, captured from a stream.
Prepare graphs(std::uint64_t ns, int count) {
    return [ns, count](const Cuda& cuda) -> Launch {
        const Launch launch = kernels(ns)(cuda);
        auto* const launch_graph = CUDA(cuGraphLaunch);
        CUstream stream = nullptr;
        CUgraph graph = nullptr;
        CUgraphExec exec = nullptr;
        MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
        MUST(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
        for (int index = 0; index < count; ++index) launch(cuda, stream);
        MUST(CUDA(cuStreamEndCapture)(stream, &graph) == CUDA_SUCCESS);
        MUST(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0) == CUDA_SUCCESS);
        return [ns, count, exec, launch_graph](const Cuda&, CUstream on) {
            MUST(launch_graph(exec, on) == CUDA_SUCCESS);
            return ns * static_cast<std::uint64_t>(count);
        };
    };
}

// Works for `ms` once all `tenants` are ready, a few pieces ahead; counts what has ended.
void work(const GpuNode& node, Done& done, int tenant, int tenants, long ms,
          const Prepare& prepare) {
    node.be("tenant-" + std::to_string(tenant));
    const Cuda cuda;
    cuda.use_device();
    const Launch launch = prepare(cuda);
    CUstream stream = nullptr;
    MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    ++done.ready;
    MUST(eventually([&] { return done.ready == tenants; }));
    const std::int64_t end = now_ns() + ms * 1'000'000;
    while (now_ns() < end) {
        std::uint64_t launched = 0;
        for (int ahead = 0; ahead < 8; ++ahead) launched += launch(cuda, stream);
        MUST(CUDA(cuStreamSynchronize)(stream) == CUDA_SUCCESS);
        done.ns[tenant] += launched;
    }
}

struct Part {
    std::string terms;
    Prepare prepare;
};

// Lets them all work for two seconds; returns the first one's part of what was done.
double measured_part(const std::vector<Part>& parts) {
    const GpuNode node("");
    Done& done = shared_done();
    const int count = static_cast<int>(parts.size());
    for (int tenant = 0; tenant < count; ++tenant)
        node.tenant("tenant-" + std::to_string(tenant),
                    parts[static_cast<std::size_t>(tenant)].terms);
    std::vector<pid_t> children;
    for (int tenant = 0; tenant < count; ++tenant)
        children.push_back(start([&, tenant] {
            work(node, done, tenant, count, 2000, parts[static_cast<std::size_t>(tenant)].prepare);
            return 0;
        }));
    for (const pid_t child : children) succeeds(end_of(child));
    std::uint64_t all = 0;
    for (const auto& ns : done.ns) all += ns;
    CHECK(all > 100'000'000);
    return static_cast<double>(done.ns[0]) / static_cast<double>(all);
}

// The same. A machine that does other things as well spoils a measurement, but not three in a row.
double first_part(const std::vector<Part>& parts, const doctest::Approx& wanted) {
    double part = measured_part(parts);
    for (int again = 0; again < 2 && part != wanted; ++again) part = measured_part(parts);
    return part;
}

}  // namespace

TEST_CASE("two jobs that launch kernels get the GPU's time by their shares") {
    const auto wanted = doctest::Approx(0.75).epsilon(0.07);
    CHECK(first_part({{"share=0.75", kernels(200'000)}, {"share=0.25", kernels(200'000)}},
                     wanted) == wanted);
}

TEST_CASE("short kernels and long ones share evenly") {
    const auto wanted = doctest::Approx(0.5).epsilon(0.1);
    CHECK(first_part({{"share=0.5", kernels(50'000)}, {"share=0.5", kernels(5'000'000)}}, wanted) ==
          wanted);
}

TEST_CASE("graphs are launched in turn as kernels are, and capturing waits for nobody") {
    const auto wanted = doctest::Approx(0.5).epsilon(0.1);
    CHECK(first_part({{"share=0.5", graphs(200'000, 10)}, {"share=0.5", kernels(200'000)}},
                     wanted) == wanted);
}

TEST_CASE("launches on per-thread default streams are gated as well") {
    const auto per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const auto wanted = doctest::Approx(0.25).epsilon(0.2);
    CHECK(
        first_part({{"share=0.25", kernels(200'000, per_thread)}, {"share=0.75", kernels(200'000)}},
                   wanted) == wanted);
}

TEST_CASE("launches whose arguments are kept with the function are gated as well") {
    const auto wanted = doctest::Approx(0.25).epsilon(0.2);
    CHECK(first_part({{"share=0.25", kept_kernels(200'000)}, {"share=0.75", kernels(200'000)}},
                     wanted) == wanted);
}

TEST_CASE("a cap is not passed even where nobody else works") {
    const GpuNode node("");
    Done& done = shared_done();
    node.tenant("tenant-0", "cap=0.2");
    const pid_t child = start([&] {
        work(node, done, 0, 1, 2000, kernels(200'000));
        return 0;
    });
    succeeds(end_of(child));
    const double used = static_cast<double>(done.ns[0]) / 2e9;
    CHECK(used <= 0.21);
    CHECK(used >= 0.01);  // of a machine that does other things as well
}

TEST_CASE("the death of the arbiter holds nobody back") {
    GpuNode node("");
    Done& done = shared_done();
    node.tenant("tenant-0", "cap=0.1");
    const pid_t child = start([&] {
        work(node, done, 0, 1, 2000, kernels(200'000));
        return 0;
    });
    REQUIRE(eventually([&] { return done.ns[0] > 0; }));
    node.kill_arbiter();
    succeeds(end_of(child));
    CHECK(done.ns[0] > 250'000'000);  // more than its cap is of two seconds
    node.start_arbiter();
}
