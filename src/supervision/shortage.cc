// SPDX-License-Identifier: Apache-2.0
#include "supervision/shortage.h"

#include <errno.h>
#include <string.h>

namespace berth::supervision {

bool is_shortage(int error) {
    return error == EAGAIN || error == ENOMEM || error == ENFILE || error == ENOSPC ||
           error == EDQUOT;
}

std::string no_process(int error) {
    const std::string text = std::string("cannot make a process: ") + ::strerror(error);
    return error == EAGAIN ? text + " (there are as many as ulimit -u or a cgroup allows)" : text;
}

}  // namespace berth::supervision
