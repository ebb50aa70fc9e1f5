// SPDX-License-Identifier: Apache-2.0
//
// What must be known of a Job when the scheduler that paused it, or promised it GPUs, is gone?
// Annotations of the Job say it. Two are written with the patch that suspends it: what it had until
// then, and the receipt of the pause. A Job that is suspended without a receipt in force was not
// suspended by Berth, and stays so. The third says which GPUs it was promised.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/objects/workload.h"

namespace berth::kube::objects {

inline constexpr std::string_view kHistory = "berth.dev/history";
inline constexpr std::string_view kLastPause = "berth.dev/last-pause";
inline constexpr std::string_view kPromise = "berth.dev/promise";

// Of all attempts that have ended.
struct History {
    base::Duration attained{0};  // GPU time
    base::Duration lost{0};  // of that, what pauses destroyed
    int pauses = 0;
    int losses = 0;  // attempts that were lost in a row

    bool operator==(const History&) const = default;
};

struct Receipt {
    bool is_in_force = true;  // false: it has been resumed since
    std::string rule;  // reclaim, preempt ...
    std::string beneficiary;  // uid of the gang for which it was paused; empty: of none
    base::TimePoint time;
    base::TimePoint deadline;
    int priority = 0;  // of its pods, which are gone

    bool operator==(const Receipt&) const = default;
};

// GPUs on which it starts when others have left them. It is not taken back: one whose time is over,
// or after which the Job has run, promises nothing.
struct Promise {
    struct Place {
        std::string node;
        int pods = 0;

        bool operator==(const Place&) const = default;
    };

    base::TimePoint time;
    base::TimePoint until;
    std::vector<Place> places;  // in the order of the pods' ranks; a node may be there again

    bool operator==(const Promise&) const = default;
};

// As annotations have them: {"attained":"2h"...}
std::string format(const History& history);
std::string format(const Receipt& receipt);
std::string format(const Promise& promise);
// Whether it is suspended, and by us: it goes on when we resume it.
bool is_paused(const Workload& workload);
// Nothing where there is none, or none that can be read.
std::optional<History> history_of(const Labels& annotations);
std::optional<Receipt> receipt_of(const Labels& annotations);
std::optional<Promise> promise_of(const Labels& annotations);

}  // namespace berth::kube::objects
