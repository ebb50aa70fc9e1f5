// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/job_pages.h"

#include <algorithm>

#include "cli/pages/event_text.h"
#include "cli/pages/order_text.h"
#include "cli/pages/timeline_page.h"
#include "cli/terminal/page_lines.h"
#include "codec/words/words.h"
#include "lifecycle/apply.h"
#include "model/job/task_groups.h"
#include "scheduling/explain/explain.h"
#include "scheduling/explain/forecast.h"

namespace berth::cli {
namespace {

using model::JobState;
using model::Reason;

// What it asks for, and in which groups.
std::string asks_lines(const model::JobRecord& job, const Style& style) {
    const model::TopologyRequest& topology = job.spec.topology;
    std::string text = line("asks", asks_text(job), style);
    if (!topology.groups.empty()) {
        text += line("groups", model::format_task_groups(topology), style);
    }
    return text;
}

std::string idle_text(const model::Verdict& verdict, const Glyphs& glyphs) {
    std::string text =
        base::format(verdict.idle) + " of " + base::format(verdict.capacity) + " in the pool";
    if (verdict.largest_free.value > 0) {
        text += " " + std::string(glyphs.dot) + " at most " + base::format(verdict.largest_free) +
                " on one node";
    }
    if (verdict.tasks_asked > 1) {
        text += " " + std::string(glyphs.dot) + " room for " + std::to_string(verdict.tasks_fit) +
                " of " + std::to_string(verdict.tasks_asked) + " tasks" +
                (verdict.group.empty() ? "" : " of group " + verdict.group);
    }
    return text;
}

// What the job will start by, without anybody doing anything.
std::string waits_for(const model::Verdict& verdict) {
    switch (verdict.reason) {
        case Reason::Held:
        case Reason::Paused: return "a user to resume it";
        case Reason::Parked: return "its own next call to a GPU";
        case Reason::Invalid:
        case Reason::NeverFits:
        case Reason::ModelMismatch: return "a change of the cluster or of the job";
        case Reason::QuotaHard: return "a job of " + verdict.scope + " to end, or a larger quota";
        case Reason::QuotaFair: return "over-quota GPUs";
        case Reason::WaitingForPause: return "these jobs to save and stop";
        case Reason::Reserved: return "the job with the reservation to start, or other GPUs";
        case Reason::PriorityAhead: return "these jobs to start";
        case Reason::Unhealthy: return "a node to come back";
        case Reason::Starting: return "its own processes";
        case Reason::NotYetEvaluated: return "the next decision, due at once";
        default: break;
    }
    return verdict.blockers.empty() ? "GPUs to become free" : "one of these jobs to end or pause";
}

// What jobs like it took, and what to ask for where that is less than it asks for.
std::string profile_lines(const codec::JobView& job, const Style& style) {
    if (!job.profile) return {};
    std::string text = line("profile", "jobs like it took " + profile_text(*job.profile), style);
    const auto part = model::fitting_part(*job.profile);
    const model::TaskRequest& request = job.spec.request;
    const bool is_less = part && (request.is_whole() || part->compute < request.share);
    if (!is_less || part->compute >= base::kWholeGpu) return text;
    return text + line("would fit",
                       "-g " + base::format(part->compute) + "+" + base::format(part->memory),
                       style);
}

// The job that shares its GPU, or why none does.
std::string packing_lines(const codec::JobView& job, const codec::NameTable& names,
                          const Style& style) {
    if (!job.spec.may_share || model::is_final(job.state)) return {};
    if (job.is_parted) {
        return line("packed",
                    "no longer: with another job it got less done than one after the other", style);
    }
    if (!job.spec.packed) {
        const bool is_known = job.profile && job.profile->compute;
        return line("packed",
                    is_known
                        ? "no: it needs more than half of a GPU's time or memory, or jobs like "
                          "it slowed others down"
                        : "not yet: it runs alone until it is measured",
                    style);
    }
    std::string partner = "with no job yet";
    for (const model::JobId other : job.beside) partner = "with " + named(other, names);
    return line("packed",
                partner + ": jobs like it leave half of a GPU unused; counts as " +
                    base::format(job.spec.packed->compute) + " of its time and " +
                    base::format(job.spec.packed->memory) + " of its memory",
                style);
}

std::string line_unless_empty(std::string_view label, const std::string& text, const Style& style) {
    return text.empty() ? text : line(label, text, style);
}

// The position of a waiting job in the order of its project, why, and until when.
std::string place_lines(const codec::JobView& job, const codec::NameTable& names,
                        base::TimePoint now, const Style& style) {
    const bool never_fits =
        job.verdict->reason == Reason::NeverFits || job.verdict->reason == Reason::ModelMismatch;
    if (never_fits) return {};
    return line("position", place_text(*job.order, job.spec.project), style) +
           line_unless_empty("cost", cost_text(*job.order), style) +
           line_unless_empty("preempts", price_text(*job.order, names), style) +
           line_unless_empty("due", due_text(*job.order, now), style);
}

// The same of any job, for its own page.
std::string order_lines(const codec::JobView& job, base::TimePoint now, const Style& style) {
    if (!job.order) return {};
    const bool waits = job.order->position > 0;
    return line_unless_empty("position", waits ? place_text(*job.order, job.spec.project) : "",
                             style) +
           line_unless_empty("cost", cost_text(*job.order), style) +
           line_unless_empty(job.order->by == model::JobOrder::Learned ? "stages" : "levels",
                             stages_text(*job.order), style) +
           line_unless_empty("due", due_text(*job.order, now), style);
}

std::string verdict_lines(const codec::JobView& job, const codec::NameTable& names,
                          base::TimePoint now, const Style& style) {
    const model::Verdict& verdict = *job.verdict;
    std::string text = asks_lines(job, style) + profile_lines(job, style);
    text += packing_lines(job, names, style);
    if (verdict.capacity.value > 0) text += line("idle", idle_text(verdict, style.glyphs()), style);
    std::string blockers;
    for (const model::JobId blocker : verdict.blockers) {
        blockers += (blockers.empty() ? "" : ", ") + named(blocker, names);
    }
    if (!blockers.empty()) text += line("in the way", blockers, style);
    if (job.order && job.order->position > 0) {
        text += place_lines(job, names, now, style);
    } else if (verdict.position > 0) {
        text += line("position", ordinal(verdict.position) + " of " + job.spec.project, style);
    }
    const std::string sum = scheduling::arithmetic_text(verdict);
    if (!sum.empty()) text += line("sum", sum, style);
    text += line("waits for", waits_for(verdict), style);
    if (!job.foresight) return text;
    if (!job.foresight->starts_if.empty()) {
        text += line("starts if", job.foresight->starts_if, style);
    }
    if (job.foresight->start_estimate) {
        text +=
            line("estimate",
                 scheduling::estimate_text(*job.foresight->start_estimate, now,
                                           [&](model::JobId other) { return named(other, names); }),
                 style);
    }
    return text;
}

std::string task_lines(const model::JobRecord& job, const codec::NameTable& names,
                       const Style& style) {
    std::string text;
    std::string_view label = "tasks";
    constexpr std::size_t kTasksShown = 16;
    for (std::size_t i = 0; i < std::min(job.tasks.size(), kTasksShown); ++i) {
        const model::TaskPlacement& task = job.tasks[i];
        const model::TaskGroup* group = model::group_of(job.spec, task.task);
        std::string where = "task " + std::to_string(task.task) +
                            (group != nullptr ? " of group " + group->name : "") + " on " +
                            node_name(task.node, names);
        if (task.gpu_mask != 0) where += " GPU " + gpu_ranges(task.gpu_mask);
        if (task.share != base::kWholeGpu && task.gpu_mask != 0) {
            where += ", " + model::format_part(task.part(), task.memory_share) + " of it";
        }
        text += line(label, where, style);
        label = "";
    }
    if (job.tasks.size() > kTasksShown) {
        text += line("", "and " + std::to_string(job.tasks.size() - kTasksShown) + " more", style);
    }
    return text;
}

std::string request_lines(const model::JobRecord& job, const Style& style) {
    const model::JobSpec& spec = job.spec;
    std::string text = asks_lines(job, style);
    const std::string cpu =
        spec.request.cpu ? base::format(*spec.request.cpu) + " CPUs" : "CPUs by GPU share";
    const std::string memory = spec.request.memory ? base::format(*spec.request.memory) + " memory"
                                                   : "memory by GPU share";
    std::string more;
    for (const auto& [name, amount] : spec.request.resources) {
        more += ", " + base::format(base::Bytes{amount}) + " " + name;
    }
    text += line("host", cpu + ", " + memory + more + (spec.tasks_max > 1 ? " for each task" : ""),
                 style);
    text +=
        line("kind",
             std::string(codec::word(spec.kind)) + ", priority " + std::to_string(spec.priority) +
                 (spec.preemptible ? ", preemptible" : ", not preemptible"),
             style);
    return text;
}

// The idle time until it is parked, or why it cannot be parked.
std::string park_lines(const model::JobRecord& record, const Style& style) {
    const base::Duration after = record.spec.park_after.value_or(base::Duration{-1});
    if (after < base::Duration{0} || model::is_final(record.state)) return {};
    if (const std::string& why_not = record.pause_way.why_not_parked; !why_not.empty())
        return line("parks", "never: " + why_not, style);
    return line("parks", "after " + age(after) + " without a call to its GPUs", style);
}

// Since when its GPUs do nothing, what follows, and until when it is kept all the same.
std::string idle_lines(const model::JobRecord& record, base::TimePoint now, const Style& style) {
    if (model::is_final(record.state)) return {};
    if (record.kept_until && now < *record.kept_until)
        return line("kept", "for " + age(*record.kept_until - now) + " more, also while idle",
                    style);
    if (!record.idle) return {};
    const model::IdleWarning& idle = *record.idle;
    std::string text = idleness_text(idle, now);
    if (idle.acts_at)
        text += " unless its GPUs are used; berth keep " + std::to_string(record.id.value) +
                " keeps it";
    if (!idle.why_not.empty()) text += "; it is not parked: " + idle.why_not;
    return line("gpus", text, style);
}

// Its processes that use GPUs beside its share, now or since this attempt started.
std::string escape_lines(const codec::JobView& job, const Style& style) {
    std::string text;
    for (const codec::ProcessView& process : job.uncounted) {
        text += line(text.empty() ? "beside" : "",
                     "process " + std::to_string(process.pid) + " uses " +
                         base::format(process.memory) + " of GPU " + std::to_string(process.gpu) +
                         " on " + process.node + " outside the job's share; it counts to the job",
                     style);
    }
    if (text.empty() && !job.escaped.empty())
        text = line("beside", "earlier it used GPUs outside its share: " + job.escaped, style);
    return text;
}

// How it would be paused.
std::string pause_lines(const model::JobRecord& record, const Style& style) {
    const model::PauseWay& way = record.pause_way;
    if (model::is_final(record.state)) return {};
    switch (way.rung) {
        case model::PauseRung::Unknown: return {};
        case model::PauseRung::Checkpoint:
            return line("pauses by",
                        "checkpoint, with all its processes kept; a signal while none uses a GPU",
                        style);
        case model::PauseRung::Signal:
            return line("pauses by",
                        "signal, to save and stop; no checkpoint: " + way.why_not +
                            "; it starts again from what it saved",
                        style);
        case model::PauseRung::Kill:
            return line("pauses by",
                        "ending it: " + way.why_not + "; it starts again from what it saved before",
                        style);
    }
    return {};
}

// ", 8.2G off its GPUs in 310ms"
// Where its processes are kept, it goes on: "of n0 ". Empty where it can go on anywhere.
std::string of_its_node(const model::JobRecord& job, const codec::NameTable& names) {
    if (job.frozen.empty()) return {};
    const std::string where = where_text(job.frozen, names);
    return "of " + where.substr(0, where.find(':')) + " ";
}

std::string off_gpus(const model::Frozen& frozen) {
    const std::string time = " in " + base::format(frozen.time);
    if (frozen.gpu_memory < base::Bytes{0}) return ", off its GPUs" + time;
    return ", " + base::format(frozen.gpu_memory) + " off its GPUs" + time;
}

// How it was asked, and how it left.
std::string notice_text(const model::PauseReceipt& receipt, const Style& style) {
    if (receipt.rule == model::Rule::Park && receipt.frozen)
        return "parked by checkpoint" + off_gpus(*receipt.frozen);
    const std::string arrow = " " + std::string(style.glyphs().arrow) + " ";
    std::string notice = "asked " + clock_time(receipt.time) + " (time until " +
                         clock_time(receipt.deadline) + ")" + arrow;
    if (!receipt.stopped) {
        notice += "saving now";
    } else {
        notice +=
            "stopped " + clock_time(*receipt.stopped) + " after " +
            base::format(*receipt.stopped - receipt.time) + arrow +
            (receipt.frozen  ? "paused by checkpoint" + off_gpus(*receipt.frozen)
             : receipt.saved ? "it saved and stopped"
             : *receipt.stopped < receipt.deadline ? "it ended without saving"
                                                   : "it did not stop in time and was killed");
    }
    return notice;
}

std::string history_lines(const model::JobRecord& record, base::TimePoint now, TimeForm form,
                          const Style& style) {
    std::string text =
        line("submitted", moment(record.created, now, form) + " by " + record.user, style);
    if (record.first_start) {
        text += line("started",
                     moment(*record.first_start, now, form) + ", after waiting " +
                         age(*record.first_start - record.created),
                     style);
    }
    if (record.last_checkpoint) {
        text += line("saved", moment(*record.last_checkpoint, now, form), style);
    }
    if (record.finished) text += line("ended", moment(*record.finished, now, form), style);
    text += line("attempts",
                 std::to_string(record.attempts) + ", paused " + std::to_string(record.pauses) +
                     (record.pauses == 1 ? " time" : " times"),
                 style);
    text += pause_lines(record, style) + park_lines(record, style) + idle_lines(record, now, style);
    return text + line("used",
                       gpu_time(lifecycle::attained_gpu_ms(record, now)) + ", lost to pauses " +
                           gpu_time(record.lost_gpu_ms),
                       style);
}

std::string page_title(const codec::JobView& job, base::TimePoint now, const Style& style) {
    const Cell state = state_cell(job);
    std::string title = "job " + std::to_string(job.id.value);
    if (!job.spec.name.empty()) title += "  " + printable(job.spec.name);
    if (!job.spec.project.empty()) title += "  (" + printable(job.spec.project) + ")";
    return style.paint(Tone::Strong, title) + "  " + style.paint(state.tone, state.text) + "  " +
           run_or_wait(job, now) + "\n";
}

}  // namespace

std::string why_page(const codec::JobView& job, const codec::NameTable& names, base::TimePoint now,
                     const Style& style) {
    const std::string title = printable(job_title(job));
    if (job.verdict) {
        const std::string tag = "[" + std::string(name(job.verdict->reason)) + "]";
        const bool is_paused = job.state == JobState::Paused;
        if (job.verdict->reason == model::Reason::Parked) {
            return headline(
                       sentence_of(title + " is " + progress_text(job, names, now, style.glyphs())),
                       tag, style) +
                   receipt_page(job, names, now, style);
        }
        const std::string sentence =
            title + (is_paused ? " is paused and waits: " : " waits: ") + job.why;
        std::string text =
            headline(sentence_of(sentence), tag, style) + verdict_lines(job, names, now, style);
        if (is_paused) text += receipt_page(job, names, now, style);
        return text;
    }
    std::string sentence = title + " is " + std::string(codec::word(job.state));
    if (model::is_final(job.state)) {
        sentence = title + " has ended: " + progress_text(job, names, now, style.glyphs());
    } else if (job.state == JobState::Pausing) {
        sentence = title + " " + progress_text(job, names, now, style.glyphs());
    } else if (!job.why.empty()) {
        sentence += " and waits: " + job.why;
    } else if (!job.tasks.empty()) {
        sentence += " on " + where_text(job.tasks, names) + "; it does not wait";
    }
    std::string text = headline(sentence_of(sentence), "", style);
    if (!job.tasks.empty()) text += packing_lines(job, names, style);
    const bool is_leaving = job.state == JobState::Pausing || job.state == JobState::Paused;
    return is_leaving ? text + receipt_page(job, names, now, style) : text;
}

std::string receipt_page(const model::JobRecord& job, const codec::NameTable& names,
                         base::TimePoint now, const Style& style) {
    if (!job.last_pause) return {};
    const model::PauseReceipt& receipt = *job.last_pause;
    const bool by_user = !receipt.beneficiary.is_valid();
    const std::string title =
        (receipt.rule == model::Rule::Park ? "parked " : "paused ") + clock_time(receipt.time) +
        (by_user ? " by " + receipt.actor : " for " + named(receipt.beneficiary, names)) + ", " +
        age(now - receipt.time) + " ago";
    std::string text = style.paint(Tone::Strong, printable(title)) + "\n";
    std::string meaning(rule_meaning(receipt.rule));
    if (meaning.empty() && by_user) meaning = "a user asked for it";
    if (!meaning.empty()) meaning = ": " + meaning;
    text += line("rule", std::string(rule_word(receipt.rule)) + meaning, style);
    text += line("notice", notice_text(receipt, style), style);
    if (!receipt.detail.empty()) text += line("note", receipt.detail, style);
    if (job.state == JobState::Paused && !job.frozen.empty())
        text += line("kept", "its processes, on " + where_text(job.frozen, names), style);
    const std::int64_t lost = receipt.stopped && receipt.saved ? 0 : receipt.cost.unsaved_gpu_ms;
    text += line("cost",
                 gpu_time(lost) + " of work lost, " +
                     gpu_time(receipt.frozen ? 0 : receipt.cost.restart_gpu_ms) + " to start again",
                 style);
    if (receipt.order) {
        text += line("order", order_receipt_text(*receipt.order, receipt.cost), style);
    }
    if (job.state == JobState::Paused) {
        text +=
            line("resumes",
                 job.held ? "berth resume " + std::to_string(job.id.value)
                 : job.parked_since
                     ? "on its next GPU call, or by berth resume " + std::to_string(job.id.value)
                     : "as soon as GPUs " + of_its_node(job, names) + "are free for it",
                 style);
    }
    return text;
}

std::string show_page(const codec::JobView& job, const codec::NameTable& names, const Past& past,
                      base::TimePoint now, TimeForm form, const Style& style) {
    std::string text = page_title(job, now, style);
    if (!past.timeline.sentence.empty()) text += headline(past.timeline.sentence, "", style);
    if (const std::string note = progress_text(job, names, now, style.glyphs()); !note.empty()) {
        text += line(model::is_final(job.state) ? "result" : "now", note, style);
    }
    text += line("command", job.command, style) + request_lines(job, style) +
            order_lines(job, now, style) + profile_lines(job, style) +
            packing_lines(job, names, style) + task_lines(job, names, style) +
            escape_lines(job, style) + history_lines(job, now, form, style);
    if (job.last_pause) text += "\n" + receipt_page(job, names, now, style);
    const std::string spans = timeline_page(past.timeline, past.timeline_names, form, style);
    if (!spans.empty()) text += "\n" + spans;
    if (!past.events.empty()) text += "\n" + style.paint(Tone::Strong, "events") + "\n";
    for (const model::Event& event : past.events) {
        const std::string when =
            form == TimeForm::Iso ? moment(event.time, now, form) : clock_time(event.time);
        text += line(when, event_text(event, past.event_names) + ", by " + event.actor, style);
    }
    return text;
}

}  // namespace berth::cli
