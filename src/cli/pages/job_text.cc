// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/job_text.h"

#include <algorithm>
#include <map>

#include "codec/words/gpu_request.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

using model::JobState;

bool is_waiting(const model::JobRecord& record) {
    return record.state == JobState::Queued || record.state == JobState::Paused;
}

bool can_never_run(const codec::JobView& job) {
    if (!is_waiting(job) || !job.verdict) return false;
    const model::Reason reason = job.verdict->reason;
    return reason == model::Reason::NeverFits || reason == model::Reason::Invalid;
}

std::string ending(const model::JobRecord& record) {
    const std::string code = "exit " + std::to_string(record.exit_code);
    if (record.state == JobState::Succeeded) return code;
    if (record.state == JobState::Cancelled) {
        return record.detail.empty() ? "cancelled" : record.detail;
    }
    return record.detail.empty() ? code : code + ": " + record.detail;
}

// "3/8 tasks"; those that are asked to leave are not counted.
std::string tasks_text(const model::JobRecord& record) {
    return std::to_string(record.tasks.size() - record.releasing.size()) + "/" +
           std::to_string(record.spec.tasks_max) + " tasks";
}

std::string running_note(const model::JobRecord& record, base::TimePoint now,
                         std::string_view dot) {
    std::vector<std::string> notes;
    if (record.spec.tasks_max > record.spec.tasks_min) notes.push_back(tasks_text(record));
    if (record.is_resizing()) notes.push_back("saving, then continues with this number of tasks");
    if (record.last_checkpoint)
        notes.push_back("saved " + age(now - *record.last_checkpoint) + " ago");
    if (record.attempts > 1) notes.push_back("attempt " + std::to_string(record.attempts));
    if (record.pauses > 0) {
        notes.push_back("paused " + std::to_string(record.pauses) +
                        (record.pauses == 1 ? " time" : " times"));
    }
    std::string text;
    for (const std::string& note : notes) {
        if (!text.empty()) text += " " + std::string(dot) + " ";
        text += note;
    }
    return text;
}

// "PoolFull" as "pool full".
std::string reason_words(model::Reason reason) {
    std::string words;
    for (const char c : name(reason)) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        if (is_upper && !words.empty()) words += ' ';
        words += is_upper ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return words;
}

// "in 10m-40m, " or nothing: when it is expected to start.
std::string start_words(const codec::JobView& job, base::TimePoint now) {
    if (!job.foresight || !job.foresight->start_estimate) return {};
    const model::StartEstimate& start = *job.foresight->start_estimate;
    if (!start.optimistic) return {};
    const std::string last =
        start.pessimistic ? age(*start.pessimistic - now) : "over " + age(start.until - now);
    return "in " + age(*start.optimistic - now) + "-" + last + ", ";
}

}  // namespace

std::string_view state_word(const codec::JobView& job) {
    return can_never_run(job) ? "never" : codec::word(job.state);
}

Cell state_cell(const codec::JobView& job) {
    std::string word;
    for (const char c : state_word(job)) word += static_cast<char>(c - 'a' + 'A');
    if (can_never_run(job)) return {word, Tone::Bad};
    switch (job.state) {
        case JobState::Queued: return {word, Tone::Warning};
        case JobState::Starting:
        case JobState::Running: return {word, Tone::Good};
        case JobState::Pausing:
        case JobState::Paused: return {word, Tone::Busy};
        case JobState::Succeeded: return {word, Tone::Faint};
        case JobState::Failed: return {word, Tone::Bad};
        case JobState::Cancelling:
        case JobState::Cancelled: break;
    }
    return {word, Tone::Faint};
}

std::string gpu_ranges(std::uint64_t gpu_mask) {
    std::string text;
    for (int first = 0; first < model::kGpusPerNodeMax; ++first) {
        if ((gpu_mask >> first & 1U) == 0) continue;
        int last = first;
        while (last + 1 < model::kGpusPerNodeMax && (gpu_mask >> (last + 1) & 1U) != 0) ++last;
        if (!text.empty()) text += ",";
        text += std::to_string(first);
        if (last > first) text += "-" + std::to_string(last);
        first = last;
    }
    return text;
}

std::string node_name(model::NodeId node, const codec::NameTable& names) {
    if (node.is_valid() && node.index() < names.nodes.size()) return names.nodes[node.index()];
    return "node " + std::to_string(node.value);
}

std::string where_text(const std::vector<model::TaskPlacement>& tasks,
                       const codec::NameTable& names) {
    constexpr std::size_t kNodesShown = 2;
    std::map<model::NodeId, std::uint64_t> nodes;
    for (const model::TaskPlacement& task : tasks) nodes[task.node] |= task.gpu_mask;
    if (nodes.empty()) return "-";
    if (nodes.size() > kNodesShown) return std::to_string(nodes.size()) + " nodes";
    std::string text;
    for (const auto& [node, gpu_mask] : nodes) {
        text += (text.empty() ? "" : ",") + node_name(node, names);
        if (gpu_mask != 0) text += ":" + gpu_ranges(gpu_mask);
    }
    return text;
}

