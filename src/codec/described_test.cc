// SPDX-License-Identifier: Apache-2.0
//
// Does every description name every member of its type? Counted by the compiler, so that a member
// added to the model and forgotten here does not build.
#include "codec/described.h"

#include <doctest/doctest.h>

#include "codec/api_fields.h"
#include "codec/event_fields.h"
#include "codec/foresight_fields.h"
#include "codec/node_view_fields.h"

namespace berth::codec {

// Not in the anonymous namespace: clang would ask where its conversions are defined.
struct Anything {
    template <typename T>
    operator T() const;
};

}  // namespace berth::codec

using namespace berth;
using codec::Anything;

namespace {

// How many initialisers the aggregate takes.
template <typename T, typename... Given>
consteval std::size_t count_members() {
    if constexpr (requires { T{Given{}..., Anything{}}; }) {
        return count_members<T, Given..., Anything>();
    } else {
        return sizeof...(Given);
    }
}

template <typename T>
std::size_t count_described() {
    std::size_t count = 0;
    codec::Fields<T>::visit([&](std::string_view, auto) { ++count; });
    return count;
}

template <typename T>
void check_one() {
    CAPTURE(__PRETTY_FUNCTION__);
    CHECK(count_described<T>() == count_members<T>());
}

template <typename... T>
void check_all() {
    (check_one<T>(), ...);
}

template <typename... Event>
void check_events(const std::variant<Event...>&) {
    check_all<Event...>();
}

}  // namespace

TEST_CASE("no member of a described type is forgotten") {
    static_assert(count_members<model::Pool>() == 4);
    check_all<model::Pool, model::NodePlace, model::NodeMove, model::Node, model::Entitlement,
              model::Project, model::TaskRequest, model::JobSpec, model::TaskPlacement,
              model::PauseCost, model::PauseReceipt, model::OrderReceipt, model::JobRecord,
              model::PauseManner, model::LaunchSpec, model::Snapshot>();
    check_all<model::Verdict, model::Remedy, model::Start, model::Pause, model::Move,
              model::Reservation, model::Booking, model::Plan, model::Submission, codec::PlanView,
              codec::ProjectUse, codec::GpuView, codec::Foresight, model::StartEstimate,
              model::ShareRow, model::ShareOffer, model::ShareLevel, model::ShareAccount,
              model::Hypothesis, model::JobFate, model::FateChange, model::WhatIf,
              codec::WhatIfRequest, model::OrderEvidence, model::StageChange, model::OrderPrice,
              model::OrderAccount, model::Accuracy>();
    check_all<model::SizeLedger, model::FamilyLedger, model::RankLedger, model::ClaimLedger,
              model::GuardLedger, model::CrowdLedger, model::OrderLedger>();
    check_events(model::EventBody{});
}
