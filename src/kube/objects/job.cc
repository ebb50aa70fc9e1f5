// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/job.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

std::int32_t read_count(codec::JsonReader& reader) {
    constexpr std::int64_t kLargest = std::numeric_limits<std::int32_t>::max();
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(reader.read_int(), 0, kLargest));
}

// "1,3-5" is four.
std::int32_t count_indexes(std::string_view text) {
    std::int64_t count = 0;
    while (!text.empty()) {
        const std::string_view part = text.substr(0, text.find(','));
        text.remove_prefix(std::min(part.size() + 1, text.size()));
        std::int32_t first = 0;
        const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), first);
        std::int32_t last = first;
        if (end != part.data() + part.size())
            std::from_chars(end + 1, part.data() + part.size(), last);
        if (error == std::errc{})
            count += std::max(std::int64_t{last} - first + 1, std::int64_t{1});
    }
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(count, std::numeric_limits<std::int32_t>::max()));
}

void read_job_spec(codec::JsonReader& reader, PodPools& pools, Job& job) {
    each_field(reader, [&](std::string_view key) {
        if (key == "parallelism") return job.parallelism = read_count(reader), true;
        if (key == "completions") return job.completions = read_count(reader), true;
        if (key == "suspend") return job.is_suspended = reader.read_bool(), true;
        if (key == "template") return job.ask = read_template(reader, pools), true;
        if (key == "managedBy") {
            job.is_managed_elsewhere = reader.read_text() != "kubernetes.io/job-controller";
            return true;
        }
        return false;
    });
}

void read_job_condition(codec::JsonReader& reader, Job& job) {
    enum class About { Other, Complete, Failed, Suspended } about = About::Other;
    bool is_true = false;
    std::optional<base::TimePoint> since;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") {
            const std::string_view type = reader.read_text();
            if (type == "Complete") about = About::Complete;
            if (type == "Failed") about = About::Failed;
            if (type == "Suspended") about = About::Suspended;
            return true;
        }
        if (key == "status") return is_true = reader.read_text() == "True", true;
        if (key == "lastTransitionTime") return since = read_time(reader), true;
        return false;
    });
    if (!is_true) return;
    if (about == About::Complete) job.end = Job::End::Complete;
    if (about == About::Failed) job.end = Job::End::Failed;
    if (about == About::Suspended) job.suspended_since = since;
}

void read_job_status(codec::JsonReader& reader, Job& job) {
    each_field(reader, [&](std::string_view key) {
        if (key == "succeeded") return job.succeeded = read_count(reader), true;
        if (key == "failedIndexes")
            return job.failed_indexes = count_indexes(reader.read_text()), true;
        if (key != "conditions") return false;
        each_item(reader, [&] { read_job_condition(reader, job); });
        return true;
    });
}

}  // namespace

std::int32_t Job::pods_wanted() const {
    if (!completions) return parallelism;
    const std::int64_t done = std::int64_t{succeeded} + failed_indexes;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(parallelism, std::max<std::int64_t>(*completions - done, 0)));
}

Job read_job(codec::JsonReader& reader, PodPools& pools) {
    Job job;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return job.meta = read_meta(reader, pools.meta), true;
        if (key == "spec") return read_job_spec(reader, pools, job), true;
        if (key == "status") return read_job_status(reader, job), true;
        return false;
    });
    if (!job.meta.uid) reader.fail("wanted a Job with metadata");
    return job;
}

}  // namespace berth::kube::objects
