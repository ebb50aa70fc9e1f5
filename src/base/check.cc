// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace berth::base {

void fail_check(const char* condition, const char* meaning, const char* file, int line) {
    std::fprintf(stderr, "berth: broken invariant: %s (%s) at %s:%d\n", meaning, condition, file,
                 line);
    std::abort();
}

}  // namespace berth::base
