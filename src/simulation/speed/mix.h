// SPDX-License-Identifier: Apache-2.0
//
// Which jobs may share GPUs, and how fast are they then? Jobs alike in profile, name and GPUs are
// one kind; the kinds on one set of GPUs are a mix. Speeds are parts of the speed of a job that has
// its GPUs, of the first model, to itself, on as few nodes as will do. Three sources for jobs that
// share, the first that knows them:
//
//   measured  pairs of the speed table
//   stages    Muri's model (interleave.h), where all have stages
//   half idle two jobs that together ask no more of the SMs than there is lose a quarter each: two
//             half-idle jobs of an hour take 1 h 20 (the upper end of what Salus, Yu and
//             Chowdhury, MLSys'20, is reported to lose; measured pairs lose less). Beyond that they
//             share what there is.
//
// Who may share: all fit the memory; with Pairs at most two that together use at most 120 % of the
// SMs (of measured pairs the slower one then keeps 0.89 of its speed, and falls to 0.81 beyond),
// with Muri up to four; and sharing is worth it: all together make more progress than apart, one
// after the other.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "simulation/speed/speed_table.h"
#include "simulation/trace/profile.h"
#include "simulation/trace/trace.h"

namespace berth::simulation {

enum class Packing { None, Pairs, Muri };

// In millionths.
using Speed = std::int64_t;
inline constexpr Speed kFullSpeed = 1'000'000;

class Mixes {
  public:
    using Kind = std::int32_t;
    using Mix = std::int32_t;
    static constexpr Mix kEmpty = 0;
    static constexpr Mix kRefused = -1;

    // `table` may be null; both must outlive it.
    Mixes(const Trace& trace, Packing packing, const SpeedTable* table);

    // How many jobs may hold one GPU.
    std::size_t size_max() const;
    Kind kind(std::size_t job) const { return kinds_of_[job]; }
    // With one of `kind` more; kRefused when they may not share. kEmpty takes anybody.
    Mix with(Mix mix, Kind kind);
    // Of these, whether they may share or not.
    Mix of(std::vector<Kind> kinds);
    Speed speed(Mix mix, Kind kind) const;
    // Of all together.
    Speed total(Mix mix) const { return known(mix).total; }
    // With GPUs of that model to itself, on more nodes than needed or not. 0: it cannot run there.
    Speed alone(Kind kind, std::size_t model, bool is_spread) const {
        if (!table_) return kFullSpeed;
        const Alone& one = about(kind).alone[model];
        return is_spread ? one.spread : one.together;
    }
    // Part of its speed that is left on more nodes than needed, on the model where most is lost.
    Speed spread(Kind kind) const;

  private:
    struct Alone {
        Speed together;
        Speed spread;
    };
    struct About {
        Profile profile;
        SpeedTable::Job job;
        std::vector<Alone> alone{};  // by model, where there is a table
    };
    struct Known {
        std::vector<Kind> kinds;  // rising
        std::vector<Speed> speeds;
        Speed total = 0;
        bool may_share = true;
    };

    const Known& known(Mix mix) const { return mixes_[static_cast<std::size_t>(mix)]; }
    const About& about(Kind kind) const { return kinds_[static_cast<std::size_t>(kind)]; }
    bool may_meet(const std::vector<Kind>& kinds) const;
    std::vector<Speed> speeds(const std::vector<Kind>& kinds) const;

    Packing packing_;
    const SpeedTable* table_;
    std::vector<About> kinds_;
    std::vector<Kind> kinds_of_;
    std::vector<Known> mixes_{Known{}};
    std::map<std::vector<Kind>, Mix> numbers_{{{}, kEmpty}};
    std::map<std::pair<Mix, Kind>, Mix> next_;
};

}  // namespace berth::simulation
