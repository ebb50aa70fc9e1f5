// SPDX-License-Identifier: Apache-2.0
//
// What can be set of a policy, under which name, and to what? The one table: the policy lines of
// scenarios, `berth policy`, the flags of `berth up` and the event log all speak its names and
// texts. A setting that was renamed is found under its former name as well, for one release in what
// people write and for ever in logs and snapshots. One that is gone is refused in what people write
// and passed over in logs and snapshots.
//
// Guarantees: what write() says, read() takes back as the same value; what read() refuses has
// changed nothing.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/policy/policy.h"

namespace berth::model {

struct PolicySetting {
    std::string_view name;  // "min_runtime"
    std::string_view formerly;  // "min_run"; empty = it always had this name
    std::string_view takes;  // what its text is, for people: "time", "1-16", "yes|no"
    std::string_view meaning;  // at most 40 characters
    // Errors: Invalid, with what was wanted and what was found.
    base::Status (*read)(Policy& policy, std::string_view text);
    std::string (*write)(const Policy& policy);
};

// In the order in which people should read them.
std::span<const PolicySetting> policy_settings();
// By its name or its former one; null when there is none.
const PolicySetting* find_policy_setting(std::string_view name);

// What is said of a setting of a former release that is none today, with what holds instead; none
// where there never was such a setting.
std::optional<std::string> gone_setting(std::string_view name);

// Settings by name; none = as the server was started.
using PolicyChanges = std::map<std::string, std::optional<std::string>>;
// The same under the names of today, without those that are gone; of two names of one setting, the
// newer one holds.
PolicyChanges under_new_names(const PolicyChanges& changes);
// Of two names of one setting the newer one holds here too.
// Errors: NotFound, listing the settings or saying what holds instead; Invalid.
base::Result<Policy> changed_policy(Policy policy, const PolicyChanges& changes);
// Those that hold when the later ones are made too; one without a text takes it back.
PolicyChanges merged(const PolicyChanges& known, const PolicyChanges& later);
// What makes the second of the first.
PolicyChanges changes_between(const Policy& from, const Policy& to);

}  // namespace berth::model
