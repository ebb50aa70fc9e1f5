// SPDX-License-Identifier: Apache-2.0
//
// Which members has the whole state of a server, and its ledgers? A part of event_fields.h.
#pragma once

#include "codec/fields/model_fields.h"
#include "codec/fields/order_fields.h"
#include "codec/fields/profile_fields.h"
#include "model/record.h"

namespace berth::codec {

template <>
struct Fields<model::WasteLedger> {
    static void visit(auto&& field) {
        using W = model::WasteLedger;
        field("pool", &W::pool);
        field("day", &W::day);
        field("gpu_ms", &W::gpu_ms);
    }
};

template <>
struct Fields<model::UseLedger> {
    static void visit(auto&& field) {
        using U = model::UseLedger;
        field("project", &U::project);
        field("pool", &U::pool);
        field("held", &U::held);
        field("settled", &U::settled);
        field("began", &U::began);
        field("first_period", &U::first_period);
        field("milli_gpu_ms", &U::milli_gpu_ms);
    }
};

template <>
struct Fields<model::LedgerLine> {
    static void visit(auto&& field) {
        using L = model::LedgerLine;
        field("pool", &L::pool);
        field("gpu", &L::gpu);
        field("project", &L::project);
        field("user", &L::user);
    }
};

template <>
struct Fields<model::LedgerRow> {
    static void visit(auto&& field) {
        using R = model::LedgerRow;
        field("day", &R::day);
        field("line", &R::line);
        field("milli_gpu_ms", &R::times);
    }
};

template <>
struct Fields<model::RecentTime> {
    static void visit(auto&& field) {
        using R = model::RecentTime;
        field("day", &R::day);
        field("line", &R::line);
        field("is_saved", &R::is_saved);
        field("milli_gpu_ms", &R::times);
    }
};

template <>
struct Fields<model::JobTime> {
    static void visit(auto&& field) {
        using J = model::JobTime;
        field("job", &J::job);
        field("attempt", &J::attempt);
        field("milli_gpu_ms", &J::times);
        field("recent", &J::recent);
    }
};

template <>
struct Fields<model::LedgerBook> {
    static void visit(auto&& field) {
        using B = model::LedgerBook;
        field("rows", &B::rows);
        field("jobs", &B::jobs);
    }
};

template <>
struct Fields<model::Snapshot> {
    static void visit(auto&& field) {
        field("sequence", &model::Snapshot::sequence);
        field("time", &model::Snapshot::time);
        field("last_job", &model::Snapshot::last_job);
        field("incarnations", &model::Snapshot::incarnations);
        field("levels", &model::Snapshot::levels);
        field("pools", &model::Snapshot::pools);
        field("nodes", &model::Snapshot::nodes);
        field("places", &model::Snapshot::places);
        field("projects", &model::Snapshot::projects);
        field("jobs", &model::Snapshot::jobs);
        field("waste", &model::Snapshot::waste);
        field("use", &model::Snapshot::use);
        field("profiles", &model::Snapshot::profiles);
        field("policy", &model::Snapshot::policy);
        field("order", &model::Snapshot::order);
        field("ledger", &model::Snapshot::ledger);
    }
};

}  // namespace berth::codec
