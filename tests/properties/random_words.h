// SPDX-License-Identifier: Apache-2.0
//
// Words by the dice, for random lines of the scenario language.
#pragma once

#include <initializer_list>
#include <string>

#include "base/rng.h"

namespace berth::proof {

inline std::string pick(base::Rng& rng, std::initializer_list<const char*> words) {
    return words.begin()[rng.index(words.size())];
}

// " key=value" with one of the values; an empty value says nothing.
inline std::string maybe(base::Rng& rng, const std::string& key,
                         std::initializer_list<const char*> values) {
    const std::string value = pick(rng, values);
    return value.empty() ? "" : " " + key + "=" + value;
}

}  // namespace berth::proof
