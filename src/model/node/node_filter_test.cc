// SPDX-License-Identifier: Apache-2.0
#include "model/node/node_filter.h"

#include <doctest/doctest.h>

using namespace berth::model;

namespace {

const Labels kLabels{{"zone", "a"}, {"disks", "8"}, {"empty", ""}, {"word", "8x"}};

bool holds(const std::string& filter) {
    const auto parsed = parse_node_filter(filter);
    REQUIRE(parsed.has_value());
    CHECK(format(*parsed) == filter);
    return satisfies("n1", kLabels, *parsed);
}

bool keeps_away(const std::string& taint, const std::string& toleration) {
    const auto parsed = parse_taint(taint);
    REQUIRE(parsed.has_value());
    CHECK(format(*parsed) == taint);
    std::vector<Toleration> tolerations;
    if (!toleration.empty()) {
        const auto tolerated = parse_toleration(toleration);
        REQUIRE(tolerated.has_value());
        CHECK(format(*tolerated) == toleration);
        tolerations.push_back(*tolerated);
    }
    return not_tolerated({*parsed}, tolerations) != nullptr;
}

}  // namespace

TEST_CASE("each operator means what it means in a node affinity of Kubernetes") {
    CHECK(holds("zone=a"));
    CHECK(holds("zone=b|a"));
    CHECK_FALSE(holds("zone=b|c"));
    CHECK_FALSE(holds("rack=a"));
    CHECK_FALSE(holds("zone!=a|b"));
    CHECK(holds("zone!=b|c"));
    CHECK(holds("rack!=a"));
    CHECK(holds("empty="));
    CHECK(holds("empty=a||b"));
    CHECK(holds("zone"));
    CHECK_FALSE(holds("rack"));
    CHECK_FALSE(holds("!zone"));
    CHECK(holds("!rack"));
    CHECK(holds("disks>7"));
    CHECK_FALSE(holds("disks>8"));
    CHECK(holds("disks<9"));
    CHECK_FALSE(holds("disks<8"));
    CHECK_FALSE(holds("rack<8"));
    CHECK_FALSE(holds("word<9"));
    CHECK(holds("word!=8"));
}

TEST_CASE("terms hold together, alternatives one by one, and a node has a name") {
    CHECK(holds("zone=a,!rack"));
    CHECK_FALSE(holds("zone=a,rack"));
    CHECK(holds("zone=a,rack;disks>1"));
    CHECK_FALSE(holds("zone=b;rack"));
    CHECK(holds("@name=n0|n1"));
    CHECK_FALSE(holds("@name!=n1"));
    CHECK(holds(""));
}

TEST_CASE("a filter, taint or toleration that cannot be meant is refused") {
    for (const char* filter : {",", ";", "a;", "!", "=a", "zone==a", "!zone=a", "disks>", "disks>a",
                               "disks>1|2", "zone!a", "a<b=c"}) {
        CAPTURE(filter);
        CHECK_FALSE(parse_node_filter(filter).has_value());
    }
    for (const char* taint : {"", "a", "a:", ":NoSchedule", "a:NoOne", "*:NoSchedule",
                              "a=b=c:NoSchedule", "a=b:c:NoSchedule"}) {
        CAPTURE(taint);
        CHECK_FALSE(parse_taint(taint).has_value());
    }
    for (const char* toleration : {"", ":NoSchedule", "a:NoOne", "a=b:c:NoSchedule", "a*"}) {
        CAPTURE(toleration);
        CHECK_FALSE(parse_toleration(toleration).has_value());
    }
    CHECK_FALSE(check(NodeFilter{{{{"a", NodeOperator::In, {}}}}}).has_value());
    CHECK_FALSE(check(NodeFilter{{{{"a", NodeOperator::Exists, {"b"}}}}}).has_value());
    CHECK_FALSE(check(NodeFilter{{{}}}).has_value());
}

TEST_CASE("a toleration leaves out what makes no difference to it") {
    const std::string taint = "for=a:NoSchedule";
    CHECK(keeps_away(taint, ""));
    CHECK_FALSE(keeps_away(taint, "for=a:NoSchedule"));
    CHECK_FALSE(keeps_away(taint, "for=a"));
    CHECK_FALSE(keeps_away(taint, "for:NoSchedule"));
    CHECK_FALSE(keeps_away(taint, "for"));
    CHECK_FALSE(keeps_away(taint, "*"));
    CHECK_FALSE(keeps_away(taint, "*:NoSchedule"));
    CHECK(keeps_away(taint, "*:NoExecute"));
    CHECK(keeps_away(taint, "for=b"));
    CHECK(keeps_away(taint, "other"));
    CHECK(keeps_away("for:NoExecute", "for=a"));
    CHECK_FALSE(keeps_away("for=a:PreferNoSchedule", ""));
}
