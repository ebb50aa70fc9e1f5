// SPDX-License-Identifier: Apache-2.0
#include "vgpu/interposer/driver/calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/interposer/complain.h"

// As many as there are names that programs look up, several times over; each sets the word and goes
// on to its target without touching an argument. They lie kThunkBytes apart.
asm(R"(
.text
.hidden berth_driver_called
.hidden berth_thunk_targets
.hidden berth_thunks
.globl berth_thunks
.p2align 5
berth_thunks:
.set berth_thunk, 0
.rept 2048
.p2align 5
)"
#if defined(__aarch64__)
    R"(
    adrp x16, berth_driver_called
    ldr x16, [x16, #:lo12:berth_driver_called]
    mov w17, #1
    str w17, [x16]
    adrp x16, berth_thunk_targets+8*berth_thunk
    ldr x16, [x16, #:lo12:berth_thunk_targets+8*berth_thunk]
    br x16
)"
#else
    R"(
    movq berth_driver_called(%rip), %r11
    movl $1, (%r11)
    jmpq *berth_thunk_targets+8*berth_thunk(%rip)
)"
#endif
    R"(
.set berth_thunk, berth_thunk+1
.endr
)");

namespace berth::vgpu::interposer {
namespace {

constexpr std::size_t kThunks = 2048;
constexpr std::size_t kThunkBytes = 32;

}  // namespace
}  // namespace berth::vgpu::interposer

extern "C" {
__attribute__((visibility("hidden"))) extern char berth_thunks[];
__attribute__((visibility("hidden"))) void* berth_thunk_targets[2048];
}

namespace berth::vgpu::interposer {
namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
std::size_t thunk_count = 0;
unsigned nobodys = 0;

bool parks() {
    const char* said = ::getenv("BERTH_VGPU_PARKS");
    return said != nullptr && ::strcmp(said, "1") == 0;
}

}  // namespace

void note_calls_in(std::atomic<std::uint32_t>* word) {
    static_assert(sizeof *word == sizeof nobodys);
    unsigned* at = word == nullptr ? &nobodys : reinterpret_cast<unsigned*>(word);
    __atomic_store_n(&berth_driver_called, at, __ATOMIC_RELEASE);
}

void* noting(void* function) {
    if (!parks()) return function;
    ::pthread_mutex_lock(&lock);
    std::size_t thunk = 0;
    while (thunk < thunk_count && berth_thunk_targets[thunk] != function) ++thunk;
    if (thunk == thunk_count && thunk_count < kThunks) {
        berth_thunk_targets[thunk_count++] = function;
    }
    ::pthread_mutex_unlock(&lock);
    if (thunk < kThunks) return berth_thunks + thunk * kThunkBytes;
    complain("more functions of the driver are looked up than calls can be noted of");
    return function;
}

}  // namespace berth::vgpu::interposer
