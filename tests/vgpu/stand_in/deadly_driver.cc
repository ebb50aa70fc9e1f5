// SPDX-License-Identifier: Apache-2.0
//
// A driver that kills its own process by SIGKILL in a chosen call.
//
//   BERTH_DEADLY=cuMemAlloc_v2:enter:3   before the third call of that export does anything
//   BERTH_DEADLY=cuMemAlloc_v2:leave:1   after the first has been done, before its caller knows
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "vgpu/stand_in/behind.h"

extern "C" {
#pragma GCC visibility push(hidden)
unsigned berth_deadly_calls_left;
unsigned berth_deadly_leaves;  // 1: done first
void* berth_deadly_target;
void berth_deadly_call();
[[noreturn]] void berth_deadly_end();
#pragma GCC visibility pop
}

[[noreturn]] void berth_deadly_end() {
    while (true) ::syscall(SYS_kill, ::getpid(), SIGKILL);
}

// Arguments stay where they are: a call that is not yet due goes on to its target, and the one that
// is returns to its end in place of its caller.
asm(R"(
.text
.hidden berth_deadly_call
.globl berth_deadly_call
.type berth_deadly_call, @function
berth_deadly_call:
    lock decl berth_deadly_calls_left(%rip)
    jne 1f
    cmpl $0, berth_deadly_leaves(%rip)
    je 2f
    leaq 2f(%rip), %r11
    movq %r11, (%rsp)
1:  jmpq *berth_deadly_target(%rip)
2:  andq $-16, %rsp
    call berth_deadly_end
.size berth_deadly_call, .-berth_deadly_call
)");

namespace berth::stand_in {

void* in_place_of(const char* name) {
    void* const target = behind(name);
    const char* const asked = std::getenv("BERTH_DEADLY");
    if (asked == nullptr) return target;
    const std::string text = asked;
    const std::size_t point = text.find(':');
    if (text.substr(0, point) != name) return target;
    berth_deadly_leaves = text.compare(point, 7, ":leave:") == 0 ? 1 : 0;
    berth_deadly_calls_left = static_cast<unsigned>(std::stoul(text.substr(point + 7)));
    berth_deadly_target = target;
    return reinterpret_cast<void*>(berth_deadly_call);
}

}  // namespace berth::stand_in
