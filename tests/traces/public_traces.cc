// SPDX-License-Identifier: Apache-2.0
#include "traces/public_traces.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace berth::simulation {

std::filesystem::path traces_folder() {
    if (const char* given = std::getenv("BERTH_TRACES")) return given;
    std::filesystem::path above = BERTH_SOURCE_DIR;
    for (; above.has_relative_path(); above = above.parent_path()) {
        if (const auto found = above / "shared/data/traces"; std::filesystem::exists(found)) {
            return found;
        }
    }
    return {};
}

std::string read_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream bytes;
    bytes << stream.rdbuf();
    auto text = unpacked(bytes.str(), std::size_t{1} << 28);
    REQUIRE_MESSAGE(text, file.string());
    return std::move(*text);
}

Trace read(const std::filesystem::path& file, std::string_view format) {
    const std::string name = file.string();
    auto trace = parse_trace(read_text(file), {.file = name, .format = format});
    REQUIRE_MESSAGE(trace, trace.error().message);
    return std::move(trace->jobs);
}

}  // namespace berth::simulation
