// SPDX-License-Identifier: Apache-2.0
//
// What does each expert say of a job? Those are:
//
//   all            all jobs
//   width          those that ask as many GPUs
//   kin            those of that width that are alike in user, name or command (likeness.h), near
//                  in time (kin.h): the further apart in submission, the less they weigh. There
//                  are several, for whom another time is far: two minutes, an hour, a day, or
//                  nothing.
//
// The more special one goes by the more general one where it has seen little; where names or
// commands tell nothing they have no say.
#pragma once

#include <chrono>

#include "ordering/hazards.h"
#include "ordering/kin.h"
#include "ordering/likeness.h"

namespace berth::ordering {

// What is far for an expert that goes by kin.
struct Reach {
    Likeness alike;
    Duration far;
};
inline constexpr Duration kDay = std::chrono::hours(24);
inline constexpr Duration kAnyTime = kDay * 365 * 100;
// Only functions read it, so that none of it is a global that could be written.
constexpr std::array<Reach, 8> reaches() {
    return {{{Likeness::User, std::chrono::minutes(2)},
             {Likeness::User, std::chrono::hours(1)},
             {Likeness::User, kDay},
             {Likeness::User, kAnyTime},
             {Likeness::Name, kDay},
             {Likeness::Name, kAnyTime},
             {Likeness::Command, kDay},
             {Likeness::Command, kAnyTime}}};
}
inline constexpr std::size_t kGeneral = 2;  // experts that do not go by kin
inline constexpr std::size_t kExperts = kGeneral + reaches().size();

// What is known of a job, as far as it matters whom to believe: the first of the reaches of its
// user for which the nearest of its kin that tell something is not far; whether its name tells
// something; whether its command does.
class Knowledge {
  public:
    static constexpr std::size_t kNearnesses = 5;  // the last: there is none
    static constexpr std::size_t kKinds = kNearnesses * 4;

    constexpr Knowledge() = default;
    constexpr explicit Knowledge(std::size_t number)
        : nearness_(number % kNearnesses),
          tells_name_(number / kNearnesses % 2 == 1),
          tells_command_(number / kNearnesses / 2 == 1) {}

    // `nearest`: of its kin that tell something; Duration::max(): there is none.
    void learn(Likeness likeness, Duration nearest);

    constexpr std::size_t number() const {
        const std::size_t tells = (tells_name_ ? 1U : 0U) + (tells_command_ ? 2U : 0U);
        return nearness_ + kNearnesses * tells;
    }
    constexpr bool tells(Likeness likeness) const {
        return likeness == Likeness::User   ? nearness_ + 1 < kNearnesses
               : likeness == Likeness::Name ? tells_name_
                                            : tells_command_;
    }
    // Names and commands that tell nothing are not asked.
    constexpr bool has_say(std::size_t expert) const {
        if (expert < kGeneral) return true;
        const Likeness alike = reaches()[expert - kGeneral].alike;
        return alike == Likeness::User || tells(alike);
    }

  private:
    std::size_t nearness_ = kNearnesses - 1;
    bool tells_name_ = false;
    bool tells_command_ = false;
};

// What kin tell is kept as counts by step. Learning costs O((kin near + steps) x reaches). Large:
// it is made where it is used, not copied.
class Views {
  public:
    // Both are read again at each question.
    Views(const Hazards& all, const Hazards& width) : all_(&all), width_(&width) {
        for (ByReach& seen : seen_) seen.fill(kWidthWeight);
    }

    // Each likeness once, then all_learned(). `courses`: how far each of those near the job had
    // come.
    void learn(Likeness likeness, const Kin::Near& near, std::span<const Kin::Course> courses);
    void all_learned();

    // Of each expert.
    std::array<std::int32_t, kExperts> hazards(std::size_t step) const;
    const Knowledge& knowledge() const { return knowledge_; }

  private:
    using ByReach = std::array<std::int32_t, reaches().size()>;  // weights of jobs
    static constexpr std::int32_t kWidthWeight = Ends::kJob;  // what `width` counts for

    template <Likeness kLikeness>
    void learn(const Kin::Near& near, std::span<const Kin::Course> courses);

    const Hazards* all_;
    const Hazards* width_;
    // Of each step: who ended in it; who got to it, as far as is known no further.
    std::array<ByReach, kSizeSteps> ended_{};
    std::array<ByReach, kSizeSteps> reached_{};
    std::array<ByReach, kSizeSteps> seen_;  // who got to its end, or ended in it; and `width`
    std::size_t steps_ = 0;  // beyond them kin tell nothing
    Knowledge knowledge_;
};

}  // namespace berth::ordering
