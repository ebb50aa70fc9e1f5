// SPDX-License-Identifier: Apache-2.0
//
// Which word stands for which value in files, in the API and in the log? One spelling each, lower
// case, but for words of Kubernetes. And which word was probably meant by one that is none of them?
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "model/answer/order_account.h"
#include "model/answer/start_estimate.h"
#include "model/answer/verdict.h"
#include "model/answer/what_if.h"
#include "model/answer/what_if_replay.h"
#include "model/description.h"
#include "model/job/job.h"
#include "model/job/pause_way.h"
#include "model/node/node.h"
#include "model/plan.h"
#include "model/policy/policy.h"
#include "model/project.h"

namespace berth::codec {

// kWords<E>[i] is the word for the enumerator with value i.
template <typename E>
inline constexpr int kWords = 0;

using Word = std::string_view;
template <>
inline constexpr auto kWords<model::Elastic> = model::kElasticNames;
template <>
inline constexpr auto kWords<model::JobKind> = model::kJobKindNames;
template <>
inline constexpr auto kWords<model::JobState> = model::kJobStateNames;
template <>
inline constexpr auto kWords<model::Placement> = model::kPlacementNames;
template <>
inline constexpr std::array<Word, 3> kWords<model::NodeHealth>{"ready", "drained", "down"};
template <>
inline constexpr auto kWords<model::NodeOperator> = model::kNodeOperatorNames;
template <>
inline constexpr auto kWords<model::TaintEffect> = model::kTaintEffectNames;
template <>
inline constexpr std::array<Word, 4> kWords<model::PauseRung>{"unknown", "checkpoint", "signal",
                                                              "kill"};
template <>
inline constexpr std::array<Word, 5> kWords<model::TaskState>{"pending", "running", "releasing",
                                                              "promised", "frozen"};
template <>
inline constexpr std::array<Word, 3> kWords<model::IdleAct>{"warn", "park", "end"};
template <>
inline constexpr std::array<Word, 3> kWords<model::JobOrder>{"learned", "levels", "age"};
template <>
inline constexpr std::array<Word, 3> kWords<model::Turn>{"not due", "due", "granted"};
template <>
inline constexpr std::array<Word, 6> kWords<model::HeldBackBy>{
    "nothing", "order", "delay", "waste budget", "minimum run", "room"};
template <>
inline constexpr std::array<Word, 6> kWords<model::EvidenceOf>{"none", "all",  "width",
                                                               "user", "name", "command"};
template <>
inline constexpr std::array<Word, 5> kWords<model::Evidence>{"certain", "declared", "learned",
                                                             "so_far", "none"};
template <>
inline constexpr std::array<Word, 2> kWords<model::QuotaKind>{"guaranteed", "fixed"};
template <>
inline constexpr std::array<Word, 9> kWords<model::Rule>{
    "allocate", "reclaim", "preempt", "consolidate", "hold", "user", "stale", "part", "park"};
template <>
inline constexpr std::array<Word, 9> kWords<model::SuggestionKind>{
    "resume", "node_back", "raise_limit", "raise_quota", "jobs_end",
    "apart",  "ask_less",  "any_kind",    "more_gpus"};
template <>
inline constexpr std::array<Word, 8> kWords<model::Supposition>{
    "submit", "quota", "limit", "weight", "node", "drain", "down", "end"};
template <>
inline constexpr std::array<Word, 6> kWords<model::ReplayState>{
    "reads", "plays_as_set", "plays_changed", "done", "failed", "cancelled"};
template <>
inline constexpr std::array<Word, 9> kWords<model::Fate>{
    "absent", "runs", "starts", "grows", "promised", "pauses", "shrinks", "moves", "waits"};
template <>
inline constexpr std::array<Word, model::kCauseCount> kWords<model::Cause>{
    "not_evaluated",
    "on_hold",
    "paused_by_user",
    "parked",
    "starting",
    "gpus_releasing",
    "host_releasing",
    "promise_used_by_others",
    "pinned_node_leaves",
    "limit_reached",
    "fixed_quota_reached",
    "non_preemptible_quota_reached",
    "non_preemptible_cpu_quota_reached",
    "non_preemptible_memory_quota_reached",
    "cpu_limit_reached",
    "memory_limit_reached",
    "set_aside_for_fixed_quotas",
    "above_fair_share",
    "above_cpu_quota",
    "above_memory_quota",
    "never_fits_node",
    "never_fits_pool",
    "never_fits_host",
    "never_fits_resource",
    "never_fits_companion",
    "never_fits_domain",
    "never_fits_group",
    "shares_not_kept",
    "no_node_with_label",
    "taint_not_tolerated",
    "no_node_of_kind",
    "ahead_in_queue",
    "behind_projects",
    "reserved_for_other",
    "kept_for_backfill",
    "share_kept_for_backfill",
    "not_enough_free",
    "node_kind_taken",
    "not_together_on_node",
    "not_on_pinned_node",
    "not_together_in_domain",
    "group_not_together",
    "gang_does_not_fit",
    "host_taken",
    "resource_taken",
    "companion_has_no_room",
    "others_use_gpus",
    "others_use_host",
    "nodes_away",
    "nodes_join",
    "preemption_delay",
    "waste_budget_spent",
    "min_runtime"};
template <>
inline constexpr std::array<Word, 2> kWords<model::Spreading>{"binpack", "spread"};

template <typename E>
std::string_view word(E value) {
    return kWords<E>[static_cast<std::size_t>(value)];
}

template <typename E>
std::optional<E> from_word(std::string_view text) {
    for (std::size_t i = 0; i < kWords<E>.size(); ++i) {
        if (kWords<E>[i] == text) return static_cast<E>(i);
    }
    return std::nullopt;
}

// The reasons of verdicts are written as their names ("PoolFull").
std::optional<model::Reason> reason_named(std::string_view text);

// "build, train or inference"
std::string listed(std::span<const std::string_view> words);

// The candidate with the fewest typing mistakes, if they are few enough to be mistakes.
std::optional<std::string_view> nearest(std::string_view text,
                                        std::span<const std::string_view> candidates);

// ", did you mean "quota"?" or nothing: to be put behind a refusal.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> candidates);

}  // namespace berth::codec
