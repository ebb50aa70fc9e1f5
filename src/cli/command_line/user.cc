// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/user.h"

#include <pwd.h>
#include <unistd.h>

namespace berth::cli {

std::string user_wanted(const Arguments& arguments) {
    std::string user(arguments.text("user"));
    if (user != "me") return user;
    const passwd* const me = ::getpwuid(::geteuid());
    return me != nullptr ? me->pw_name : std::to_string(::geteuid());
}

}  // namespace berth::cli
