// SPDX-License-Identifier: Apache-2.0
#include "kube/people/why_page.h"

#include "cli/pages/job_text.h"
#include "cli/terminal/page_lines.h"
#include "codec/words/words.h"

namespace berth::kube::people {
namespace {

using cli::line;
using cli::Style;
using model::JobState;

constexpr int kNodesShown = 16;

std::string pods_text(int pods) { return std::to_string(pods) + (pods == 1 ? " pod" : " pods"); }

std::string gpus_text(const Work& work) {
    const std::int64_t gpus = gpus_of(work);
    const int pods = pods_of_request(work);
    std::string text = gpus == 0 ? "no GPU" : cli::gpu_count(base::gpus(gpus));
    if (pods > 1) text += " as " + pods_text(pods);
    return work.pods_bound == 0 && pods > 1 ? text + ", all at once" : text;
}

std::string nodes_of(const Work& work) {
    std::string text;
    int shown = 0;
    for (const auto& [node, pods] : work.nodes) {
        if (++shown > kNodesShown) {
            return text + " and " + std::to_string(work.nodes.size() - kNodesShown) + " more";
        }
        text += (text.empty() ? "" : ", ") + node;
        if (pods > 1) text += " (" + pods_text(pods) + ")";
    }
    return text;
}

std::string since(base::TimePoint time, base::TimePoint now) {
    return cli::clock_time(time) + ", " + cli::age(now - time) + " ago";
}

std::string sentence_about(const Work& work) {
    const std::string& why = work.job.why;
    const std::string more = why.empty() ? "" : ": " + why;
    switch (work.job.state) {
        case JobState::Queued: return " waits" + more;
        case JobState::Paused: return work.job.held ? " is " + why : " is paused and waits" + more;
        case JobState::Pausing: return " is saving" + more;
        case JobState::Succeeded: return " has ended: it succeeded";
        case JobState::Failed: return " has ended: it failed" + more;
        case JobState::Running:
            return " is running on " + nodes_of(work) +
                   (why.empty() ? "; it does not wait" : "; it waits for more" + more);
        case JobState::Cancelling: return " is asked to stop" + more;
        case JobState::Cancelled:
        case JobState::Starting: break;
    }
    return " is starting" + more;
}

std::string history_lines(const Work& work, const Style& style) {
    if (!work.history) return {};
    const int pauses = work.job.pauses;
    return line("used",
                cli::gpu_time(work.history->attained.count()) + " until it was last paused, " +
                    cli::gpu_time(work.history->lost.count()) + " lost to pauses",
                style) +
           line("paused", std::to_string(pauses) + (pauses == 1 ? " time" : " times"), style);
}

std::string resumes(const Work& work) {
    if (!work.job.held) return "as soon as GPUs are free for it";
    return "kubectl patch " + work.name + " -n " + work.name_space +
           " --type merge -p '{\"spec\":{\"suspend\":false}}'";
}

std::string receipt_lines(const Work& work, const std::string& beneficiary, base::TimePoint now,
                          const Style& style) {
    const objects::Receipt& receipt = *work.receipt;
    const std::string whom = beneficiary.empty() ? "" : " for " + beneficiary;
    const auto rule = codec::from_word<model::Rule>(receipt.rule);
    const std::string meaning(rule ? cli::rule_meaning(*rule) : "");
    std::string text = style.paint(cli::Tone::Strong,
                                   cli::printable("paused " + cli::clock_time(receipt.time) + whom +
                                                  ", " + cli::age(now - receipt.time) + " ago")) +
                       "\n";
    if (receipt.rule.empty()) return text;  // its GPUs were not taken
    text += line("rule", receipt.rule + (meaning.empty() ? "" : ": " + meaning), style);
    return text + line("notice",
                       "asked " + cli::clock_time(receipt.time) + " (time until " +
                           cli::clock_time(receipt.deadline) + ")",
                       style);
}

std::string not_ours_page(const Work& work, const Style& style) {
    std::string text = cli::headline(cli::sentence_of(work.name + " " + work.not_ours), "", style);
    if (!work.nodes.empty()) text += line("runs on", nodes_of(work), style);
    const bool waits = work.job.state == JobState::Queued && !work.reason.empty();
    if (waits) text += line("waits", work.job.why, style);
    return text;
}

}  // namespace

std::string why_page(const Work& work, const std::string& beneficiary, base::TimePoint now,
                     const Style& style) {
    if (!work.not_ours.empty()) return not_ours_page(work, style);
    const codec::JobView& job = work.job;
    const bool is_paused = job.state == JobState::Paused || job.state == JobState::Pausing;
    std::string text = cli::headline(cli::sentence_of(work.name + sentence_about(work)),
                                     work.reason.empty() ? "" : "[" + work.reason + "]", style);
    text += line("project", job.spec.project.empty() ? "-" : job.spec.project, style);
    if (model::is_final(job.state)) return text;
    const bool has = !is_paused && work.pods_bound > 0;
    text += line(has ? "has" : "asks", gpus_text(work), style);
    if (!work.nodes.empty() && job.state != JobState::Running)
        text += line("on", nodes_of(work), style);
    if (has && job.last_start) text += line("since", since(*job.last_start, now), style);
    if (!has && !is_paused) text += line("since", since(job.created, now), style);
    text += history_lines(work, style);
    if (!is_paused) return text;
    if (!job.held && work.receipt) text += receipt_lines(work, beneficiary, now, style);
    return job.state == JobState::Paused ? text + line("resumes", resumes(work), style) : text;
}

}  // namespace berth::kube::people
