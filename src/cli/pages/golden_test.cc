// SPDX-License-Identifier: Apache-2.0
//
// What do the pages look like, plain, at 80 and 100 columns? One small cluster, every page, each
// compared with a file in tests/golden/cli. BERTH_UPDATE_GOLDEN=1 rewrites the files for review.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "cli/command_line/arguments.h"
#include "cli/command_line/exit_code.h"
#include "cli/pages/cluster_pages.h"
#include "cli/pages/event_text.h"
#include "cli/pages/gpu_bar.h"
#include "cli/pages/job_pages.h"
#include "cli/pages/job_table.h"
#include "cli/pages/policy_page.h"
#include "cli/pages/pool_pages.h"
#include "cli/verbs/help.h"
#include "cli/verbs/verbs.h"

namespace berth::cli {
namespace {

using base::at_ms;
using model::Cause;
using model::JobState;
using model::Reason;

constexpr std::int64_t kMinute = 60'000;
constexpr base::TimePoint kNow = at_ms(1'800'000'000'000);

base::TimePoint ago(std::int64_t ms) { return kNow - base::Duration{ms}; }

struct Sample {
    codec::NameTable names;
    std::vector<codec::JobView> jobs;
    std::vector<codec::NodeView> nodes;
    std::vector<codec::ProjectView> projects;
    std::vector<codec::PoolView> pools;

    codec::JobView& add_job(std::int64_t id, const char* name, const char* project, int gpus) {
        codec::JobView& job = jobs.emplace_back();
        job.id = model::JobId{id};
        job.spec.name = name;
        job.spec.project = project;
        job.spec.request.gpus = gpus;
        job.user = "maria";
        job.command = "python train.py --config conf/" + std::string(name) + ".yaml";
        job.created = ago(200 * kMinute);
        names.jobs[job.id] = std::string(project) + "/" + name;
        return job;
    }

