// SPDX-License-Identifier: Apache-2.0
//
// The ways by which a description comes in. Each door is handed the same fact in its own notation
// and answers whether it took it; what is refused because it can never run there was taken.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::tests {

// How one field is written at each door; "$" is its value. Empty: this door has no such field.
struct Notation {
    std::string_view name;
    std::string_view api;  // members of "spec"
    std::string_view job_file;
    std::string_view state_file;
    std::string_view scenario;
};

struct Answer {
    std::string_view door;
    std::optional<std::string> refusal;  // none: it was taken
};

// A job with this field, by every door that has it.
std::vector<Answer> hand_in_job(const Notation& field, std::string_view value);
// A node, project or pool: the notation of a state file is the whole entry of the list `list`, that
// of a scenario the whole line.
std::vector<Answer> describe(std::string_view list, const Notation& entry, std::string_view value);

std::optional<std::string> submit_json(const std::string& body);
std::optional<std::string> play(const std::string& script);

}  // namespace berth::tests
