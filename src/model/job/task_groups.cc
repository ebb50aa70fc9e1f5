// SPDX-License-Identifier: Apache-2.0
#include "model/job/task_groups.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

namespace berth::model {
namespace {

std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end || number < 1 || number > kTasksMax) return {};
    return number;
}

// "4" or "8..16".
bool read_tasks(std::string_view text, TaskGroup& group) {
    const auto dots = text.find("..");
    const auto low = number_in(text.substr(0, dots));
    const auto high = dots == std::string_view::npos ? low : number_in(text.substr(dots + 2));
    if (!low || !high || *high < *low) return false;
    group.tasks_min = *low;
    group.tasks_max = *high;
    return true;
}

bool read_entry(std::string_view text, std::vector<TaskGroup>& groups) {
    TaskGroup group;
    int count = 1;
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        group.level = text.substr(at + 1);
        text = text.substr(0, at);
        if (group.level.empty()) return false;
    }
    const auto colon = text.find(':');
    if (colon != std::string_view::npos) {
        group.name = text.substr(0, colon);
        text = text.substr(colon + 1);
        if (group.name.empty()) return false;
    } else if (const auto times = text.find('x'); times != std::string_view::npos) {
        const auto number = number_in(text.substr(0, times));
        if (!number || *number > kTaskGroupsMax) return false;
        count = *number;
        text = text.substr(times + 1);
    }
    if (!read_tasks(text, group)) return false;
    for (int i = 0; i < count; ++i) {
        groups.push_back(group);
        if (group.name.empty()) groups.back().name = default_group_name(groups.size() - 1);
    }
    return true;
}

bool are_alike(const TaskGroup& a, const TaskGroup& b) {
    return a.tasks_min == b.tasks_min && a.tasks_max == b.tasks_max && a.level == b.level;
}

}  // namespace

std::string default_group_name(std::size_t position) { return std::to_string(position + 1); }

base::Result<std::vector<TaskGroup>> parse_task_groups(std::string_view text) {
    std::vector<TaskGroup> groups;
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        if (!read_entry(rest.substr(0, comma), groups) || groups.size() > kTaskGroupsMax) {
            return base::invalid(
                "wanted groups such as 4x8@rack or prefill:4@node,decode:8..16@rack"
                ", found \"" +
                std::string(text) + "\"");
        }
        if (comma == std::string_view::npos) return groups;
        rest = rest.substr(comma + 1);
    }
}

std::string format_tasks(int tasks_min, int tasks_max) {
    std::string text = std::to_string(tasks_min);
    if (tasks_max != tasks_min) text += ".." + std::to_string(tasks_max);
    return text;
}

std::string format_task_groups(std::span<const TaskGroup> groups) {
    std::string text;
    for (std::size_t i = 0; i < groups.size();) {
        const TaskGroup& group = groups[i];
        std::size_t end = i;
        while (end < groups.size() && are_alike(groups[end], group) &&
               groups[end].name == default_group_name(end)) {
            ++end;
        }
        text += text.empty() ? "" : ",";
        if (end == i) text += group.name + ":";
        if (end > i + 1) text += std::to_string(end - i) + "x";
        text += format_tasks(group.tasks_min, group.tasks_max);
        if (!group.level.empty()) text += "@" + group.level;
        i = std::max(end, i + 1);
    }
    return text;
}

void count_tasks(JobSpec& spec) {
    if (spec.topology.groups.empty()) return;
    const auto sum = [&](int TaskGroup::* tasks) {
        std::int64_t all = 0;
        for (const TaskGroup& group : spec.topology.groups) all += group.*tasks;
        return static_cast<int>(std::clamp<std::int64_t>(all, INT32_MIN, INT32_MAX));
    };
    spec.tasks_min = sum(&TaskGroup::tasks_min);
    spec.tasks_max = sum(&TaskGroup::tasks_max);
}

const TaskGroup* group_of(const JobSpec& spec, int rank) {
    for (const TaskGroup& group : spec.topology.groups) {
        if (rank < group.tasks_max) return &group;
        rank -= group.tasks_max;
    }
    return nullptr;
}

base::Status check_task_groups(const JobSpec& spec) {
    const std::vector<TaskGroup>& groups = spec.topology.groups;
    if (groups.empty()) return {};
    if (groups.size() > kTaskGroupsMax) {
        return base::invalid("wanted at most " + std::to_string(kTaskGroupsMax) +
                             " groups, found " + std::to_string(groups.size()));
    }
    std::set<std::string> names;
    std::int64_t tasks_min = 0;
    std::int64_t tasks_max = 0;
    for (const TaskGroup& group : groups) {
        if (group.name.empty()) return base::invalid("a group needs a name");
        if (!names.insert(group.name).second) {
            return base::invalid("\"" + group.name + "\" is there twice");
        }
        if (group.tasks_min < 1 || group.tasks_max < group.tasks_min) {
            return base::invalid("\"" + group.name + "\": wanted 1 <= min <= max, found min " +
                                 std::to_string(group.tasks_min) + ", max " +
                                 std::to_string(group.tasks_max));
        }
        tasks_min += group.tasks_min;
        tasks_max += group.tasks_max;
    }
    if (tasks_max > kTasksMax) {
        return base::invalid("wanted at most " + std::to_string(kTasksMax) + " tasks, found " +
                             std::to_string(tasks_max));
    }
    if (tasks_min == spec.tasks_min && tasks_max == spec.tasks_max) return {};
    return base::invalid(
        "they sum to " + format_tasks(static_cast<int>(tasks_min), static_cast<int>(tasks_max)) +
        " tasks, the job asks for " + format_tasks(spec.tasks_min, spec.tasks_max) +
        "; say the number in the groups alone");
}

}  // namespace berth::model
