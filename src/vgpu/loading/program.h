// SPDX-License-Identifier: Apache-2.0
//
// Can a program load what keeps it to its share of a GPU? Our libraries are of one processor and
// for glibc. The loader of a 32-bit program says that it ignores them and goes on without the
// share; musl's says that it finds no libdl.so.2 and ends. So both are refused before they start,
// by the loader that the file itself names. A program without a loader is not: it can load no
// driver, and what it starts has our libraries again.
#pragma once

#include <string>
#include <string_view>

namespace berth::vgpu::loading {

// As execvpe() is given it.
struct Command {
    std::string_view name;
    std::string_view path;     // where a name without a slash is searched, as PATH
    std::string_view workdir;  // where it is started; absolute
};

// What is wrong with the program and what to do; empty when it can load them, or is none that can
// be read. A script is as good as its interpreter.
std::string why_not_loadable(const Command& command);

}  // namespace berth::vgpu::loading
