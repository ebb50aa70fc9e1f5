// SPDX-License-Identifier: Apache-2.0
//
// How is each field of a job called at the doors by which jobs come in and go out, what may be said
// of it, and what is it read for? The one description. The event log, the API, job and state files,
// scenarios, the flags of submit and run, the limits, the random jobs of tests, and what makes two
// jobs ask the same: all walk it. A test holds each name to every door and to docs/reference.
//
// A field that a door says together with others (GPUs, tasks, groups), or in a way of its own, has
// no name there, and a reader by hand: codec/files/job_fields.h, topology.h, scenario/fields.cc.
#pragma once

#include <string_view>
#include <tuple>

#include "model/fields/request_fields.h"
#include "model/job/job.h"
#include "model/limits.h"
#include "model/policy/policy.h"

namespace berth::model {

// The words of an enumeration of a job, by value.
template <typename E>
inline constexpr int kNames = 0;
template <>
inline constexpr auto kNames<JobKind> = kJobKindNames;
template <>
inline constexpr auto kNames<Elastic> = kElasticNames;
template <>
inline constexpr auto kNames<Placement> = kPlacementNames;

// What a decision needs a field for.
enum class ReadFor : std::uint8_t {
    Request,  // what its tasks take
    Placement,  // where they may run
    Rights,  // whose quota it uses, and what goes before it
    Patience,  // how long it waits, runs or stands still
    Launch,  // nothing
};
// Whether jobs that differ in it ask for something else.
constexpr bool is_asked(ReadFor reads) { return reads < ReadFor::Patience; }

// Where a field has a name of its own.
using JobDoors = unsigned;
inline constexpr JobDoors kNoDoor = 0;
inline constexpr JobDoors kJobFile = 1;
inline constexpr JobDoors kStateFile = 2;
inline constexpr JobDoors kScenario = 4;
inline constexpr JobDoors kFiles = kJobFile | kStateFile;
inline constexpr JobDoors kEverywhere = kFiles | kScenario;

// Of submit and run.
struct JobFlag {
    int place = 0;  // on the page of its help, from 1; 0 = there is no flag
    char letter = 0;
    std::string_view name = {};
    std::string_view value = {};
    std::string_view help = {};
    std::string_view choices = {};
    std::string_view formerly = {};
};

struct JobField {
    struct Besides {
        std::string_view file = {};  // its name in files; empty = that in JSON
        std::string_view also = {};  // another one, of the same meaning
        std::string_view scenario = {};  // its name in scenarios; empty = that in JSON
        bool is_needed = false;  // in state files
        bool is_always_written = false;  // to state files, also where it is the default
        bool or_never = false;  // a time; less than nothing is written as never
        Duration most = kTimeMax;  // a time
        void (*set_default)(JobSpec&) = nullptr;  // from fields above it
    };

    constexpr bool is_at(JobDoors door) const { return (doors & door) != 0; }
    constexpr std::string_view in_files() const {
        return besides.file.empty() ? name : besides.file;
    }
    constexpr std::string_view in_scenarios() const {
        return besides.scenario.empty() ? name : besides.scenario;
    }

    std::string_view name;  // in JSON: the log and the API
    ReadFor reads;
    JobDoors doors = kNoDoor;
    Besides besides = {};
    JobFlag flag = {};
};

template <typename T>
struct JobMember {
    T JobSpec::* member;
    JobField field;
};
template <typename T>
constexpr JobMember<T> described(T JobSpec::* member, std::string_view name, ReadFor reads,
                                 JobDoors doors = kNoDoor, JobField::Besides besides = {},
                                 JobFlag flag = {}) {
    return {member, {name, reads, doors, besides, flag}};
}

template <>
struct Fields<JobSpec> {
    using J = JobSpec;
    using enum ReadFor;

    static void set_priority(J& job) { job.priority = default_priority(job.kind); }
    static void set_preemptible(J& job) { job.preemptible = job.priority < kNotPreemptibleFrom; }

    // In the order of JSON, which is that of the log.
    static constexpr std::tuple kAll{
        described(&J::name, "name", Launch, kFiles, {.is_needed = true},
                  {3, 'n', "name", "NAME", "name of the job"}),
        described(&J::project, "project", Rights, kFiles, {.is_needed = true},
                  {2, 'p', "project", "PROJECT", "project whose quota the job uses"}),
        described(&J::kind, "kind", Placement, kEverywhere,
                  {.also = "type", .is_always_written = true},
                  {4, 0, "kind", "KIND", "train (default), build (interactive), inference",
                   "train|build|inference"}),
        described(&J::priority, "priority", Rights, kEverywhere,
                  {.is_always_written = true, .set_default = set_priority},
                  {13, 0, "priority", "N", "priority within the project; higher goes first"}),
        described(&J::preemptible, "preemptible", Rights, kEverywhere,
                  {.is_always_written = true, .set_default = set_preemptible}),
        described(&J::pools, "pools", Placement, kEverywhere, {.also = "pool", .scenario = "pool"},
                  {15, 0, "pool", "POOL", "pool, in order of preference; repeatable"}),
        described(&J::tasks_min, "tasks_min", Request),
        described(&J::tasks_max, "tasks_max", Request),
        described(&J::elastic, "elastic", Request, kStateFile | kScenario),
        described(&J::request, "request", Request),
        described(&J::may_share, "may_share", Request, kJobFile | kScenario, {},
                  {8, 0, "may-share", "", "may share its GPU with another under-used job"}),
        described(&J::packed, "packed", Request),
        described(&J::gpu_model, "gpu_model", Placement, kStateFile | kScenario,
                  {.scenario = "model"}),
        described(&J::node_labels, "node_labels", Placement, kFiles),
        described(&J::node_filter, "node_filter", Placement, kEverywhere, {.scenario = "filter"}),
        described(&J::tolerations, "tolerations", Placement, kEverywhere),
        described(&J::topology, "topology", Placement),
        described(&J::companions, "companions", Request),
        described(&J::placement, "placement", Placement, kEverywhere),
        described(&J::tensor_skew_ppm, "tensor_skew_ppm", Placement, kEverywhere,
                  {.file = "tensor_skew", .scenario = "skew"}),
        described(&J::min_run, "min_run", Patience, kEverywhere),
        described(&J::expected_runtime, "expected_runtime", Patience, kEverywhere,
                  {.scenario = "expected"},
                  {19, 0, "expected-time", "TIME",
                   "expected run time for planning, not a limit: 2h", "", "time"}),
        described(&J::restart_cost, "restart_cost", Patience, kEverywhere),
        described(&J::pause_grace, "pause_grace", Patience, kStateFile | kScenario,
                  {.scenario = "grace", .most = kPauseGraceMax}),
        described(&J::preemption_delay, "preemption_delay", Patience, kEverywhere, {},
                  {14, 0, "preemption-delay", "TIME", "wait before it may preempt other jobs: 5m",
                   "", "delay"}),
        described(&J::stale_grace, "stale_grace", Patience, kEverywhere, {.or_never = true}),
        described(
            &J::park_after, "park_after", Patience, kFiles, {.or_never = true},
            {20, 0, "park-after", "TIME", "idle time until it gives up its GPUs: 30m, never"})};

    static constexpr void visit(auto&& field) {
        visit_fields([&](const JobField& one, auto member) { field(one.name, member); });
    }
    static constexpr void visit_fields(auto&& visit) {
        std::apply([&](const auto&... all) { (visit(all.field, all.member), ...); }, kAll);
    }
};

}  // namespace berth::model
