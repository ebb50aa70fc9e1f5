// SPDX-License-Identifier: Apache-2.0
#include "kube/people/share_page.h"

#include <doctest/doctest.h>

#include "kube/people/documents.h"

using namespace berth;
using namespace berth::kube::people;

namespace {

std::string project(const std::string& name, int age, const std::string& spec,
                    const std::string& status) {
    return R"({"metadata":{"name":")" + name + R"(","uid":"00000000-0000-0000-0000-00000000000)" +
           std::to_string(age) + R"(","creationTimestamp":"2026-03-01T12:00:0)" +
           std::to_string(age) + R"(Z"},"spec":{)" + spec + R"(},"status":{)" + status + "}}";
}

std::string use(const std::string& quota, const std::string& fair, int used, int over,
                int waiting) {
    return R"("quota":)" + quota + R"(,"fairShare":)" + fair + R"(,"used":)" +
           std::to_string(used) + R"(,"over":)" + std::to_string(over) + R"(,"waiting":)" +
           std::to_string(waiting);
}

std::string in_default(const std::string& what) {
    return what + R"(,"pools":{"default":{)" + what + "}}";
}

void add_three(Read& read) {
    const std::string list =
        R"({"metadata":{},"items":[)" +
        project("vision", 3, R"("parent":"research","quota":8)",
                in_default(use("8", "9.5", 10, 2, 1))) +
        "," + project("research", 2, R"("quota":12)", in_default(use("12", "10", 10, 0, 1))) + "," +
        project("nlp", 1, "", "") + "]}";
    REQUIRE(add_projects(read, list) == std::string());
}

const cli::Style kNoColour;

}  // namespace

TEST_CASE("projects are a tree with the numbers of their status") {
    Read read;
    add_three(read);
    CHECK(share_table(read, branch_of(read, "")).render(kNoColour) ==
          "PROJECT   QUOTA  FAIR SHARE  USED  OVER  WAITING\n"
          "nlp           -           -     -     -        -\n"
          "research     12          10    10     0        1\n"
          "  vision      8         9.5    10     2        1\n");
}

TEST_CASE("one project is shown with those below it and what it is entitled to") {
    Read read;
    add_three(read);
    const Branch branch = branch_of(read, "research");
    REQUIRE(branch.rows.size() == 2);
    CHECK(entitlement_lines(read, *branch.rows[0].project, kNoColour) ==
          "research is entitled to 10 GPUs of the pool default now\n");
    CHECK(entitlement_lines(read, *branch_of(read, "nlp").rows[0].project, kNoColour) ==
          "the scheduler has not yet written the fair share of nlp\n");
    CHECK(branch_of(read, "visoin").rows.empty());
}

TEST_CASE("a project whose parent is not there is shown all the same") {
    Read read;
    REQUIRE(add_projects(read, project("lost", 1, R"("parent":"gone")", "")));
    REQUIRE(branch_of(read, "").rows.size() == 1);
    CHECK(branch_of(read, "").rows[0].depth == 0);
}

TEST_CASE("where there are pools each is a row, but for those that are gone or hold nothing") {
    Read read;
    const std::string all = use("-1", "16", 9, 0, 0) + R"(,"pools":{"default":{)" +
                            use("2", "1", 1, 0, 0) + R"(},"h100":{)" + use("-1", "8", 8, 0, 0) +
                            R"(},"a100":{)" + use("0", "0", 0, 0, 0) + R"(},"gone":{)" +
                            use("4", "0", 0, 0, 0) + "}}";
    REQUIRE(add_projects(read, project("vision", 1, "", all)));
    for (const char* name : {"h100", "a100"}) REQUIRE(add_pools(read, project(name, 5, "", "")));
    CHECK(share_table(read, branch_of(read, "")).render(kNoColour) ==
          "PROJECT  POOL     QUOTA  FAIR SHARE  USED  OVER  WAITING\n"
          "vision   default      2           1     1     0        0\n"
          "         h100         -           8     8     0        0\n");
    CHECK(share_list_json(read, branch_of(read, "")) ==
          R"({"apiVersion":"berth/v1","kind":"KubeProjectList","items":[{"name":"vision",)"
          R"("parent":"","quota":null,"fair_share":16,"used":9,"over":0,"waiting":0,)"
          R"("pools":{"default":{"quota":2,"fair_share":1,"used":1,"over":0,"waiting":0},)"
          R"("h100":{"quota":null,"fair_share":8,"used":8,"over":0,"waiting":0}}}]})");
}

TEST_CASE("a list says with which word it goes on") {
    Read read;
    const std::string page = R"({"metadata":{"resourceVersion":"7","continue":"next"},"items":[)" +
                             project("vision", 1, "", "") + "]}";
    CHECK(add_projects(read, page) == "next");
    CHECK(add_projects(read, project("nlp", 2, "", "")) == "");
    CHECK(read.projects.size() == 2);
}

TEST_CASE("an answer that is no list of projects is an error, not an empty one") {
    Read read;
    CHECK_FALSE(add_projects(read, "<html>"));
    CHECK_FALSE(add_projects(read, R"({"items":[{"spec":{}}]})"));
}
