// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>

#include "vgpu/interposer/job.h"
#include "vgpu/interposer/kernels.h"

using namespace vgpu;

namespace {

// What each tenant's work took of the GPU, as the work itself knows it.
struct Done {
    std::atomic<std::uint64_t> ns[4];
    std::atomic<int> ready;
    std::atomic<int> launched;
    std::atomic<std::int64_t> starved;  // ns
    std::atomic<std::int64_t> took;     // ns
};

Done& shared_done() {
    static void* at =
        ::mmap(nullptr, sizeof(Done), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    auto& done = *static_cast<Done*>(at);
    for (auto& ns : done.ns) ns = 0;
    done.ready = 0;
    done.launched = 0;
    done.starved = 0;
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

// `count` short kernels, and behind them a long one in a stream of its own.
Prepare behind(std::uint64_t short_ns, std::uint64_t count, std::uint64_t long_ns) {
    return [=](const Cuda& cuda) -> Launch {
        const Launch launch_long = kernels(long_ns)(cuda);
        const Launch launch_short = kernels(short_ns)(cuda);
        auto* const record = CUDA(cuEventRecord);
        auto* const follow = CUDA(cuStreamWaitEvent);
        auto* const wait = CUDA(cuStreamSynchronize);
        CUstream own = nullptr;
        CUevent last = nullptr;
        MUST(CUDA(cuStreamCreate)(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
        MUST(CUDA(cuEventCreate)(&last, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS);
        return [=](const Cuda& driver, CUstream stream) {
            for (std::uint64_t index = 0; index < count; ++index) launch_short(driver, stream);
            MUST(record(last, stream) == CUDA_SUCCESS);
            MUST(follow(own, last, 0) == CUDA_SUCCESS);
            launch_long(driver, own);
            MUST(wait(own) == CUDA_SUCCESS);
            return count * short_ns + long_ns;
        };
    };
}

// Works for `ms` once all `processes` are ready, a few pieces ahead; counts what has ended.
void work(const GpuNode& node, Done& done, int tenant, int processes, long ms,
          const Prepare& prepare) {
    node.be("tenant-" + std::to_string(tenant));
    const Cuda cuda;
    cuda.use_device();
    const Launch launch = prepare(cuda);
    CUstream stream = nullptr;
    MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    ++done.ready;
    MUST(eventually([&] { return done.ready == processes; }));
    const std::int64_t starved = starved_ns(::getpid());
    const std::int64_t begin = now_ns();
    const std::int64_t end = begin + ms * 1'000'000;
    while (now_ns() < end) {
        std::uint64_t launched = 0;
        for (int ahead = 0; ahead < 8; ++ahead) launched += launch(cuda, stream);
        MUST(CUDA(cuStreamSynchronize)(stream) == CUDA_SUCCESS);
        done.ns[tenant] += launched;
    }
    done.starved += starved_ns(::getpid()) - starved;
    done.took = now_ns() - begin;
}

struct Part {
    std::string terms;
    Prepare prepare;
    int processes = 1;
};

struct Measured {
    double part = 0;  // the first one's, of what was done
    bool is_busy = false;  // the machine, with other things
};

// Lets them all work for two seconds.
Measured measure(const std::vector<Part>& parts) {
    const GpuNode node("");
    Done& done = shared_done();
    std::vector<int> tenants;  // of each process
    for (const Part& part : parts) {
        const int tenant = static_cast<int>(&part - parts.data());
        node.tenant("tenant-" + std::to_string(tenant), part.terms);
        tenants.insert(tenants.end(), static_cast<std::size_t>(part.processes), tenant);
    }
    const std::int64_t starved = starved_ns(node.arbiter());
    std::vector<pid_t> children;
    for (const int tenant : tenants)
        children.push_back(start([&, tenant] {
            work(node, done, tenant, static_cast<int>(tenants.size()), 2000,
                 parts[static_cast<std::size_t>(tenant)].prepare);
            return 0;
        }));
    for (const pid_t child : children) succeeds(end_of(child));
    std::uint64_t all = 0;
    for (const auto& ns : done.ns) all += ns;
    const std::int64_t all_starved = done.starved + starved_ns(node.arbiter()) - starved;
    return {static_cast<double>(done.ns[0]) / static_cast<double>(all),
            is_too_busy(all_starved, 2'000'000'000)};
}

// Whether the first one gets its part. A share unused is lost, so a measurement says nothing where
// the machine did other things: then tests of windows.h in virtual time have to do.
bool has_part(const std::vector<Part>& parts, const doctest::Approx& wanted) {
    bool was_quiet = false;
    for (int tries = 0; tries < 3; ++tries) {
        const Measured measured = measure(parts);
        if (measured.part == wanted) return true;
        MESSAGE("part ", measured.part, measured.is_busy ? " on a busy machine" : "");
        was_quiet = was_quiet || !measured.is_busy;
    }
    return !was_quiet;
}

// A tenant that may use a thousandth of the GPU's time and launches 20 ms at a time for ever: it is
// let launch some of that, and then waits for minutes.
class Capped {
  public:
    explicit Capped(const Prepare& prepare) : done_(shared_done()) {
        node.tenant("job", "cap=0.001");
        child_ = start([&] {
            node.be("job");
            const Cuda cuda;
            cuda.use_device();
            const Launch launch = prepare(cuda);
            CUstream stream = nullptr;
            MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
            for (;; ++done_.launched) launch(cuda, stream);
            return 0;
        });
    }
    ~Capped() {
        ::kill(child_, SIGKILL);
        CHECK(end_of(child_) == 128 + SIGKILL);
    }
    Capped(const Capped&) = delete;
    Capped& operator=(const Capped&) = delete;

    bool waits() const {
        return eventually(
                   [&] { return launched() > 0 && node.status("job", "waiting") == "yes"; }) &&
               launched() <= 8;
    }
    int launched() const { return done_.launched; }

    GpuNode node{""};

  private:
    Done& done_;
    pid_t child_ = 0;
};

}  // namespace

TEST_CASE("two jobs that launch kernels get the GPU's time by their shares") {
    CHECK(has_part({{"share=0.75", kernels(200'000)}, {"share=0.25", kernels(200'000)}},
                   doctest::Approx(0.75).epsilon(0.07)));
}

TEST_CASE("short kernels and long ones share evenly") {
    CHECK(has_part({{"share=0.5", kernels(50'000)}, {"share=0.5", kernels(5'000'000)}},
                   doctest::Approx(0.5).epsilon(0.1)));
}

TEST_CASE("a tenant gets its share however many processes it has") {
    CHECK(has_part({{"share=0.5", kernels(1'000'000), 4}, {"share=0.5", kernels(1'000'000)}},
                   doctest::Approx(0.5).epsilon(0.07)));
}

TEST_CASE("a long kernel behind short ones of another stream is charged as long as it is") {
    CHECK(has_part({{"share=0.2", behind(20'000, 50, 4'000'000)}, {"share=0.8", kernels(200'000)}},
                   doctest::Approx(0.2).epsilon(0.05)));
}

TEST_CASE("no launch waits for what another stream does") {
    const GpuNode node("");
    Done& done = shared_done();
    node.tenant("job", "cap=0.9");
    const pid_t child = start([&] {
        node.be("job");
        const Cuda cuda;
        cuda.use_device();
        const Launch launch_long = kernels(1'000'000'000)(cuda);
        const Launch launch_short = kernels(50'000)(cuda);
        CUstream streams[2] = {};
        for (CUstream& stream : streams)
            MUST(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
        launch_long(cuda, streams[0]);
        while (CUDA(cuStreamQuery)(streams[0]) == CUDA_ERROR_NOT_READY) {
            launch_short(cuda, streams[1]);
            ++done.launched;
        }
        return 0;
    });
    succeeds(end_of(child));
    CHECK(done.launched > 500);  // of 20,000
}

TEST_CASE("graphs are launched in turn as kernels are") {
    CHECK(has_part({{"share=0.5", graphs(200'000, 10)}, {"share=0.5", kernels(200'000)}},
                   doctest::Approx(0.5).epsilon(0.1)));
}

TEST_CASE(
    "a tenant over its cap waits with a launch of any kind, and captures one without waiting") {
    CHECK(Capped(kernels(20'000'000)).waits());
    CHECK(Capped(kernels(20'000'000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)).waits());
    CHECK(Capped(kept_kernels(20'000'000)).waits());
    CHECK(Capped(graphs(200'000, 100)).waits());
}

TEST_CASE("a cap is not passed even where no other tenant works") {
    const GpuNode node("");
    Done& done = shared_done();
    node.tenant("tenant-0", "cap=0.2");
    const pid_t child = start([&] {
        work(node, done, 0, 1, 2000, kernels(200'000));
        return 0;
    });
    succeeds(end_of(child));
    const double used = static_cast<double>(done.ns[0]) / static_cast<double>(done.took);
    CHECK(used <= 0.21);
    CHECK(used > 0);
}

TEST_CASE("the death of the arbiter holds no launch back") {
    Capped job(kernels(20'000'000));
    REQUIRE(job.waits());
    job.node.kill_arbiter();
    const int before = job.launched();
    CHECK(eventually([&] { return job.launched() > before + 20; }));
    job.node.start_arbiter();
}
