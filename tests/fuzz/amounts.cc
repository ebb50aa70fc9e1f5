// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "base/quantity.h"
#include "codec/words/gpu_request.h"
#include "codec/words/timestamp.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "model/job/task_groups.h"
#include "model/node/mig.h"
#include "model/node/node_filter.h"
#include "model/policy/policy_settings.h"

namespace berth::fuzz {

void amounts(std::string_view input) {
    if (const auto value = base::parse_thousandths(input)) {
        expect(*value >= 0, "an amount is not negative");
        const auto again = base::parse_thousandths(base::format_thousandths(*value));
        expect(again && *again == *value, "an amount is read as it was written");
    }
    if (const auto bytes = base::parse_bytes(input)) {
        expect(bytes->value >= 0, "bytes are not negative");
        const auto again = base::parse_bytes(base::format(*bytes));
        expect(again && *again <= *bytes, "bytes are written to one decimal, rounded down");
    }
    if (const auto duration = base::parse_duration(input)) {
        expect(duration->count() >= 0, "a duration is not negative");
        const auto again = base::parse_duration(base::format(*duration));
        expect(again && *again <= *duration, "a duration is written in its largest units");
    }
    if (const auto profile = model::mig_profile(input)) {
        expect(profile->slices >= 1 && profile->slices <= model::kMigSlicesPerGpu,
               "a profile has slices of one GPU");
        expect(profile->memory.value > 0, "a profile has memory");
    }
}

void time(std::string_view input) {
    const auto time = codec::parse_time(input);
    if (!time) return;
    const auto again = codec::parse_time(codec::format_time(*time));
    expect(again && *again == *time, "a time is read as it was written");
}

void gpu_request(std::string_view input) {
    const auto request = codec::parse_gpu_request(input);
    if (!request) return;
    expect(request->tasks_min >= 1 && request->tasks_max >= request->tasks_min,
           "a request has tasks");
    const auto again = codec::parse_gpu_request(codec::format_gpu_request(*request));
    expect(again && *again == *request, "a request for GPUs is read as it was written");
}

void task_groups(std::string_view input) {
    const auto groups = model::parse_task_groups(input);
    if (!groups) return;
    const std::string text = model::format_task_groups(*groups);
    const auto again = model::parse_task_groups(text);
    expect(again && model::format_task_groups(*again) == text,
           "groups are read as they were written");
    model::JobSpec spec;
    spec.topology = *groups;
    model::count_tasks(spec);
    expect(spec.tasks_min >= 1 && spec.tasks_max >= spec.tasks_min, "groups have tasks");
}

// A filter, a taint and a toleration each say one thing of it.
void node_filter(std::string_view input) {
    const auto is_read_again = [](const auto& value, auto&& parse) {
        const auto again = parse(format(value));
        expect(again && *again == value, "what is asked of a node is read as it was written");
    };
    if (const auto filter = model::parse_node_filter(input)) {
        is_read_again(*filter, model::parse_node_filter);
        const model::Labels labels{{"zone", "a"}, {"disks", "4"}};
        expect(filter->any_of.empty() ||
                   model::satisfies("n", labels, *filter) ==
                       std::ranges::any_of(
                           filter->any_of,
                           [&](auto& terms) { return model::satisfies("n", labels, {{terms}}); }),
               "a filter holds where one of its ways does");
    }
    if (const auto taint = model::parse_taint(input)) is_read_again(*taint, model::parse_taint);
    if (const auto each = model::parse_toleration(input)) {
        is_read_again(*each, model::parse_toleration);
    }
}

// NAME=TEXT
void settings(std::string_view input) {
    const std::size_t equals = input.find('=');
    if (equals == std::string_view::npos) return;
    const model::PolicySetting* setting = model::find_policy_setting(input.substr(0, equals));
    if (setting == nullptr) return;
    model::Policy policy;
    const std::string before = setting->write(policy);
    if (!setting->read(policy, input.substr(equals + 1))) {
        expect(setting->write(policy) == before, "what is refused changes nothing");
        return;
    }
    const std::string text = setting->write(policy);
    model::Policy other;
    expect(setting->read(other, text).has_value(), "a setting takes what it says");
    expect(setting->write(other) == text, "a setting is read as it was written");
}

}  // namespace berth::fuzz
