// SPDX-License-Identifier: Apache-2.0
//
// Which of a project's jobs is first, and when may that change by itself? For all live jobs of a
// cluster. Each project has one order of three (model::JobOrder):
//
//   learned   by stages of what the next completion costs: the Gittins index (hazards.h) of what
//             jobs like it took (experts.h), at the step of its size that it has got to. 28 stages,
//             each a root of two more, from 10 GPU-minutes on; who has not passed the first step,
//             a GPU-minute, is on stage 0, whatever is thought of it. On a stage those that run
//             are first, then those that ask fewer GPUs, then the oldest. Who runs counts as
//             `hysteresis` stages before its own, on stage 1 at the least; while it restarts after
//             a pause, on stage 0 behind all others: that time would be lost.
//   levels    by levels of GPU time had (discretised two-dimensional LAS; Gu et al., Tiresias,
//             NSDI '19, section 3), inside as above; nothing is learned.
//   age       all rank alike.
//
// Around the first two a guard by waits and one by fair ends (guard.h): whose run they granted is
// on stage 0, behind all others there.
//
// Where `tail` asks for it the last stages are one, on which the oldest is first. It begins where
// no more than so much of all GPU time so far was used by jobs beyond, not below 8 GPU-hours.
//
// Ranks follow from the calls made here, in their order, and from nothing else: not from who asks
// when. All orders learn, whichever ranks. Integers only. What is believed of a job follows its kin
// when one of them ends and, at each third step of a size, as it runs its own, as it waits theirs;
// and the sizes of all when a tenth more jobs have ended. Cost: O(log jobs) for a job that nothing
// is learned of; O(steps x experts) to rank one by what is known now: at an end at most 80 of its
// kin, and when all have learned those that have passed the first step, beyond kAtOnce a few with
// each submission and end.
#pragma once

#include <span>
#include <vector>

#include "base/paged_map.h"
#include "model/answer/order_ledger.h"
#include "model/policy/policy.h"
#include "ordering/account.h"
#include "ordering/experts.h"
#include "ordering/guard.h"
#include "ordering/job_snapshot.h"

namespace berth::ordering {

using base::ProjectId;

struct RulesOfProject {
    ProjectId project;
    model::OrderRules rules;
};

class Ranks {
  public:
    static constexpr std::size_t kAtOnce = 4096;
    static constexpr int kStages = 28;

    // Returns the projects whose rules are others than before: the rank of any of their jobs may be
    // another then. A project without rules goes by age.
    std::vector<ProjectId> set_rules(std::span<const RulesOfProject> rules);
    const model::OrderRules& rules(ProjectId id) const;

    // What happens, each once, in order of time. A job that has neither been submitted here nor
    // restored is not known and ranks first.
    void submitted(const JobSnapshot& job, ProjectId project, const Likenesses& alike);
    void changed(const JobSnapshot& job);  // it has started, stopped, or may run or not
    void time_came(const JobSnapshot& job);  // of its next_change()
    void ended(const JobSnapshot& job);
    // GPUs that the project may have, in thousandths.
    void may_have(ProjectId project, std::int64_t gpus, TimePoint now);

    // Whose rank may be another because of what others did, since the last question.
    std::vector<JobId> take_moved();
    Rank rank(const JobSnapshot& job) const;
    // Asked after each change of the job and when it moved, and no other time: what is announced to
    // look at later depends on the present.
    TimePoint next_change(const JobSnapshot& job) const;

    // For people (account.h). The stage of a job is noted whenever it has been ranked.
    void note_stage(const JobSnapshot& job);
    Account account(const JobSnapshot& job) const;
    // The same without evidence and changes, of a job that runs or has run: O(1).
    Account brief_account(const JobSnapshot& job) const;
    std::optional<model::Accuracy> accuracy(ProjectId project) const;

    // `projects`: their names, by id; without a name: the first, all others inherit its rules
    // unless they have their own, and those that are no more.
    model::OrderLedger save(const std::vector<std::string>& projects) const;
    // Replaces all that is known, of the jobs that are. False, and nothing is changed: it is not of
    // these jobs, or does not fit together.
    bool restore(const model::OrderLedger& ledger, const std::vector<std::string>& projects);

  private:
    struct Live {
        ProjectId project;
        Places places;
        std::int64_t asked = 0;  // thousandths of GPUs
        Crowd::Sums before;  // of its project, at its submission
        std::int8_t stage = 0;
        std::uint8_t next_step = 1;  // of its size, at which it is ranked anew
        bool runs = false;
        bool has_run = false;
        std::int32_t restarts = 0;
    };
    static constexpr model::OrderRules kByAge{.by = model::JobOrder::Age};
    struct Project {
        Crowd crowd;
        Guard waits{Guard::Due::ByWait};
        Guard fair{Guard::Due::ByFairEnd};
        Proofs proofs;
        model::OrderRules rules = kByAge;
        int last_stage = kStages;

        bool has_guards() const { return rules.by != model::JobOrder::Age; }
        bool is_learned() const { return rules.by == model::JobOrder::Learned; }
    };

    bool is_learned(const Live& live) const { return project(live.project).is_learned(); }
    Project& project(ProjectId id);
    const Project& project(ProjectId id) const { return projects_[id.index()]; }
    static JobSnapshot with_restarts(JobSnapshot job, const Live& live);
    void progress(const JobSnapshot& job, Live& live);
    enum class Hearers { All, Stopped };
    void tell_kin(const Live& live, Hearers hearers);
    void believe(JobId job, Live& live);
    void rank_by_belief(JobId job, Live& live);
    void rank_by(Opinion opinion, JobId job, Live& live);
    void learn_anew();
    void rank_some();
    int last_stage(int tail) const;
    void find_last_stages();
    void move(const std::vector<JobId>& jobs);
    int stage(const JobSnapshot& job, const Live& live) const;
    void tell(JobId job, std::size_t step, GpuMs cost);
    void prove(const JobSnapshot& job, ProjectId project);
    void expect(const Live& live, JobId job, Account& account) const;
    void save_story(JobId job, model::RankLedger& ledger) const;
    void restore_story(const model::RankLedger& ledger);

    Experts experts_;
    base::PagedMap<JobId, Live> jobs_;
    base::PagedMap<JobId, Belief> beliefs_;  // of those that have passed the first step
    base::PagedMap<JobId, Story> stories_;  // of those that have left stage 0
    std::vector<Project> projects_;
    std::vector<JobId> to_rank_;  // by what was learned last; the last first
    std::vector<JobId> moved_;
};

}  // namespace berth::ordering
