// SPDX-License-Identifier: Apache-2.0
//
// In what are jobs alike? In who handed them in, in what they are called and in what they run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::ordering {

enum class Likeness : std::uint8_t {
    User,  // of one project and user
    Name,  // of one project and user, of names that differ in numbers only
    Command,  // of one project and any user: the same program or script
};

inline constexpr std::size_t kLikenesses = 3;

// For each likeness a number that jobs alike in it share, the same on every machine: what is
// learned of them is kept. 0 = it is like no other, but for Likeness::User.
using Likenesses = std::array<std::uint64_t, kLikenesses>;

// `command` is as people read it, "python -m trainer --lr 0.1". Of it only the program counts, and
// the script, module or subcommand that it runs: options say how one experiment differs from the
// next. In names and there digits and long hexadecimal numbers are all the same.
Likenesses likenesses_of(std::string_view project, std::string_view user, std::string_view name,
                         std::string_view command);

// "train-#", what all names share that differ from this one in numbers only.
std::string stem_of_name(std::string_view name);
// "python train.py", what of a command counts.
std::string stem_of_command(std::string_view command);

}  // namespace berth::ordering
