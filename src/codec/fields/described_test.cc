// SPDX-License-Identifier: Apache-2.0
//
// Does every description name every member of its type? Counted by the compiler, so that a member
// added to the model and forgotten here does not build.
#include "codec/fields/described.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "codec/api/api_fields.h"
#include "codec/api/foresight_fields.h"
#include "codec/api/node_view_fields.h"
#include "codec/fields/event_fields.h"
#include "codec/words/words.h"

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

// The part of the page below this title, up to the next one.
std::string section(const std::string& page, const std::string& title) {
    const std::size_t begin = page.find("# " + title + "\n");
    REQUIRE(begin != std::string::npos);
    return page.substr(begin, page.find("\n#", begin) - begin);
}

template <typename T>
void check_documented(const std::string& page, const std::string& title) {
    const std::string text = section(page, title);
    codec::Fields<T>::visit([&](std::string_view name, auto) {
        INFO(title << ": " << name);
        CHECK(text.find("\n| `" + std::string(name) + "` | ") != std::string::npos);
    });
}

template <typename... E>
void check_words(const std::string& page) {
    const auto check = [&](std::string_view word) {
        INFO(word);
        CHECK(page.find("`" + std::string(word) + "`") != std::string::npos);
    };
    (std::ranges::for_each(codec::kWords<E>, check), ...);
}

}  // namespace

TEST_CASE("what the API says of the order is documented") {
    std::ifstream file(BERTH_SOURCE_DIR "/docs/reference/order-fields.md");
    std::ostringstream read;
    read << file.rdbuf();
    const std::string page = read.str();
    check_documented<model::OrderAccount>(page, "order");
    check_documented<model::OrderEvidence>(page, "evidence");
    check_documented<model::OrderPrice>(page, "price");
    check_documented<model::StageChange>(page, "changes");
    check_documented<model::OrderReceipt>(page, "last_pause.order");
    check_documented<model::Accuracy>(page, "predicted");
    check_words<model::JobOrder, model::Turn, model::EvidenceOf, model::HeldBackBy>(page);
}

TEST_CASE("no member of a described type is forgotten") {
    static_assert(count_members<model::Pool>() == 5);
    check_all<model::Pool, model::NodePlace, model::NodeMove, model::Node, model::Entitlement,
              model::Project, model::TaskRequest, model::JobSpec, model::TaskPlacement,
              model::PauseCost, model::PauseReceipt, model::OrderReceipt, model::JobRecord,
              model::PauseManner, model::LaunchSpec, model::Snapshot>();
    check_all<model::Verdict, model::Suggestion, model::Start, model::Pause, model::Move,
              model::Reservation, model::BackfillReservation, model::Plan, model::Submission,
              codec::PlanView, codec::UseInPool, codec::GpuView, codec::Foresight,
              model::StartEstimate, model::ShareRow, model::ShareOffer, model::ShareLevel,
              model::ShareAccount, model::Hypothesis, model::JobFate, model::FateChange,
              model::ShareThen, model::ShareChange, model::WhatIf, codec::WhatIfRequest,
              model::OrderEvidence, model::StageChange, model::OrderPrice, model::OrderAccount,
              model::Accuracy>();
    check_all<model::SizeLedger, model::FamilyLedger, model::RankLedger, model::ClaimLedger,
              model::GuardLedger, model::CrowdLedger, model::OrderLedger>();
    check_events(model::EventBody{});
}