std::string asks_text(const model::JobRecord& job) {
    const model::JobSpec& spec = job.spec;
    std::string text = gpus_text(job) + (spec.request.is_whole() ? " GPUs" : " of a GPU");
    if (gpus_text(job) == "1") text = "1 GPU";
    if (spec.request.cap > base::MilliGpu{0})
        text += ", at most " + base::format(spec.request.cap) + " of its time";
    if (spec.tasks_min > 1 || spec.tasks_max > 1) {
        const std::string least = std::to_string(spec.tasks_min);
        text += " as " + least;
        const bool is_elastic = spec.tasks_max > spec.tasks_min;
        if (is_elastic) text += " to " + std::to_string(spec.tasks_max);
        text += is_elastic ? " tasks, " + least + " at once" : " tasks, all at once";
        const bool restarts = is_elastic && spec.elastic == model::Elastic::Restart;
        if (restarts) text += "; restarts to change its number of tasks";
    }
    return text;
}

std::string gpus_text(const model::JobRecord& job) { return codec::gpu_summary(job.spec); }

std::string run_or_wait(const model::JobRecord& record, base::TimePoint now) {
    if (record.finished)
        return age(*record.finished - record.first_start.value_or(*record.finished));
    if (record.state == JobState::Queued) return age(now - record.created);
    if (record.state == JobState::Paused && record.last_pause) {
        return age(now - record.last_pause->stopped.value_or(record.last_pause->time));
    }
    return age(now - record.last_start.value_or(record.created));
}

std::string progress_text(const codec::JobView& job, const codec::NameTable& names,
                          base::TimePoint now, const Glyphs& glyphs) {
    if (model::is_final(job.state)) return ending(job);
    if (job.parked_since && !job.held) {
        return "parked since " + clock_time(*job.parked_since) + ", wakes on its next GPU call";
    }
    if (is_waiting(job)) {
        if (job.verdict)
            return start_words(job, now) + reason_words(job.verdict->reason) + ": " + job.why;
        return job.held ? "on hold by a user" : "";
    }
    if (job.state == JobState::Pausing && job.last_pause) {
        const model::JobId other = job.last_pause->beneficiary;
        if (other.is_valid()) return "is saving, for " + named(other, names);
        return "is saving, asked by " + job.last_pause->actor;
    }
    if (job.state == JobState::Cancelling) return "asked to stop";
    if (!job.why.empty()) return job.why;
    if (job.idle) return idleness_text(*job.idle, now);
    const std::string note = running_note(job, now, glyphs.dot);
    if (job.beside.empty()) return note;
    return "beside " + named(job.beside.front(), names) +
           (note.empty() ? "" : " " + std::string(glyphs.dot) + " " + note);
}

std::string idleness_text(const model::IdleWarning& idle, base::TimePoint now) {
    const std::string text = "idle " + age(now - idle.since);
    if (!idle.acts_at) return text;
    return text + ", " + std::string(done(idle.act)) + " in " +
           age(std::max(*idle.acts_at - now, base::Duration{0}));
}

std::string job_title(const model::JobRecord& record) {
    if (!record.spec.name.empty()) return record.spec.name;
    return "job " + std::to_string(record.id.value);
}

std::string named(model::JobId job, const codec::NameTable& names) {
    const std::string number = std::to_string(job.value);
    const auto known = names.jobs.find(job);
    return known == names.jobs.end() ? "job " + number : number + " " + known->second;
}

std::string profile_text(const model::GpuProfile& profile) {
    std::string text;
    if (profile.compute) {
        text = std::to_string((profile.compute->value + 5) / 10) + " % of a GPU's time and ";
    }
    text += base::format(profile.highest) + " of its memory";
    if (profile.iterations == 0 || profile.iteration_us == 0) return text;
    const bool is_short = profile.iteration_us < 10'000;
    return text + ", in iterations of " +
           (is_short ? std::to_string(profile.iteration_us) + "us"
                     : base::format(base::Duration{profile.iteration_us / 1000}));
}

std::string gpu_count(model::MilliGpu amount) {
    return base::format(amount) + (amount.value > 1000 ? " GPUs" : " GPU");
}

std::string gpu_time(std::int64_t gpu_ms) {
    constexpr std::int64_t kMinute = 60'000;
    constexpr std::int64_t kHour = 60 * kMinute;
    if (gpu_ms < 10 * kMinute) return std::to_string(gpu_ms / 1000) + " GPU-s";
    if (gpu_ms < kHour) return std::to_string(gpu_ms / kMinute) + " GPU-min";
    return base::format_thousandths(gpu_ms / (kHour / 10) * 100) + " GPU-h";
}

std::string ordinal(int number) {
    const int tens = number % 100;
    const int ones = number % 10;
    const bool is_regular = tens >= 11 && tens <= 13;
    const char* ending_of = is_regular || ones == 0 || ones > 3 ? "th"
                            : ones == 1                         ? "st"
                            : ones == 2                         ? "nd"
                                                                : "rd";
    return std::to_string(number) + ending_of;
}

std::string_view rule_word(model::Rule rule) { return codec::word(rule); }

std::string_view rule_meaning(model::Rule rule) {
    switch (rule) {
        case model::Rule::Reclaim: return "a project below its quota reclaimed lent GPUs";
        case model::Rule::Preempt:
            return "a job of its project goes first, by priority or expected cost";
        case model::Rule::Consolidate: return "it moves, so that a larger job fits";
        case model::Rule::Stale: return "the gang ran too long below its minimum of tasks";
        case model::Rule::Part: return "together they got less done than one after the other";
        case model::Rule::Park: return "its GPUs idled for the time that it, or a rule, says";
        case model::Rule::Allocate:
        case model::Rule::Hold:
        case model::Rule::User: break;
    }
    return {};
}

}  // namespace berth::cli
