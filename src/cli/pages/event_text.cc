// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/event_text.h"

#include <algorithm>
#include <variant>

#include "cli/pages/cluster_pages.h"
#include "codec/log/event_log.h"
#include "codec/words/gpu_request.h"
#include "codec/words/timestamp.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

std::string for_whom(model::JobId beneficiary, const codec::NameTable& names) {
    return beneficiary.is_valid() ? " for " + named(beneficiary, names) : "";
}

std::string rights(const model::Entitlement& rights) {
    return "quota " + (rights.quota ? base::format(*rights.quota) : "of its children") + ", " +
           std::string(codec::word(rights.kind));
}

struct Phrase {
    const codec::NameTable& names;

    std::string operator()(const model::LevelsSet& event) const {
        std::string text = "levels ";
        for (const std::string& level : event.levels) text += level + ", ";
        return text + model::kNodeLevel;
    }
    std::string operator()(const model::PoolSet& event) const {
        std::string text = "pool " + event.pool.name + ": ";
        for (const auto& [key, value] : event.pool.labels) text += key + "=" + value + ", ";
        for (const auto& [model, weight] : event.pool.exchange) {
            text += model + " counts " + base::format_thousandths(weight) + ", ";
        }
        return text + (event.pool.spares.empty() ? "no spares" : "spares in " + event.pool.spares);
    }
    std::string operator()(const model::PoolRemoved& event) const {
        return "pool " + event.pool + " removed";
    }
    std::string operator()(const model::NodeSet& event) const {
        std::string text = "node " + event.node.name + ": " + std::to_string(event.node.gpus) +
                           " GPUs, " + std::string(codec::word(event.node.health));
        for (const auto* entries : {&event.node.labels, &event.node.topology}) {
            for (const auto& [key, value] : *entries) text += ", " + key + "=" + value;
        }
        for (const model::Taint& taint : event.node.taints) text += ", taint " + format(taint);
        return text;
    }
    std::string operator()(const model::NodeUsedByOthers& event) const {
        return "node " + event.node + ": other programs use " + others_text(event.use);
    }
    std::string operator()(const model::NodeMoved& event) const {
        const std::string replaced =
            event.replaces.empty() ? "" : ", in the place of " + event.replaces;
        return "node " + event.node + ": joins pool " + event.pool + replaced;
    }
    std::string operator()(const model::ProjectSet& event) const {
        std::string text = "project " + event.project.name + ": " + rights(event.project.rights);
        for (const auto& [pool, rights_there] : event.project.pools) {
            text += "; in pool " + pool + " " + rights(rights_there);
        }
        return text;
    }
    std::string operator()(const model::ProjectRemoved& event) const {
        return "project " + event.project + " removed";
    }
    std::string operator()(const model::LogBegun& event) const {
        if (event.last_job.value <= 0) return "log begun";
        return "log continues from an earlier state; new jobs are numbered above " +
               std::to_string(event.last_job.value);
    }
    std::string operator()(const model::PolicySet& event) const {
        std::string text = "policy:";
        for (const auto& [name, value] : event.settings) {
            text += (text.ends_with(':') ? " " : ", ") + name;
            text += value ? "=" + *value : " reset to its startup value";
        }
        if (event.settings.empty()) text += " another order of jobs at startup";
        return text;
    }
    std::string operator()(const model::JobSubmitted& event) const {
        return "submitted to " + event.spec.project + ", asks " + codec::gpu_summary(event.spec);
    }
    std::string operator()(const model::JobStarting& event) const {
        const bool grows = !event.tasks.empty() && event.tasks.front().task > 0;  // not rank 0
        return (grows ? std::string("gets")
                      : "attempt " + std::to_string(event.attempt) + " starts on") +
               " " + where_text(event.tasks, names) + " (" + std::string(rule_word(event.rule)) +
               ")";
    }
    std::string operator()(const model::JobRunning&) const { return "runs"; }
    std::string operator()(const model::JobReserved& event) const {
        return "has reserved " + where_text(event.tasks, names) + " (" +
               std::string(rule_word(event.rule)) + ")";
    }
    std::string operator()(const model::ReservationDropped&) const {
        return "lost its reservation";
    }
    std::string operator()(const model::PauseRequested& event) const {
        const std::string what =
            event.whole_job ? "is asked to save and pause" : "is asked to shrink";
        return what + for_whom(event.beneficiary, names) + " (" +
               std::string(rule_word(event.rule)) + ")";
    }
    std::string operator()(const model::JobPaused& event) const {
        if (event.frozen) return "paused by checkpoint, in " + base::format(event.frozen->time);
        return event.saved ? "paused, saved" : "paused, ended before it saved";
    }
    std::string operator()(const model::JobParked& event) const {
        return "parked by checkpoint, in " + base::format(event.frozen.time) +
               ": it made no call to its GPUs";
    }
    std::string operator()(const model::JobWoken&) const { return "wakes: it asks for its GPUs"; }
    std::string operator()(const model::JobResized& event) const {
        return std::string(event.saved ? "saved" : "ended before it saved") +
               ", continues as attempt " + std::to_string(event.attempt) + " with the tasks it has";
    }
    std::string operator()(const model::JobSizeSet& event) const {
        return "wants " + (event.tasks == 1 ? "1 task" : std::to_string(event.tasks) + " tasks") +
               " from now on";
    }
    std::string operator()(const model::JobRequestSet& event) const {
        const std::string when = event.requeue ? " once it has left its GPUs" : " from now on";
        std::string text = "asks " + codec::format_gpu_request({event.request, 1, 1, {}, {}});
        if (event.request.cap > base::MilliGpu{0})
            text += ", at most " + base::format(event.request.cap) + " of the time";
        return text + when;
    }
    std::string operator()(const model::JobHeld&) const { return "is on hold by a user"; }
    std::string operator()(const model::JobReleased&) const { return "may run again"; }
    std::string operator()(const model::CheckpointSaved&) const { return "saved a checkpoint"; }
    std::string operator()(const model::JobMeasured& event) const {
        return "took " + profile_text(event.profile);
    }
    std::string operator()(const model::JobsParted& event) const {
        return "and " + named(event.beside, names) +
               " get less done on one GPU than one after the other: no longer packed";
    }
    std::string operator()(const model::JobEscaped& event) const {
        return "uses GPUs outside its share: " + event.detail;
    }
    std::string operator()(const model::JobIdle& event) const {
        std::string text = "its GPUs do nothing";
        if (event.warning.acts_at) {
            text += "; it is " + std::string(done(event.warning.act)) + " at " +
                    clock_time(*event.warning.acts_at) + " unless they are used";
        }
        return event.warning.why_not.empty()
                   ? text
                   : text + "; it is not parked: " + event.warning.why_not;
    }
    std::string operator()(const model::JobBusy&) const {
        return "is no longer warned that its GPUs idle";
    }
    std::string operator()(const model::JobUsed& event) const {
        const std::int64_t percent =
            event.measured > model::Duration{0} ? event.busy * 100 / event.measured : 0;
        return "its GPUs were busy for " + std::to_string(percent) + " % of " +
               base::format(event.measured);
    }
    std::string operator()(const model::JobKept& event) const {
        return "is kept until " + codec::format_time(event.until) + ", also while its GPUs idle";
    }
    std::string operator()(const model::CancelRequested& event) const {
        const std::string text = "is asked to stop";
        return event.reason.empty() ? text : text + ": " + event.reason;
    }
    std::string operator()(const model::JobFinished& event) const {
        std::string text(codec::word(event.state));
        text += ", exit " + std::to_string(event.exit_code);
        return event.detail.empty() ? text : text + ": " + event.detail;
    }
    std::string operator()(const model::AttemptLost& event) const {
        return "its attempt was lost: " + event.detail;
    }
};

}  // namespace

std::string event_text(const model::Event& event, const codec::NameTable& names) {
    return std::visit(Phrase{names}, event.body);
}

std::string event_line(const model::Event& event, const codec::NameTable& names,
                       base::TimePoint now, TimeForm form, const Style& style) {
    const std::string when =
        form == TimeForm::Iso ? moment(event.time, now, form) : clock_time(event.time);
    const model::JobId job = codec::job_of(event.body);
    std::string text = job.is_valid() ? named(job, names) + " " : std::string();
    text = printable(text + event_text(event, names));
    const std::string actor = printable(event.actor);
    if (style.is_terminal) {
        const int room = style.width - display_width(when) - display_width(actor) - 4;
        text = truncated(text, std::max(20, room), style.glyphs().ellipsis);
    }
    return style.paint(Tone::Faint, when) + "  " + text + "  " + style.paint(Tone::Faint, actor) +
           "\n";
}

}  // namespace berth::cli
