// SPDX-License-Identifier: Apache-2.0
#include "app/trainer/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cinttypes>

namespace berth::trainer {
namespace {

// The loss in hexadecimal, so that a resumed run has every bit of it.
constexpr const char* kFormat = "berth-trainer 1 step %" PRId64 " loss %a dice %" PRIu64 " end\n";
constexpr const char* kPattern = "berth-trainer 1 step %" SCNd64 " loss %la dice %" SCNu64 " end%n";

base::Status failure(const std::string& path) {
    return base::fail(base::ErrorCode::Unavailable,
                      "cannot save \"" + path + "\": " + ::strerror(errno));
}

}  // namespace

base::Status save(const std::string& path, const State& state) {
    const std::string beside = path + ".new";
    FILE* file = ::fopen(beside.c_str(), "we");
    if (file == nullptr) return failure(beside);
    const bool is_written = ::fprintf(file, kFormat, state.step, state.loss, state.dice) > 0 &&
                            ::fflush(file) == 0 && ::fsync(::fileno(file)) == 0;
    const bool is_closed = ::fclose(file) == 0;
    if (!is_written || !is_closed || ::rename(beside.c_str(), path.c_str()) != 0)
        return failure(path);
    return {};
}

base::Result<std::optional<State>> load(const std::string& path) {
    FILE* file = ::fopen(path.c_str(), "re");
    if (file == nullptr) {
        if (errno == ENOENT) return std::optional<State>{};
        return base::fail(base::ErrorCode::Unavailable,
                          "cannot read \"" + path + "\": " + ::strerror(errno));
    }
    char text[256] = {};
    const std::size_t size = ::fread(text, 1, sizeof text - 1, file);
    ::fclose(file);
    State state;
    int end = 0;
    if (size == 0 || ::sscanf(text, kPattern, &state.step, &state.loss, &state.dice, &end) != 3 ||
        end == 0)
        return base::invalid("\"" + path + "\" is no checkpoint of berth-trainer; remove it");
    return std::optional(state);
}

}  // namespace berth::trainer
