// SPDX-License-Identifier: Apache-2.0
//
// An expected failure at an edge is a value: Result<T> holds either a T or an Error.
// The codes map one to one to HTTP statuses (api/) and process exit codes (cli/).
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace berth::base {

enum class ErrorCode {
    Invalid,      // the input is malformed or contradicts itself
    NotFound,     // the named thing does not exist
    Exists,       // the name is taken
    Conflict,     // the thing is in a state that does not allow this
    Forbidden,    // the caller may not do this
    Exhausted,    // a published limit is reached (docs/limits.md)
    Unavailable,  // a resource outside this process does not answer
    Timeout,      // it did not answer in time
    Internal,     // none of the caller's doing
};

// `message` says what was wanted, what was found and what to do, lower case, values quoted.
struct [[nodiscard]] Error {
    ErrorCode code = ErrorCode::Internal;
    std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

// Success without a value.
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

inline tl::unexpected<Error> invalid(std::string message) {
    return fail(ErrorCode::Invalid, std::move(message));
}

}  // namespace berth::base

// BERTH_TRY(name, expression): binds the value, or returns the error to the caller.
#define BERTH_TRY(name, expression)                                   \
    auto name##_result = (expression);                                \
    if (!name##_result) return tl::unexpected(name##_result.error()); \
    auto& name = *name##_result

// BERTH_TRY_VOID(expression): the same for a Status.
#define BERTH_TRY_VOID(expression)                                  \
    do {                                                            \
        auto try_status = (expression);                             \
        if (!try_status) return tl::unexpected(try_status.error()); \
    } while (false)
