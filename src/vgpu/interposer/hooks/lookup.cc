// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/hooks/lookup.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <atomic>

#include "vgpu/interposer/complain.h"
#include "vgpu/interposer/driver/trampolines.h"
#include "vgpu/interposer/hooks/report.h"
#include "vgpu/interposer/process/charged_call.h"

namespace berth::vgpu::interposer {
namespace {

template <class Function>
void* address(Function* function) {
    return reinterpret_cast<void*>(function);
}

#define BERTH_HOOK(exported, asked, since, is_twin) \
    {#exported, #asked, since, is_twin != 0, address(&::exported)},
const Hook hooks[] = {BERTH_DRIVER_HOOKS(BERTH_HOOK)};
#undef BERTH_HOOK
constexpr std::size_t kHooks = sizeof hooks / sizeof hooks[0];

struct Pair {
    void* real = nullptr;
    void* hook = nullptr;
};
Pair pairs[kHooks];  // by real
pthread_once_t paired = PTHREAD_ONCE_INIT;

void pair() {
    for (std::size_t index = 0; index < kHooks; ++index)
        pairs[index] = {real_function(hooks[index].exported), hooks[index].function};
    std::sort(std::begin(pairs), std::end(pairs),
              [](const Pair& one, const Pair& other) { return one.real < other.real; });
}

void* by_answer(void* answer) {
    ::pthread_once(&paired, pair);
    const Pair* found =
        std::lower_bound(std::begin(pairs), std::end(pairs), answer,
                         [](const Pair& pair, void* real) { return pair.real < real; });
    return found != std::end(pairs) && found->real == answer ? found->hook : nullptr;
}

// A driver may answer with another address than the one it exports.
const Hook* by_name(const char* symbol, int version, bool per_thread) {
    const Hook* best = nullptr;
    for (const Hook& hook : hooks) {
        if (::strcmp(hook.asked, symbol) != 0 || hook.since > version) continue;
        if (hook.per_thread && !per_thread) continue;
        const bool fits_better = best == nullptr || hook.per_thread > best->per_thread ||
                                 (hook.per_thread == best->per_thread && hook.since > best->since);
        if (fits_better) best = &hook;
    }
    return best;
}

bool is_exported(const char* symbol) {
    const auto end = berth_driver_names + berth_driver_count;
    return std::binary_search(
        berth_driver_names, end, symbol,
        [](const char* one, const char* other) { return ::strcmp(one, other) < 0; });
}

// NVIDIA's runtime of 13.5 looks them up at each start; no header declares them.
bool is_asked_by_habit(const char* symbol) { return ::strncmp(symbol, "cuSubgrid", 9) == 0; }

bool has_share() {
    const char* socket = ::getenv("BERTH_VGPU_SOCKET");
    return socket != nullptr && socket[0] != 0;
}

std::atomic<std::uint64_t> refused{0};

// One line for a process.
void say_refused(const char* symbol, int version) {
    static std::atomic<bool> is_said{false};
    if (is_asked_by_habit(symbol) || is_said.exchange(true)) return;
    complain(
        "the driver has %s (CUDA %d.%d), newer than the CUDA %d.%d that this Berth can count: in a "
        "share of a GPU programs do not get it; if one needs it, take whole GPUs or a newer Berth",
        symbol, version / 1000, version % 1000 / 10, kKnownVersion / 1000,
        kKnownVersion % 1000 / 10);
}

bool is_per_thread(cuuint64_t flags) {
    return (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
}

// Puts what the program gets in place of what the driver answered to `call`.
template <class Call>
CUresult look_up(Call call, const char* symbol, void** function, int version, cuuint64_t flags,
                 CUdriverProcAddressQueryResult* status = nullptr) {
    const CUresult result = call();
    if (result != CUDA_SUCCESS || symbol == nullptr || function == nullptr || *function == nullptr)
        return result;
    const Known known = known_of(symbol, *function, version, is_per_thread(flags));
    if (known.is_known || !has_share()) {
        *function = known.hook != nullptr ? known.hook : noting(*function);
        return CUDA_SUCCESS;
    }
    ++refused;
    say_refused(symbol, version);
    *function = nullptr;
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_ERROR_NOT_FOUND;
}

}  // namespace

Known known_of(const char* symbol, void* answer, int version, bool per_thread) {
    if (void* hook = by_answer(answer)) return {true, hook};
    const Hook* hook = by_name(symbol, version, per_thread);
    if (hook == nullptr) return {symbol[0] == 0 || is_exported(symbol), nullptr};
    if (version > kKnownVersion) return {false, nullptr};
    return {true, hook->function};
}

}  // namespace berth::vgpu::interposer

using namespace berth::vgpu::interposer;

#include "vgpu/interposer/generated/lookup_hooks.inc"

BerthVgpuReport berth_vgpu_report() {
    BerthVgpuReport report{};
    report.is_tenant = is_tenant() ? 1 : 0;
    report.refused = refused;
    return report;
}
