// SPDX-License-Identifier: Apache-2.0
#include "app/berth/dashboard.h"

#ifdef BERTH_PAGES

// A file becomes a part of the program without becoming an array in a source.
__asm__(
    ".pushsection .rodata\n"
    ".hidden berth_pages_begin\n"
    ".hidden berth_pages_end\n"
    ".globl berth_pages_begin\n"
    ".globl berth_pages_end\n"
    "berth_pages_begin:\n"
    ".incbin \"" BERTH_PAGES
    "\"\n"
    "berth_pages_end:\n"
    ".popsection\n");

extern "C" {
extern const char berth_pages_begin[];  // NOLINT(readability-identifier-naming)
extern const char berth_pages_end[];    // NOLINT(readability-identifier-naming)
}

namespace berth::app {

std::string_view packed_dashboard() { return {berth_pages_begin, berth_pages_end}; }

}  // namespace berth::app

#else

namespace berth::app {

std::string_view packed_dashboard() { return {}; }

}  // namespace berth::app

#endif
