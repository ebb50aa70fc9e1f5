// SPDX-License-Identifier: Apache-2.0
//
// A thread that waits for room in its share holds up no other thread of its process: what that
// frees may be the room.
#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "vgpu/interposer/job.h"
#include "vgpu/ledger/gate.h"
#include "vgpu/ledger/stay.h"

using namespace vgpu;
using namespace berth::vgpu;

namespace {

constexpr std::uint64_t kBorrowed = 1700 * kMiB;

// Its owner was promised half of a GPU that a borrower uses; none of it is left.
struct Lent {
    GpuNode node{"memory=64M"};
    ledger::Membership borrower;
    ledger::Membership owner;
    int supervisor = -1;  // of the borrower, which does not leave

    Lent() {
        const std::string gpu = " gpus=" + GpuNode::uuid(0);
        node.order("tenant borrower" + gpu + ":128M..1900M/2048M");
        node.order("tenant owner" + gpu + ":1024M context=64M");
        node.be("owner");
        borrower = node.join("borrower");
        owner = node.join("owner");
        REQUIRE(eventually([&] {
            return (supervisor = ledger::connect_supervisor(node.socket_of("borrower"))) >= 0;
        }));
        REQUIRE(ledger::report_stay(supervisor, {}));
        const ledger::Place place = borrower.place(0);
        REQUIRE(eventually([&] {
            const std::uint32_t answers = place.terms->answers;
            if (ledger::charge(place, kBorrowed)) return true;
            ledger::wait_for_room(borrower, 0, kBorrowed, answers, 100);
            return false;
        }));
    }
    ~Lent() { ::close(supervisor); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    void take_what_is_left() const {
        const ledger::Place place = owner.place(0);
        const std::uint64_t limit = place.terms->limit_bytes;
        const std::uint64_t charged = ledger::charged(place);
        REQUIRE(charged <= limit);
        ledger::charge_regardless(place, limit - charged);
    }
    bool does_a_thread_wait() const {
        const auto& slots = owner.account->lines[0].slots;
        return std::any_of(std::begin(slots), std::end(slots),
                           [](const ledger::Slot& slot) { return slot.asked != 0; });
    }
    void return_what_was_lent() const {
        ledger::give_back(borrower.place(0), kBorrowed);
        REQUIRE(ledger::report_stay(supervisor,
                                    {static_cast<std::uint32_t>(ledger::Stay::away), 0, 0}));
    }
};

// Two ends that tell each other how far they are.
struct Signal {
    Signal() { REQUIRE(::pipe(ends) == 0); }
    ~Signal() {
        ::close(ends[0]);
        ::close(ends[1]);
    }
    void give() const { MUST(::write(ends[1], "!", 1) == 1); }
    bool comes_within(int ms) const {
        pollfd question{ends[0], POLLIN, 0};
        char mark = 0;
        return ::poll(&question, 1, ms) == 1 && ::read(ends[0], &mark, 1) == 1;
    }
    int ends[2] = {-1, -1};
};

constexpr int kPatienceMs = kPatience / 1'000'000;

// What a program has, of each kind.
struct Held {
    explicit Held(const Cuda& cuda) {
        MUST(CUDA(cuInit)(0) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxCreate_v4)(&spare, nullptr, 0, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuCtxCreate_v4)(&context, nullptr, 0, 0) == CUDA_SUCCESS);
        MUST(CUDA(cuMemAllocAsync)(&of_pool, 1 * kMiB, nullptr) == CUDA_SUCCESS);
        MUST(CUDA(cuMemCreate)(&handle, 2 * kMiB, &prop, 0) == CUDA_SUCCESS);
        for (CUdeviceptr& one : small) MUST(CUDA(cuMemAlloc_v2)(&one, 1 * kMiB) == CUDA_SUCCESS);
    }

    CUmemAllocationProp prop = [] {
        CUmemAllocationProp made{};
        made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        made.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
        return made;
    }();
    CUcontext spare = nullptr;
    CUcontext context = nullptr;
    CUdeviceptr of_pool = 0;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr small[2] = {};
};

using Deed = void (*)(const Cuda&, const Held&);

// Whether another thread makes its step while one waits in `ask`.
bool goes_on(Deed ask, Deed step) {
    const Lent lent;
    const Signal is_ready;
    const Signal go;
    const Signal is_done;
    const pid_t child = start([&] {
        const Cuda cuda;
        const Held held(cuda);
        is_ready.give();
        MUST(go.comes_within(kPatienceMs));
        std::thread asker([&] {
            MUST(CUDA(cuCtxSetCurrent)(held.context) == CUDA_SUCCESS);
            ask(cuda, held);
        });
        MUST(go.comes_within(kPatienceMs));
        step(cuda, held);
        is_done.give();
        asker.join();
        return 0;
    });
    REQUIRE(is_ready.comes_within(kPatienceMs));
    lent.take_what_is_left();
    go.give();
    REQUIRE(eventually([&] { return lent.does_a_thread_wait(); }));
    go.give();
    const bool went_on = is_done.comes_within(kPatienceMs);
    lent.return_what_was_lent();
    succeeds(end_of(child));
    return went_on;
}

}  // namespace

TEST_CASE("while a thread waits for a pool to grow, another gives back to that pool") {
    const Deed ask = [](const Cuda& cuda, const Held&) {
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAllocAsync)(&pointer, 400 * kMiB, nullptr) == CUDA_SUCCESS);
    };
    CHECK(goes_on(ask, [](const Cuda& cuda, const Held& held) {
        MUST(CUDA(cuMemFree_v2)(held.of_pool) == CUDA_SUCCESS);
    }));
}

TEST_CASE("while a thread waits for physical memory, another releases some") {
    const Deed ask = [](const Cuda& cuda, const Held& held) {
        CUmemGenericAllocationHandle handle = 0;
        MUST(CUDA(cuMemCreate)(&handle, 400 * kMiB, &held.prop, 0) == CUDA_SUCCESS);
    };
    CHECK(goes_on(ask, [](const Cuda& cuda, const Held& held) {
        MUST(CUDA(cuMemRelease)(held.handle) == CUDA_SUCCESS);
    }));
}

TEST_CASE("while a thread waits for a page of small pieces, another frees such a piece") {
    const Deed ask = [](const Cuda& cuda, const Held&) {
        CUdeviceptr pointer = 0;
        MUST(CUDA(cuMemAlloc_v2)(&pointer, 1 * kMiB) == CUDA_SUCCESS);
    };
    CHECK(goes_on(ask, [](const Cuda& cuda, const Held& held) {
        MUST(CUDA(cuMemFree_v2)(held.small[0]) == CUDA_SUCCESS);
    }));
}

TEST_CASE("while a thread waits for the memory of a context, another destroys one") {
    const Deed ask = [](const Cuda& cuda, const Held&) {
        CUcontext primary = nullptr;
        MUST(CUDA(cuDevicePrimaryCtxRetain)(&primary, 0) == CUDA_SUCCESS);
    };
    CHECK(goes_on(ask, [](const Cuda& cuda, const Held& held) {
        MUST(CUDA(cuCtxDestroy_v2)(held.spare) == CUDA_SUCCESS);
    }));
}
