// SPDX-License-Identifier: Apache-2.0
#include "adapters/process/jobs_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "adapters/process/leftovers.h"

namespace berth::process {
namespace {

constexpr int kTriesMax = 1'000;
constexpr timespec kPause{0, 5'000'000};

// The number that a name begins with, up to `end`.
template <typename Int>
std::optional<Int> take_number(std::string_view& name) {
    Int number = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc{} || number < 0) return std::nullopt;
    name.remove_prefix(static_cast<std::size_t>(rest - name.data()));
    return number;
}

// "12345.1.status"
std::optional<ports::AttemptId> attempt_of(std::string_view name) {
    const auto job = take_number<std::int64_t>(name);
    if (!job || !name.starts_with('.')) return std::nullopt;
    name.remove_prefix(1);
    const auto attempt = take_number<int>(name);
    if (!attempt || name != ".status") return std::nullopt;
    return ports::AttemptId{{*job}, *attempt};
}

std::vector<std::string> names_in(const std::string& directory) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
        names.push_back(entry.path().filename().string());
    }
    return names;
}

bool is_known(ports::AttemptId id, const std::string& log,
              std::span<const ports::BegunAttempt> known) {
    return std::ranges::any_of(
        known, [&](const ports::BegunAttempt& each) { return each.id == id && each.log == log; });
}

// A supervisor that begins has not yet said which process it is.
bool end_one(const std::string& jobs_dir, const std::string& cluster, ports::AttemptId id) {
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const AttemptState state = look_at(jobs_dir, id);
        if (!state.is_supervised) {
            kill_leftovers(cluster, id);
            return true;
        }
        if (state.status.supervisor > 0) ::kill(state.status.supervisor, SIGKILL);
        ::nanosleep(&kPause, nullptr);
    }
    return false;
}

}  // namespace

base::Result<bool> take_jobs_folder(const runtime::Folder& data) {
    struct stat before{};
    const bool is_new = ::fstatat(data.fd(), "jobs", &before, AT_SYMLINK_NOFOLLOW) != 0;
    BERTH_TRY(jobs, data.make_below("jobs", runtime::Openness::Private));
    BERTH_TRY_VOID(jobs.check_owners());
    for (const auto& entry : std::filesystem::directory_iterator(jobs.path())) {
        const std::string name = entry.path().filename();
        if (entry.is_directory()) BERTH_TRY_VOID(jobs.make_below(name, runtime::Openness::Private));
    }
    return !is_new && (before.st_mode & (S_IRWXG | S_IRWXO)) != 0;
}

model::JobId highest_job(const std::string& jobs_dir) {
    std::vector<std::int64_t> thousands;
    for (const std::string& directory : names_in(jobs_dir)) {
        std::string_view text = directory;
        const auto first = take_number<std::int64_t>(text);
        if (first && text.empty()) thousands.push_back(*first);
    }
    std::ranges::sort(thousands, std::greater());
    for (const std::int64_t first : thousands) {
        std::int64_t highest = 0;
        for (const std::string& name : names_in(jobs_dir + '/' + std::to_string(first))) {
            std::string_view text = name;
            highest = std::max(highest, take_number<std::int64_t>(text).value_or(0));
        }
        if (highest > 0) return {highest};
    }
    return {0};
}

std::vector<ports::AttemptId> attempts_in(const std::string& jobs_dir) {
    std::vector<ports::AttemptId> attempts;
    for (const std::string& directory : names_in(jobs_dir)) {
        for (const std::string& name : names_in(jobs_dir + '/' + directory)) {
            if (const auto id = attempt_of(name)) attempts.push_back(*id);
        }
    }
    return attempts;
}

base::Result<std::vector<ports::AttemptId>> end_strangers(
    const std::string& jobs_dir, const std::string& cluster,
    std::span<const ports::BegunAttempt> known) {
    std::vector<ports::AttemptId> strangers;
    for (const ports::AttemptId id : attempts_in(jobs_dir)) {
        const AttemptState state = look_at(jobs_dir, id);
        if (!state.is_supervised || is_known(id, state.status.log, known)) continue;
        strangers.push_back(id);
        if (end_one(jobs_dir, cluster, id)) continue;
        return base::fail(base::ErrorCode::Unavailable,
                          "attempt " + std::to_string(id.attempt) + " of job " +
                              std::to_string(id.job.value) +
                              " runs, is unknown to this log and cannot be ended; end the process "
                              "that holds " +
                              attempt_prefix(jobs_dir, id) + ".status and start again");
    }
    return strangers;
}

}  // namespace berth::process
