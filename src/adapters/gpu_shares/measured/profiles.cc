// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/measured/profiles.h"

#include <algorithm>
#include <charconv>

namespace berth::gpu_shares {
namespace {

// The text behind "KEY=" in a line of words; empty where it is not there.
std::string_view value_of(std::string_view line, std::string_view key) {
    for (std::size_t at = line.find(key); at != std::string_view::npos;
         at = line.find(key, at + 1)) {
        const bool is_word = at == 0 || line[at - 1] == ' ';
        if (!is_word || at + key.size() >= line.size() || line[at + key.size()] != '=') continue;
        const std::string_view rest = line.substr(at + key.size() + 1);
        return rest.substr(0, rest.find(' '));
    }
    return {};
}

std::int64_t number_of(std::string_view line, std::string_view key) {
    const std::string_view text = value_of(line, key);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return std::max<std::int64_t>(value, 0);
}

// "12,34"
std::set<std::int64_t> numbers_in(std::string_view text) {
    std::set<std::int64_t> numbers;
    for (const char* at = text.data(); at < text.data() + text.size(); ++at) {
        std::int64_t number = 0;
        const auto read = std::from_chars(at, text.data() + text.size(), number);
        if (read.ec != std::errc{}) break;
        numbers.insert(number);
        at = read.ptr;
    }
    return numbers;
}

// Of a GPU's time.
std::optional<base::MilliGpu> part_of(std::string_view line, std::string_view word) {
    const auto part = base::parse_thousandths(value_of(line, word));
    if (!part) return {};
    return base::MilliGpu{std::min<std::int64_t>(*part, 1000)};
}

model::GpuProfile profile_of(std::string_view line) {
    model::GpuProfile profile;
    profile.iterations = number_of(line, "iterations");
    profile.iteration_us = number_of(line, "iteration_us");
    profile.compute = part_of(line, "device_share");
    profile.persistent = {number_of(line, "persistent")};
    profile.peak = {number_of(line, "peak")};
    profile.highest = {number_of(line, "highest")};
    return profile;
}

}  // namespace

model::GpuProfile larger(const model::GpuProfile& one, const model::GpuProfile& other) {
    model::GpuProfile result = one.iterations >= other.iterations ? one : other;
    if (one.compute && other.compute) result.compute = std::max(*one.compute, *other.compute);
    if (!result.compute) result.compute = one.compute ? one.compute : other.compute;
    result.persistent = std::max(one.persistent, other.persistent);
    result.peak = std::max(one.peak, other.peak);
    result.highest = std::max(one.highest, other.highest);
    return result;
}

std::vector<RotationSight> rotations_in(std::string_view status) {
    std::vector<RotationSight> sights;
    while (!status.empty()) {
        const std::size_t end = std::min(status.find('\n'), status.size());
        const std::string_view line = status.substr(0, end);
        const std::string_view rotation = value_of(line, "rotation");
        if (!rotation.empty() && rotation != "none") {
            sights.push_back({std::string(value_of(line, "tenant")), std::string(rotation),
                              number_of(line, "iterations"), number_of(line, "iteration_us"),
                              value_of(line, "waiting") == "yes"});
        }
        status.remove_prefix(std::min(end + 1, status.size()));
    }
    return sights;
}

std::vector<TenantUse> uses_in(std::string_view status) {
    std::vector<TenantUse> uses;
    while (!status.empty()) {
        const std::size_t end = std::min(status.find('\n'), status.size());
        const std::string_view line = status.substr(0, end);
        if (value_of(line, "where") == "here") {
            TenantUse use{std::string(value_of(line, "tenant")),
                          std::string(value_of(line, "gpu")),
                          {number_of(line, "charged")},
                          {},
                          part_of(line, "lately")};
            if (const auto cap = part_of(line, "cap"); cap && *cap < base::kWholeGpu) use.cap = cap;
            if (value_of(line, "limit") != "none") use.memory_limit = {number_of(line, "limit")};
            uses.push_back(std::move(use));
        }
        status.remove_prefix(std::min(end + 1, status.size()));
    }
    return uses;
}

std::vector<TenantMembers> members_in(std::string_view status) {
    std::vector<TenantMembers> all;
    while (!status.empty()) {
        const std::size_t end = std::min(status.find('\n'), status.size());
        const std::string_view line = status.substr(0, end);
        const std::string_view rotation = value_of(line, "rotation");
        TenantMembers members{
            std::string(value_of(line, "tenant")), std::string(value_of(line, "gpu")),
            value_of(line, "limit") != "none" || (!rotation.empty() && rotation != "none"),
            numbers_in(value_of(line, "pids"))};
        if (!members.tenant.empty()) all.push_back(std::move(members));
        status.remove_prefix(std::min(end + 1, status.size()));
    }
    return all;
}

std::optional<model::GpuProfile> profile_in(std::string_view status) {
    model::GpuProfile found;
    while (!status.empty()) {
        const std::size_t end = std::min(status.find('\n'), status.size());
        found = larger(found, profile_of(status.substr(0, end)));
        status.remove_prefix(std::min(end + 1, status.size()));
    }
    if (found.highest.value == 0) return std::nullopt;
    return found;
}

}  // namespace berth::gpu_shares
