// SPDX-License-Identifier: Apache-2.0
//
// Which members has what a person sees first, as the API shows it?
#pragma once

#include <array>

#include "codec/fields/described.h"
#include "overview/lending.h"
#include "overview/sentences.h"

namespace berth::codec {

template <>
inline constexpr auto kWords<overview::About> = std::to_array(overview::kAboutNames);

template <>
struct Fields<overview::Sentence> {
    static void visit(auto&& field) {
        field("about", &overview::Sentence::about);
        field("text", &overview::Sentence::text);
    }
};
template <>
struct Fields<overview::GpuCounts> {
    static void visit(auto&& field) {
        using G = overview::GpuCounts;
        field("total", &G::total);
        field("used", &G::used);
        field("starting", &G::starting);
        field("leaving", &G::leaving);
        field("idle", &G::idle);
        field("idle_together", &G::idle_together);
        field("not_ready", &G::not_ready);
    }
};
template <>
struct Fields<overview::JobCounts> {
    static void visit(auto&& field) {
        using J = overview::JobCounts;
        field("running", &J::running);
        field("waiting", &J::waiting);
        field("paused", &J::paused);
        field("on_hold", &J::on_hold);
        field("leaving", &J::leaving);
    }
};
template <>
struct Fields<overview::ProjectUse> {
    static void visit(auto&& field) {
        using P = overview::ProjectUse;
        field("name", &P::name);
        field("quota", &P::quota);
        field("used", &P::used);
        field("wanted", &P::wanted);
        field("above_quota", &P::borrowed);
        field("unused_quota", &P::unused);
    }
};

template <>
struct Fields<overview::Part> {
    static void visit(auto&& field) {
        field("project", &overview::Part::project);
        field("gpus", &overview::Part::gpus);
    }
};

}  // namespace berth::codec

namespace berth::api {

// Who lends and who borrows in one pool.
struct LendingView : overview::Lending {
    std::string pool;
    std::vector<overview::Sentence> sentences;
};

// The overview for one user.
struct OverviewView {
    std::string user;
    std::vector<overview::Sentence> sentences;
    overview::GpuCounts gpus;
    overview::JobCounts own_jobs;
    overview::JobCounts jobs;  // of all
    base::MilliGpu wanted{0};
    std::vector<overview::ProjectUse> projects;
};

}  // namespace berth::api

template <>
struct berth::codec::Fields<berth::api::OverviewView> {
    static void visit(auto&& field) {
        using O = api::OverviewView;
        field("user", &O::user);
        field("sentences", &O::sentences);
        field("gpus", &O::gpus);
        field("own_jobs", &O::own_jobs);
        field("jobs", &O::jobs);
        field("wanted", &O::wanted);
        field("projects", &O::projects);
    }
};
template <>
struct berth::codec::Fields<berth::api::LendingView> {
    static void visit(auto&& field) {
        using L = api::LendingView;
        field("pool", &L::pool);
        field("sentences", &L::sentences);
        field("capacity", &L::capacity);
        field("quotas", &L::quotas);
        field("lenders", &L::lenders);
        field("borrowers", &L::borrowers);
        field("owed", &L::owed);
        field("in_no_quota", &L::in_no_quota);
        field("not_ready", &L::not_ready);
        field("kept", &L::kept);
        field("free", &L::free);
        field("not_there", &L::not_there);
    }
};
