// SPDX-License-Identifier: Apache-2.0
//
// Of what does the user ask? job/NAME, jobset/NAME, pod/NAME or NAME, as kubectl has it, with the
// namespace in front where it is another one: ml/job/train, as ls shows it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "kube/objects/workload.h"

namespace berth::kube::people {

// A pod, or a kind of workload.
struct Kind {
    std::optional<objects::WorkloadKind> workload = {};  // none: a pod

    bool operator==(const Kind&) const = default;
};
inline constexpr Kind kPod{};

struct Asked {
    std::string name_space;              // empty: not said
    std::optional<Kind> kind;            // none: a workload of that name, else a pod
    std::string name;
};

// Two words are a kind and a name. Errors: Invalid, what was wanted and what was found.
base::Result<Asked> parse_asked(std::span<const std::string> words);

}  // namespace berth::kube::people
