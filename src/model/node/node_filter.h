// SPDX-License-Identifier: Apache-2.0
//
// On which nodes may a job run, by their labels and names, and in spite of which of their taints?
// Meaning and words are those of Kubernetes; a node without the label satisfies NotIn and
// DoesNotExist alone.
//
// A filter as text: alternatives after each other, each of terms that hold together.
//   zone=a|b     the label has one of these values     zone!=a|b    it has none of them
//   gpu          the label is there                    !gpu         it is not
//   disks>4      it is a whole number above that       disks<4      or below
//   @name=n1|n2  one of these nodes
//   zone=a,!spot;zone=b,disks>4     in zone a and not spot, or in zone b with more than 4 disks
// A taint as text: key=value:NoSchedule, key:NoExecute. A toleration: the same without what makes
// no difference to it: key=value:NoSchedule, key=value, key:NoSchedule, key, *:NoExecute, *.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::model {

using Labels = std::map<std::string, std::string>;

enum class NodeOperator : std::uint8_t { In, NotIn, Exists, DoesNotExist, Gt, Lt };
inline constexpr std::array<std::string_view, 6> kNodeOperatorNames{
    "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};

// The key of a term about the node's name.
inline constexpr const char* kNodeNameKey = "@name";

struct NodeTerm {
    std::string key;
    NodeOperator is = NodeOperator::In;
    std::vector<std::string> values = {};  // none for Exists and DoesNotExist, one for Gt and Lt

    bool operator==(const NodeTerm&) const = default;
};

using NodeTerms = std::vector<NodeTerm>;  // that hold together; none = always
struct NodeFilter {
    std::vector<NodeTerms> any_of;  // none = every node

    bool operator==(const NodeFilter&) const = default;
};

enum class TaintEffect : std::uint8_t {
    NoSchedule,  // no task comes that does not tolerate it
    PreferNoSchedule,  // no effect yet
    NoExecute,  // as NoSchedule; who runs there stays
};
inline constexpr std::array<std::string_view, 3> kTaintEffectNames{"NoSchedule", "PreferNoSchedule",
                                                                   "NoExecute"};

struct Taint {
    std::string key;
    std::string value;  // may be empty
    TaintEffect effect = TaintEffect::NoSchedule;

    bool operator==(const Taint&) const = default;
};

struct Toleration {
    std::string key;  // empty = of any
    std::optional<std::string> value = {};  // none = any
    std::optional<TaintEffect> effect = {};

    bool operator==(const Toleration&) const = default;
};

bool satisfies(const std::string& name, const Labels& labels, const NodeTerm& term);
bool satisfies(const std::string& name, const Labels& labels, const NodeFilter& filter);
// The first taint that keeps a task with these tolerations away; null = none does.
const Taint* not_tolerated(const std::vector<Taint>& taints,
                           const std::vector<Toleration>& tolerations);
// What a job asks of labels and name, each term apart.
std::vector<NodeTerm> terms_of(const Labels& wanted, const NodeFilter& filter);

// Errors: Invalid, with an example of what would be right.
base::Result<NodeFilter> parse_node_filter(std::string_view text);
base::Result<Taint> parse_taint(std::string_view text);
base::Result<Toleration> parse_toleration(std::string_view text);

// What is read as the same, of whatever passes check().
std::string format(const NodeTerm& term);
std::string format(const NodeFilter& filter);
std::string format(const Taint& taint);
std::string format(const Toleration& toleration);

// Whether it is sound and can be written as text. Errors: Invalid.
base::Status check(const NodeFilter& filter);
base::Status check(const Taint& taint);
base::Status check(const Toleration& toleration);

}  // namespace berth::model