    void run_on(codec::JobView& job, const char* node, std::uint64_t mask, std::int64_t since) {
        job.state = JobState::Running;
        job.attempts = std::max(job.attempts, 1);
        job.first_start = job.last_start = job.settled = ago(since);
        job.tasks.push_back({.task = static_cast<int>(job.tasks.size()),
                             .node = names.node_id(node),
                             .gpu_mask = mask,
                             .share = base::kWholeGpu});
    }
};

void add_running(Sample& sample) {
    auto& llama = sample.add_job(1042, "llama-ft", "nlp", 8);
    llama.spec.gpu_model = "H100";
    sample.run_on(llama, "n1", 0xFF, 192 * kMinute);
    llama.last_checkpoint = ago(4 * kMinute);
    auto& half = sample.add_job(1044, "nb-maria", "lab", 1);
    half.spec.request.share = model::MilliGpu{500};
    sample.run_on(half, "n2", 1, 52 * kMinute);
    half.tasks[0].share = model::MilliGpu{500};
    auto& gang = sample.add_job(1045, "llama-70b-continued-pretraining-v2", "nlp", 4);
    gang.spec.tasks_min = gang.spec.tasks_max = 2;
    gang.attempts = 3;
    gang.pauses = 2;
    sample.run_on(gang, "n2", 0x1E, 7'000);
    sample.run_on(gang, "n3", 0x0F, 7'000);
}

void add_waiting(Sample& sample) {
    auto& big = sample.add_job(1047, "bert-large", "vision", 8);
    big.spec.tasks_min = big.spec.tasks_max = 2;
    big.created = ago(18 * kMinute);
    big.verdict = {.job = big.id,
                   .reason = Reason::Fragmented,
                   .cause = Cause::NotTogetherOnNode,
                   .asks = base::gpus(16),
                   .idle = base::gpus(21),
                   .capacity = base::gpus(40),
                   .used = base::gpus(5),
                   .bound = base::gpus(24),
                   .tasks_asked = 2,
                   .tasks_fit = 1,
                   .largest_free = base::gpus(8),
                   .scope = "vision",
                   .blockers = {model::JobId{1044}, model::JobId{1045}},
                   .position = 2};
    big.why = "asks 16 GPUs; 21 of 40 idle, but at most 8 together on one node";
    big.foresight =
        codec::Foresight{"1044 lab/nb-maria and 1045 nlp/llama end",
                         model::StartEstimate{.optimistic = kNow + base::Duration{10 * kMinute},
                                              .expected = kNow + base::Duration{20 * kMinute},
                                              .pessimistic = kNow + base::Duration{40 * kMinute},
                                              .until = kNow,
                                              .after = model::JobId{1044}}};
    auto& never = sample.add_job(1048, "bigone", "lab", 64);
    never.created = ago(2 * kMinute);
    never.verdict = {.job = never.id,
                     .reason = Reason::NeverFits,
                     .cause = Cause::NeverFitsNode,
                     .asks = base::gpus(64),
                     .capacity = base::gpus(40),
                     .tasks_asked = 1,
                     .scope = "lab"};
    never.why = "no node has the GPUs one task of this asks";
    auto& paused = sample.add_job(1043, "sweep-7", "lab", 1);
    paused.state = JobState::Paused;
    paused.attempts = paused.pauses = 1;
    paused.first_start = paused.last_start = ago(41 * kMinute);
    paused.attained_gpu_ms = 35 * kMinute;
    paused.last_pause =
        model::PauseReceipt{.time = ago(6 * kMinute),
                            .rule = model::Rule::Reclaim,
                            .beneficiary = model::JobId{1047},
                            .actor = "scheduler",
                            .cost = {.unsaved_gpu_ms = 12'000, .restart_gpu_ms = 5'000},
                            .deadline = ago(5 * kMinute),
                            .stopped = ago(6 * kMinute - 12'400),
                            .saved = true};
    paused.verdict = {.job = paused.id,
                      .reason = Reason::QuotaFair,
                      .cause = Cause::AboveFairShare,
                      .asks = base::gpus(1),
                      .idle = base::gpus(1),
                      .capacity = base::gpus(24),
                      .used = base::gpus(3),
                      .bound = base::gpus(3),
                      .tasks_asked = 1,
                      .scope = "lab",
                      .position = 1};
    paused.why = "lab uses 3 of its fair share of 3 GPUs and asks 1; 1 of 24 idle";
}

void add_ended(Sample& sample) {
    auto& failed = sample.add_job(1039, "eval", "vision", 1);
    failed.state = JobState::Failed;
    failed.exit_code = 1;
    failed.detail = "task 3 exited with 1";
    failed.first_start = ago(30 * kMinute);
    failed.finished = ago(29 * kMinute);
    auto& done = sample.add_job(1038, "prepare", "vision", 0);
    done.state = JobState::Succeeded;
    done.first_start = ago(90 * kMinute);
    done.finished = ago(20 * kMinute);
}

void add_cluster(Sample& sample) {
    for (const char* name : {"n1", "n2", "n3"}) {
        codec::NodeView& node = sample.nodes.emplace_back();
        node.name = name;
        node.gpus = 8;
        node.gpu_model = "H100";
        node.gpu_memory = *base::parse_bytes("80G");
        for (int index = 0; index < 8; ++index) {
            codec::GpuView& gpu = node.devices.emplace_back();
            gpu.index = index;
            for (const auto& job : sample.jobs) {
                for (const auto& task : job.tasks) {
                    const bool is_here = sample.names.nodes[task.node.index()] == node.name;
                    if (!is_here || (task.gpu_mask >> index & 1U) == 0) continue;
                    gpu.jobs.push_back(job.id);
                    gpu.used += task.share;
                }
            }
        }
    }
    sample.nodes[0].devices[2].utilization_percent = 71;
    sample.nodes[0].devices[2].memory_used = *base::parse_bytes("61G");
    sample.nodes[0].devices[2].power_watts = 640;
    sample.nodes[1].devices[0].shares = {
        {{1044}, *base::parse_bytes("3.1G"), *base::parse_bytes("40G"), base::MilliGpu{450}}};
    sample.nodes[2].devices[7].healthy = false;
    const auto add = [&](const char* name, const char* parent, int quota, int used) {
        codec::ProjectView& project = sample.projects.emplace_back();
        project.name = name;
        project.parent = parent;
        project.rights.quota = base::gpus(quota);
        project.use.push_back({.pool = "default",
                               .quota = base::gpus(quota),
                               .fair_share = base::gpus(used),
                               .used = base::gpus(used)});
    };
    add("research", "", 12, 8);
    add("lab", "", 0, 1);
    add("nlp", "research", 8, 16);
    add("vision", "research", 4, 0);
    sample.projects[1].rights.kind = model::QuotaKind::Fixed;
    sample.projects[2].rights.limit = base::gpus(16);
    sample.projects[3].use[0].waiting = base::gpus(16);
}

// n1 replaces n3 in a cell, and n2 will join it.
void add_pools(Sample& sample) {
    codec::PoolView& rest = sample.pools.emplace_back();
    rest.name = "default";
    rest.nodes = 2;
    rest.nodes_ready = 0;
    rest.used = base::gpus(5);
    rest.quotas = base::gpus(12);
    codec::PoolView& cells = sample.pools.emplace_back();
    cells.name = "cells";
    cells.labels = {{"cells", "research"}};
    cells.spares = "default";
    cells.exchange = {{"A100", model::MilliGpu{500}}, {"H100", base::gpus(1)}};
    cells.nodes = cells.nodes_ready = 1;
    cells.gpus = cells.used = base::gpus(8);
    cells.quotas = base::gpus(16);
    const char* const pools[] = {"cells", "default", "default"};
    const char* const labelled[] = {"default", "cells", "cells"};
    for (std::size_t i = 0; i < 3; ++i) {
        sample.nodes[i].pool = pools[i];
        sample.nodes[i].labelled_pool = labelled[i];
        sample.nodes[i].topology = {{"rack", "r" + std::to_string(i)}};
        if (i > 0) sample.nodes[i].labels = {{"cells", "research"}};
    }
    sample.nodes[1].joins = "cells";
    sample.nodes[2].health = model::NodeHealth::Drained;
    for (codec::ProjectView& project : sample.projects) {
        if (project.name != "research") continue;
        project.pools["cells"].quota = base::gpus(16);
        project.use.push_back({.pool = "cells",
                               .quota = base::gpus(16),
                               .fair_share = base::gpus(8),
                               .used = base::gpus(8)});
    }
}

const Sample& sample() {
    static const Sample whole = [] {
        Sample made;
        add_running(made);
        add_waiting(made);
        add_ended(made);
        add_cluster(made);
        return made;
    }();
    return whole;
}

const codec::JobView& job(std::int64_t id) {
    for (const codec::JobView& one : sample().jobs) {
        if (one.id.value == id) return one;
    }
    std::abort();
}

// It shares its GPU with another one.
codec::JobView packed_job() {
    codec::JobView packed = job(1044);
    packed.spec.may_share = true;
    packed.spec.packed = model::GpuPart{base::MilliGpu{408}, *base::parse_bytes("3.75G")};
    packed.profile = model::GpuProfile{.iterations = 150,
                                       .iteration_us = 42'000,
                                       .compute = base::MilliGpu{390},
                                       .persistent = *base::parse_bytes("2.3G"),
                                       .peak = *base::parse_bytes("3.3G"),
                                       .highest = *base::parse_bytes("3.3G")};
    packed.beside = {model::JobId{1045}};
    return packed;
}

codec::JobView parked_job() {
    codec::JobView parked = job(1044);
    parked.spec.kind = model::JobKind::Build;
    parked.spec.park_after = base::Duration{30 * kMinute};
    parked.state = JobState::Paused;
    parked.parked_since = ago(52 * kMinute);
    parked.pauses = 1;
    parked.pause_way.rung = model::PauseRung::Checkpoint;
    parked.frozen = std::exchange(parked.tasks, {});
    parked.last_pause = model::PauseReceipt{
        .time = *parked.parked_since,
        .rule = model::Rule::Park,
        .beneficiary = {},
        .actor = "machine",
        .cost = {},
        .deadline = *parked.parked_since,
        .stopped = parked.parked_since,
        .saved = true,
        .frozen = model::Frozen{*base::parse_bytes("8.2G"), base::Duration{310}}};
    parked.verdict = model::Verdict{};
    parked.verdict->job = parked.id;
    parked.verdict->because(Cause::Parked);
    return parked;
}

// A waiting job in a learned order, which knows what jobs of its name took.
codec::JobView ordered_job() {
    codec::JobView job = sample().jobs.front();
    job.tasks.clear();
    job.state = JobState::Queued;
    job.first_start.reset();
    job.last_checkpoint.reset();
    job.attempts = 0;
    job.why = "asks 8 GPUs; 0 of 16 idle, and no running job may be preempted for it";
    job.verdict = model::Verdict{};
    job.verdict->job = job.id;
    job.verdict->because(Cause::NotEnoughFree);
    job.verdict->asks = base::gpus(8);
    job.verdict->capacity = base::gpus(16);
    job.verdict->tasks_asked = 1;
    job.verdict->scope = "nlp";
    job.verdict->blockers = {model::JobId{1045}};
    job.verdict->position = 3;
    job.order =
        model::OrderAccount{.by = model::JobOrder::Learned,
                            .position = 3,
                            .waiting = 12,
                            .jobs_before = 11,
                            .gpus_before = base::gpus(14),
                            .capacity = base::gpus(16),
                            .stage = 8,
                            .cost_gpu_ms = 186 * kMinute,
                            .cost_counts = true,
                            .evidence = {model::EvidenceOf::Name, "ada named train-#", 24, 0,
                                         base::Duration{60 * kMinute}},
                            .price = model::OrderPrice{.candidate = model::JobId{1045},
                                                       .loses_gpu_ms = 24 * kMinute,
                                                       .stage = 9,
                                                       .preempted_from = 11,
                                                       .held_back_by = model::HeldBackBy::Order},
                            .due = kNow + base::Duration{192 * kMinute},
                            .changes = {{ago(90 * kMinute), 5}, {ago(17 * kMinute), 8}}};
    return job;
}

// A new one in a project whose order is by levels, that would have the next candidate preempted.
codec::JobView levelled_job() {
    codec::JobView job = ordered_job();
    job.verdict->because(Cause::AheadInQueue);
    job.why = "would fit, but jobs ahead of it take the room";
    job.order = model::OrderAccount{.by = model::JobOrder::ByLevels,
                                    .position = 1,
                                    .waiting = 1,
                                    .cost_gpu_ms = {},
                                    .evidence = {},
                                    .price = model::OrderPrice{.candidate = model::JobId{1045},
                                                               .loses_gpu_ms = 24 * kMinute,
                                                               .stage = 2,
                                                               .preempted_from = 1,
                                                               .is_behind = true},
                                    .turn = model::Turn::Granted,
                                    .due = {},
                                    .changes = {}};
    return job;
}

codec::JobView aged_job() {
    codec::JobView job = levelled_job();
    job.order = model::OrderAccount{.by = model::JobOrder::Age,
                                    .position = 2,
                                    .waiting = 4,
                                    .jobs_before = 1,
                                    .gpus_before = base::gpus(8),
                                    .capacity = base::gpus(16),
                                    .cost_gpu_ms = {},
                                    .evidence = {},
                                    .price = {},
                                    .due = {},
                                    .changes = {}};
    return job;
}

// Paused for one of its own project that costs less.
codec::JobView outranked_job() {
    codec::JobView job = sample().jobs[5];
    job.verdict.reset();
    job.last_pause->rule = model::Rule::Preempt;
    job.last_pause->cost = {.unsaved_gpu_ms = 3 * kMinute, .restart_gpu_ms = 5 * kMinute};
    job.last_pause->order = model::OrderReceipt{.by = model::JobOrder::Learned,
                                                .stage = 16,
                                                .cost_gpu_ms = 38 * 60 * kMinute,
                                                .beneficiary_stage = 2,
                                                .beneficiary_cost_gpu_ms = 18 * kMinute};
    return job;
}

std::vector<model::Event> events() {
    const model::JobId id{1043};
    std::vector<model::EventBody> bodies{
        model::JobSubmitted{id, job(1043).spec, "maria", "python train.py"},
        model::JobStarting{id, 1, model::Rule::Allocate, job(1044).tasks},
        model::JobRunning{id},
        model::CheckpointSaved{id},
        model::PauseRequested{.job = id,
                              .beneficiary = model::JobId{1047},
                              .cost = {},
                              .deadline = ago(5 * kMinute),
                              .tasks = {}},
        model::JobPaused{id, true},
        model::JobFinished{id, JobState::Failed, 137, "task 0 ended by signal KILL"},
    };
    std::vector<model::Event> events;
    std::int64_t sequence = 0;
    for (auto& body : bodies) {
        ++sequence;
        events.push_back({sequence, ago((10 - sequence) * kMinute), "scheduler", std::move(body)});
    }
    return events;
}

void compare(const std::string& name, const std::string& found) {
    const auto path = std::filesystem::path(BERTH_SOURCE_DIR) / "tests/golden/cli" / name;
    if (std::getenv("BERTH_UPDATE_GOLDEN")) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << found;
    }
    std::ifstream file(path);
    std::ostringstream expected;
    expected << file.rdbuf();
    INFO(path.string());
    CHECK(found == expected.str());
}

// The page at both widths; nothing in it may be wider or end in blanks.
template <typename Render>
void check_page(const std::string& name, const Render& render) {
    for (const int width : {80, 100}) {
        const Style style{.width = width};
        const std::string page = render(style);
        std::istringstream lines(page);
        for (std::string line; std::getline(lines, line);) {
            INFO(name << ": " << line);
            CHECK(display_width(line) <= width);
            CHECK_FALSE(line.ends_with(' '));
        }
        compare(name + "_" + std::to_string(width) + ".txt", page);
    }
}

void check_others_page(Sample s) {
    s.nodes[1].others = {{3500}, {std::int64_t{16} << 30}, 2, {6, 7}, {{"pods", 12}}};
    check_page("gpus_others", [&](const Style& style) {
        return gpu_table(s.nodes, s.names).render(style) + node_bars(s.nodes, s.names, style);
    });
}

void check_order_pages(const Sample& s) {
    const auto check_why = [&](const std::string& name, const codec::JobView& job) {
        REQUIRE(job.id.is_valid());
        check_page(name, [&](const Style& style) { return why_page(job, s.names, kNow, style); });
    };
    check_why("why_learned", ordered_job());
    codec::JobView fresh = ordered_job();
    fresh.order->stage = 0;
    fresh.order->cost_counts = false;
    fresh.order->evidence = {model::EvidenceOf::Width, "", 1, 0, {}};
    fresh.order->price.reset();
    fresh.order->jobs_before = 0;
    check_why("why_new", fresh);
    check_why("why_levels", levelled_job());
    check_why("why_age", aged_job());
    codec::JobView behind = ordered_job();
    behind.order->jobs_of_higher_priority = 2;
    behind.order->due.reset();
    check_why("why_behind_higher_priority", behind);
    codec::JobView held_back = ordered_job();
    model::OrderPrice& price = *held_back.order->price;
    price.stage = 11;
    price.is_behind = true;
    price.held_back_by = model::HeldBackBy::MinimumRun;
    price.until = kNow + base::Duration{14 * kMinute};
    check_why("why_protected", held_back);
    check_page("show_learned", [&](const Style& style) {
        return show_page(ordered_job(), s.names, {{}, s.names, {}, s.names}, kNow, TimeForm::Ago,
                         style);
    });
    check_page("receipt_order", [&](const Style& style) {
        return receipt_page(outranked_job(), s.names, kNow, style);
    });
    Sample right = s;
    right.projects[2].predicted = model::Accuracy{100, 1104, 2396};
    right.projects[3].predicted = model::Accuracy{1, 955, 955};
    check_page("top_predicted", [&](const Style& style) {
        return top_page({right.nodes, right.projects, right.jobs, right.names, right.names}, kNow,
                        1000, style);
    });
}

}  // namespace

TEST_CASE("pages look as reviewed") {
    ::setenv("TZ", "UTC", 1);
    const Sample& s = sample();
    check_page("ls", [&](const Style& style) {
        return job_table(s.jobs, s.names, kNow, style.glyphs(), Detail::Usual).render(style) +
               job_sums(s.jobs, style) + "\n";
    });
    check_page("gpus",
               [&](const Style& style) { return gpu_table(s.nodes, s.names).render(style); });
    check_others_page(s);
    check_page("project_ls",
               [&](const Style& style) { return project_table(s.projects).render(style); });
    std::vector<codec::ProjectView> with_orders = s.projects;
    with_orders[0].job_order = model::JobOrder::Age;
    with_orders[3].job_order = model::JobOrder::Learned;
    with_orders[3].job_tail = 33;
    check_page("project_ls_orders", [&](const Style&) { return orders_note(with_orders) + "\n"; });
    check_page("top", [&](const Style& style) {
        return top_page({s.nodes, s.projects, s.jobs, s.names, s.names}, kNow, 1000, style);
    });
    for (const std::int64_t id : {1042, 1045, 1043, 1047, 1048, 1039}) {
        check_page("why_" + std::to_string(id),
                   [&](const Style& style) { return why_page(job(id), s.names, kNow, style); });
    }
    for (const std::int64_t id : {1043, 1045}) {
        check_page("show_" + std::to_string(id), [&](const Style& style) {
            return show_page(job(id), s.names, {{}, s.names, events(), s.names}, kNow,
                             TimeForm::Ago, style);
        });
    }
    Sample pooled = s;
    add_pools(pooled);
    check_page("pool_ls",
               [&](const Style& style) { return pool_table(pooled.pools).render(style); });
    check_page("pool_show", [&](const Style& style) {
        return pool_page({pooled.pools[1], pooled.nodes, pooled.projects, pooled.names}, style);
    });
    check_page("node_ls", [&](const Style& style) {
        return node_table(pooled.nodes, pooled.names).render(style);
    });
    model::Policy policy;
    policy.min_run = base::Duration{90 * kMinute};
    const auto in_force = codec::view_policy(
        "berth", {{}, policy, {{"min_runtime", "1h30m"}, {"reservation_hold", "30s"}}});
    check_page("policy_show",
               [&](const Style& style) { return setting_table(in_force.settings).render(style); });
    const codec::JobView packed = packed_job();
    check_page("why_packed",
               [&](const Style& style) { return why_page(packed, s.names, kNow, style); });
    check_page("show_packed", [&](const Style& style) {
        return show_page(packed, s.names, {{}, s.names, {}, s.names}, kNow, TimeForm::Ago, style);
    });
    const codec::JobView parked = parked_job();
    check_page("why_parked",
               [&](const Style& style) { return why_page(parked, s.names, kNow, style); });
    check_page("show_parked", [&](const Style& style) {
        return show_page(parked, s.names, {{}, s.names, {}, s.names}, kNow, TimeForm::Ago, style);
    });
    check_order_pages(s);
    check_page("help", [&](const Style& style) { return overview(all_verbs({}), style); });
    check_page("exit_codes", [](const Style&) { return exit_code_help(); });
    const auto verbs = all_verbs({});
    for (const Verb* verb : verbs) {
        std::string name(verb->name);
        std::replace(name.begin(), name.end(), ' ', '_');
        if (verb->intent == Intent::Hidden) continue;
        check_page("help_" + name,
                   [&](const Style& style) { return verb_help(*verb, verbs, style); });
    }
}

TEST_CASE("csv and wide forms have everything") {
    ::setenv("TZ", "UTC", 1);
    const Sample& s = sample();
    const Table table = job_table(s.jobs, s.names, kNow, Style{}.glyphs(), Detail::Wide);
    compare("ls.csv", table.csv());
    compare("ls_wide.txt", table.render_unbounded({}));
    Sample ordered = s;
    ordered.projects[1].job_order = model::JobOrder::Age;
    ordered.projects[2].job_tail = 33;
    const Table projects = project_table(ordered.projects, Detail::Wide);
    compare("project_ls.csv", projects.csv());
    compare("project_ls_wide.txt", projects.render_unbounded({}));
}

TEST_CASE("events are described in words") {
    ::setenv("TZ", "UTC", 1);
    std::string text;
    for (const model::Event& event : events()) {
        text += event_line(event, sample().names, kNow, TimeForm::Iso, {});
    }
    compare("events.txt", text);
}

TEST_CASE("bars show each GPU by one character") {
    const std::vector<GpuLook> gpus{GpuLook::Busy,     GpuLook::Busy, GpuLook::Shared,
                                    GpuLook::HeldIdle, GpuLook::Free, GpuLook::Unhealthy};
    CHECK(gpu_bar(gpus, {}) == "##%=.!");
    CHECK(gpu_bar(gpus, {.unicode = true}) == "■■▣□·!");
}

}  // namespace berth::cli
