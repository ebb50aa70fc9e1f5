// SPDX-License-Identifier: Apache-2.0
//
// What do programs read with -o json? The same answers as documents of Berth's API: times as RFC
// 3339, durations in seconds, GPUs as numbers.
#pragma once

#include <span>
#include <string>

#include "kube/people/share_page.h"
#include "kube/people/work.h"

namespace berth::kube::people {

std::string work_json(const Work& work, const std::string& beneficiary);
std::string work_list_json(std::span<const Work> works, const std::vector<std::string>& unread);
std::string share_list_json(const Read& read, const Branch& branch);

}  // namespace berth::kube::people
