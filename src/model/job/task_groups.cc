// SPDX-License-Identifier: Apache-2.0
#include "model/job/task_groups.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <span>
#include <utility>

namespace berth::model {
namespace {

std::optional<int> number_in(std::string_view text) {
    int number = 0;
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || at != end || number < 1 || number > kTasksMax) return {};
    return number;
}

struct Range {
    int low = 0;
    int high = 0;
};

// "4" or "8..16".
std::optional<Range> range_in(std::string_view text) {
    const auto dots = text.find("..");
    const auto low = number_in(text.substr(0, dots));
    const auto high = dots == std::string_view::npos ? low : number_in(text.substr(dots + 2));
    if (!low || !high || *high < *low) return {};
    return Range{*low, *high};
}

bool read_entry(std::string_view text, TopologyRequest& request) {
    std::vector<TaskGroup>& groups = request.groups;
    TaskGroup group;
    Range count{1, 1};
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
        const auto numbers = range_in(text.substr(0, times));
        if (!numbers || numbers->high > kTaskGroupsMax) return false;
        count = *numbers;
        text = text.substr(times + 1);
    }
    const auto tasks = range_in(text);
    if (!tasks) return false;
    group.tasks_min = tasks->low;
    group.tasks_max = tasks->high;
    for (int i = 0; i < count.high; ++i) {
        groups.push_back(group);
        if (group.name.empty()) groups.back().name = default_group_name(groups.size() - 1);
    }
    if (count.low < count.high) request.groups_min = count.low;
    return true;
}

bool are_alike(const TaskGroup& a, const TaskGroup& b) {
    return a.tasks_min == b.tasks_min && a.tasks_max == b.tasks_max && a.level == b.level;
}

// How many groups from this one on are said by their number alone.
std::size_t count_like(std::span<const TaskGroup> groups, std::size_t first) {
    std::size_t end = first;
    while (end < groups.size() && are_alike(groups[end], groups[first]) &&
           groups[end].name == default_group_name(end)) {
        ++end;
    }
    return end - first;
}

struct TaskSums {
    std::int64_t least = 0;
    std::int64_t most = 0;
};

TaskSums sums_of(const TopologyRequest& topology) {
    TaskSums sums;
    for (const TaskGroup& group : topology.groups) {
        sums.least += group.tasks_min;
        sums.most += group.tasks_max;
    }
    if (topology.groups_min != 0) {
        sums.least = std::int64_t{topology.groups_min} * topology.groups.front().tasks_min;
    }
    return sums;
}

// Whether some of the groups may start together, if that is said.
base::Status check_groups_min(const TopologyRequest& topology) {
    if (topology.groups_min == 0) return {};
    const std::vector<TaskGroup>& groups = topology.groups;
    if (topology.groups_min < 0 || std::cmp_greater_equal(topology.groups_min, groups.size())) {
        return base::invalid("groups_min: wanted fewer than all " + std::to_string(groups.size()) +
                             ", found " + std::to_string(topology.groups_min) +
                             "; leave it out where all start together");
    }
    const bool is_fixed = groups.front().tasks_min == groups.front().tasks_max;
    if (is_fixed && count_like(groups, 0) == groups.size()) return {};
    return base::invalid("where " + std::to_string(topology.groups_min) + " of " +
                         std::to_string(groups.size()) +
                         " groups start first, wanted groups of one size and level, without "
                         "names, such as 2..4x8@rack, found " +
                         format_task_groups({.groups = groups}));
}

}  // namespace

std::string default_group_name(std::size_t position) { return std::to_string(position + 1); }

base::Result<TopologyRequest> parse_task_groups(std::string_view text) {
    TopologyRequest request;
    for (std::string_view rest = text;;) {
        const auto comma = rest.find(',');
        const bool is_read = read_entry(rest.substr(0, comma), request);
        // Which others start with some of them could not be said.
        const bool is_alone = request.groups_min == 0 || rest.size() == text.size();
        if (!is_read || !is_alone || request.groups.size() > kTaskGroupsMax) {
            return base::invalid(
                "wanted groups such as 4x8@rack, 2..4x8@rack or prefill:4@node,decode:8..16@rack"
                ", found \"" +
                std::string(text) + "\"");
        }
        if (comma == std::string_view::npos) return request;
        rest = rest.substr(comma + 1);
    }
}

std::string format_tasks(int tasks_min, int tasks_max) {
    std::string text = std::to_string(tasks_min);
    if (tasks_max != tasks_min) text += ".." + std::to_string(tasks_max);
    return text;
}

std::string format_task_groups(const TopologyRequest& topology) {
    const std::vector<TaskGroup>& groups = topology.groups;
    std::string text;
    for (std::size_t i = 0; i < groups.size();) {
        const TaskGroup& group = groups[i];
        const std::size_t alike = count_like(groups, i);
        text += text.empty() ? "" : ",";
        if (alike == 0) text += group.name + ":";
        if (topology.groups_min > 0) text += std::to_string(topology.groups_min) + "..";
        if (alike > 1) text += std::to_string(alike) + "x";
        text += format_tasks(group.tasks_min, group.tasks_max);
        if (!group.level.empty()) text += "@" + group.level;
        i += std::max(alike, std::size_t{1});
    }
    return text;
}

void count_tasks(JobSpec& spec) {
    if (spec.topology.groups.empty()) return;
    const auto bounded = [](std::int64_t sum) {
        return static_cast<int>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX));
    };
    const TaskSums sums = sums_of(spec.topology);
    spec.tasks_min = bounded(sums.least);
    spec.tasks_max = bounded(sums.most);
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
    if (groups.empty()) return check_groups_min(spec.topology);
    if (groups.size() > kTaskGroupsMax) {
        return base::invalid("wanted at most " + std::to_string(kTaskGroupsMax) +
                             " groups, found " + std::to_string(groups.size()));
    }
    std::set<std::string> names;
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
    }
    BERTH_TRY_VOID(check_groups_min(spec.topology));
    const auto [least, most] = sums_of(spec.topology);
    if (most > kTasksMax) {
        return base::invalid("wanted at most " + std::to_string(kTasksMax) + " tasks, found " +
                             std::to_string(most));
    }
    if (least == spec.tasks_min && most == spec.tasks_max) return {};
    return base::invalid(
        "they sum to " + format_tasks(static_cast<int>(least), static_cast<int>(most)) +
        " tasks, the job asks for " + format_tasks(spec.tasks_min, spec.tasks_max) +
        "; say the number in the groups alone");
}

}  // namespace berth::model
