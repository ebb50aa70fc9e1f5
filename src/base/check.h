// SPDX-License-Identifier: Apache-2.0
//
// What happens when our own code is wrong: BERTH_CHECK(condition, "what must hold").
// It stays on in release builds. It guards invariants of our own making and is never used for
// input: bad input is an Error (result.h), a refused job is a Verdict (model/answer/verdict.h).
#pragma once

namespace berth::base {

// Prints the failed condition with its place to standard error and aborts the process.
[[noreturn]] void fail_check(const char* condition, const char* meaning, const char* file,
                             int line);

}  // namespace berth::base

#define BERTH_CHECK(condition, meaning)                                         \
    do {                                                                        \
        if (!(condition)) [[unlikely]]                                          \
            ::berth::base::fail_check(#condition, meaning, __FILE__, __LINE__); \
    } while (false)
