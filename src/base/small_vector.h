// SPDX-License-Identifier: Apache-2.0
//
// A vector that asks for memory only when it holds more than N values: for what is few nearly
// always, on paths that are taken thousands of times a second.
#pragma once

// g++ 12 takes what is on the stack for all there is, where these are moved.
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wstringop-overread"
#endif
#include <boost/container/small_vector.hpp>
#pragma GCC diagnostic pop

#include <cstddef>

namespace berth::base {

template <typename T, std::size_t N>
using SmallVector = boost::container::small_vector<T, N>;

}  // namespace berth::base
