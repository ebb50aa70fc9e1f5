// SPDX-License-Identifier: Apache-2.0
#include "kube/people/work.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "codec/words/timestamp.h"
#include "kube/people/documents.h"
#include "kube/people/why_page.h"
#include "kube/people/work_table.h"

using namespace berth;
using namespace berth::kube::people;
using model::JobState;

namespace {

const base::TimePoint kNow = *codec::parse_time("2026-03-01T12:10:00Z");
const cli::Style kPlain;

std::string uid(int number) {
    std::string text = std::to_string(number);
    text.insert(0, 12 - text.size(), '0');
    return "00000000-0000-0000-0000-" + text;
}

std::string meta(const std::string& name, int number, const std::string& more = "",
                 const std::string& name_space = "ml") {
    return R"("metadata":{"name":")" + name + R"(","namespace":")" + name_space + R"(","uid":")" +
           uid(number) + R"(","creationTimestamp":"2026-03-01T12:00:00Z")" + more + "}";
}

struct PodSays {
    std::string scheduler = "berth";
    std::string spec = "";  // ,"nodeName":"n1"
    std::string phase = "Pending";
    std::string condition = "";  // of the pod's scheduling
    std::string labels = "";
    int job = 0;
    std::string name_space = "ml";
};

// A cluster as the API server writes it: namespace ml of the project vision, and one Job of it.
struct Scene {
    explicit Scene(const std::string& labels = R"(,"labels":{"berth.dev/project":"vision"})") {
        ::setenv("TZ", "UTC", 1);
        REQUIRE(add_namespaces(
            read, R"({"metadata":{"name":"ml","uid":")" + uid(900) + "\"" + labels + "}}"));
    }
    Scene& pod(const std::string& name, int number, const PodSays& says) {
        std::string more = says.labels;
        if (says.job != 0) {
            more += R"(,"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"train",)"
                    R"("uid":")" +
                    uid(says.job) + R"(","controller":true}])";
        }
        REQUIRE(add_pods(read, "{" + meta(name, number, more, says.name_space) +
                                   R"(,"spec":{"schedulerName":")" + says.scheduler +
                                   R"(","containers":[{"resources":{"requests":)"
                                   R"({"nvidia.com/gpu":"4"}}}])" +
                                   says.spec + R"(},"status":{"phase":")" + says.phase +
                                   R"(","conditions":[)" + says.condition + "]}}"));
        return *this;
    }
    Scene& job(const std::string& spec = "", const std::string& status = "",
               const std::string& more = "") {
        REQUIRE(add_workloads(read, kube::objects::WorkloadKind::Job,
                              "{" + meta("train", 1, more) +
                                  R"(,"spec":{"parallelism":2,"completions":2,"template":{"spec":)"
                                  R"({"containers":[{"resources":{"requests":)"
                                  R"({"nvidia.com/gpu":"4"}}}]}})" +
                                  spec + R"(},"status":{)" + status + "}}"));
        return *this;
    }
    Work work(int number = 1) const {
        const auto found = work_of(read, *kube::objects::Uid::parse(uid(number)), kNow);
        REQUIRE(found);
        return *found;
    }
    std::string page(int number = 1) const { return why_page(work(number), "", kNow, kPlain); }
    std::string first_line(int number = 1) const {
        std::string text = page(number);
        for (std::size_t at = text.find('\n'); at + 1 < text.size() && text[at + 1] != ' ';
             at = text.find('\n', at + 1))
            text[at] = ' ';
        return text.substr(0, text.find('\n'));
    }

    Read read;
};

const std::string kWaits = R"({"type":"PodScheduled","status":"False","reason":"QuotaExceeded",)"
                           R"("message":"vision holds 8"})";
const std::string kBound =
    R"({"type":"PodScheduled","status":"True","lastTransitionTime":"2026-03-01T12:08:00Z"})";

PodSays waiting(int job = 0) { return {.condition = kWaits, .job = job}; }
PodSays running(const std::string& node, int job = 0) {
    return {.spec = R"(,"nodeName":")" + node + "\"",
            .phase = "Running",
            .condition = kBound,
            .job = job};
}

std::string notes(bool is_in_force) {
    return std::string(R"(,"annotations":{"berth.dev/last-pause":"{\"paused\":)") +
           (is_in_force ? "true" : "false") +
           R"(,\"rule\":\"reclaim\",\"for\":\"x\",\"time\":\"2026-03-01T12:07:00Z\",)"
           R"(\"deadline\":\"2026-03-01T12:08:00Z\",\"priority\":50}",)"
           R"("berth.dev/history":"{\"attained_gpu_ms\":1200000,\"lost_gpu_ms\":0,\"pauses\":)" +
           (is_in_force ? "0" : "1") + R"(,\"losses\":0}"})";
}

}  // namespace

TEST_CASE("what the condition of its first pod says is why it waits, word for word") {
    Scene scene;
    scene.job().pod("train-0", 10, waiting(1)).pod("train-1", 11, {.job = 1});
    CHECK(scene.page() ==
          "job/train waits: vision holds 8.                                                     "
          "[QuotaExceeded]\n"
          "  project     vision\n"
          "  asks        8 GPUs as 2 pods, all at once\n"
          "  since       12:00:00, 10m ago\n");
}

TEST_CASE("a running Job says where, since when and on how many GPUs") {
    Scene scene;
    scene.job("", "", notes(false)).pod("train-0", 10, running("n1", 1));
    scene.pod("train-1", 11, running("n1", 1));
    CHECK(scene.page() ==
          "job/train is running on n1 (2 pods); it does not wait.\n"
          "  project     vision\n"
          "  has         8 GPUs as 2 pods\n"
          "  since       12:08:00, 2m ago\n"
          "  used        20 GPU-min until it was last paused, 0 GPU-s lost to pauses\n"
          "  paused      1 time\n");
}

TEST_CASE("a paused Job says since when, by which rule, for whom, and what it had") {
    Scene scene;
    scene.job(R"(,"suspend":true)", "", notes(true));
    CHECK(scene.work().job.state == JobState::Paused);
    CHECK(why_page(scene.work(), "owner/job/urgent", kNow, kPlain) ==
          "job/train is paused and waits: a project below its quota reclaimed lent GPUs.\n"
          "  project     vision\n"
          "  asks        8 GPUs as 2 pods, all at once\n"
          "  used        20 GPU-min until it was last paused, 0 GPU-s lost to pauses\n"
          "  paused      1 time\n"
          "paused 12:07:00 for owner/job/urgent, 3m ago\n"
          "  rule        reclaim: a project below its quota reclaimed lent GPUs\n"
          "  notice      asked 12:07:00 (time until 12:08:00)\n"
          "  resumes     as soon as GPUs are free for it\n");
    scene.pod("train-0", 10, running("n1", 1));
    CHECK(scene.work().job.state == JobState::Pausing);
    CHECK(scene.first_line() ==
          "job/train is saving: a project below its quota reclaimed lent GPUs.");
}

TEST_CASE("a Job that lost its nodes says so, and names no rule") {
    std::string lost = notes(true);
    const std::string rule = R"(\"rule\":\"reclaim\",\"for\":\"x\")";
    lost.replace(lost.find(rule), rule.size(), R"(\"rule\":\"\",\"for\":\"\")");
    Scene scene;
    scene.job(R"(,"suspend":true)", "", lost);
    CHECK(scene.first_line().starts_with(
        "job/train is paused and waits: it could not continue where it ran."));
    CHECK(scene.page().find("rule") == std::string::npos);
}

TEST_CASE("a running Job of which a pod waits says what that waits for") {
    Scene scene;
    scene.job().pod("train-0", 10, running("n1", 1)).pod("train-1", 11, waiting(1));
    CHECK(scene.first_line().starts_with(
        "job/train is running on n1; it waits for more: vision holds 8."));
    CHECK(scene.first_line().ends_with("[QuotaExceeded]"));
}

TEST_CASE("a Job that its user has suspended says so, and how it goes on") {
    Scene scene;
    scene.job(R"(,"suspend":true)");
    CHECK(scene.page() ==
          "job/train is on hold: a user set spec.suspend.\n"
          "  project     vision\n"
          "  asks        8 GPUs as 2 pods, all at once\n"
          "  resumes     kubectl patch job/train -n ml --type merge -p "
          "'{\"spec\":{\"suspend\":false}}'\n");
}

TEST_CASE("where no condition says why, it is what can be seen") {
    CHECK(Scene().job().first_line() == "job/train waits: its pods do not exist yet.");
    CHECK(Scene().job(R"(,"parallelism":0)").first_line() ==
          "job/train waits: it is scaled to zero pods.");
    CHECK(Scene().job().pod("train-0", 10, {.job = 1}).first_line() ==
          "job/train waits: 1 of its 2 pods exist; it starts when all do.");
    CHECK(Scene()
              .pod("p", 10, {.spec = R"(,"schedulingGates":[{"name":"a/b"},{"name":"c"}])"})
              .first_line(10) ==
          "pod/p waits: its scheduling gates must be removed first: "
          "a/b, c.");
    CHECK(Scene().pod("p", 10, {}).first_line(10) ==
          "pod/p waits: Berth has not written a reason yet; kubectl get pods -n berth-system shows "
          "whether its "
          "scheduler runs.");
    Scene unlike;
    unlike.job().pod("train-0", 10, {.job = 1});
    constexpr const char* kMoreCpu =
        R"(,"initContainers":[{"resources":{"requests":{"cpu":"2"}}}])";
    unlike.pod("train-1", 11, {.spec = kMoreCpu, .job = 1});
    CHECK(unlike.first_line().starts_with(
        "job/train waits: its pods ask for the same GPUs and for different CPU or memory"));
}

TEST_CASE("who has a node and does not run yet is starting") {
    Scene scene;
    scene.job().pod("train-0", 10, {.spec = R"(,"nodeName":"n1")", .condition = kBound, .job = 1});
    scene.pod("train-1", 11, waiting(1));
    CHECK(scene.work().job.state == JobState::Starting);
    CHECK(scene.first_line() == "job/train is starting: 1 of its 2 pods have a node.");
}

TEST_CASE("what is being deleted has its GPUs until its pods are gone") {
    PodSays leaving = running("n1", 1);
    leaving.labels = R"(,"deletionTimestamp":"2026-03-01T12:10:00Z")";
    Scene scene;
    scene.pod("train-0", 10, leaving);  // its Job is gone
    CHECK(scene.page() ==
          "job/train is asked to stop: its pods are being deleted.\n"
          "  project     vision\n"
          "  has         4 GPUs\n"
          "  on          n1\n"
          "  since       12:08:00, 2m ago\n");
}

TEST_CASE("what has ended says how") {
    const std::string failed =
        R"("conditions":[{"type":"Failed","status":"True","message":"too many failures",)"
        R"("lastTransitionTime":"2026-03-01T12:09:00Z"}])";
    CHECK(Scene().job("", failed, notes(false)).first_line() ==
          "job/train has ended: it failed: too many failures.");
    CHECK(Scene().pod("p", 10, {.phase = "Succeeded"}).first_line(10) ==
          "pod/p has ended: it succeeded.");
}

TEST_CASE("what is another scheduler's says whose it is, and why") {
    const PodSays other{.scheduler = "default-scheduler"};
    CHECK(Scene("").pod("p", 10, other).first_line(10) ==
          "pod/p is for the scheduler default-scheduler, not for Berth: namespace ml has no label "
          "berth.dev/project, with which new pods there are Berth's.");
    CHECK(Scene().pod("p", 10, {.scheduler = "volcano"}).first_line(10) ==
          "pod/p is for the scheduler volcano, not for Berth: its spec.schedulerName says so.");
    CHECK(Scene()
              .pod("p", 10,
                   {.scheduler = "default-scheduler",
                    .labels = R"(,"labels":{"berth.dev/ignore":"true"})"})
              .first_line(10) ==
          "pod/p is for the scheduler default-scheduler, not for Berth: its label "
          "berth.dev/ignore is \"true\".");
    CHECK(Scene().pod("p", 10, other).first_line(10) ==
          "pod/p is for the scheduler default-scheduler, not for Berth: it was created before "
          "namespace ml had the label berth.dev/project, or names its node.");
    CHECK(Scene("").job().first_line() ==
          "job/train is for the scheduler default-scheduler, not for Berth: namespace ml has no "
          "label berth.dev/project, with which new pods there are Berth's.");
}

TEST_CASE("ls has Berth's alone, and says of each what why says") {
    Scene scene;
    scene.job().pod("train-0", 10, waiting(1)).pod("train-1", 11, {.job = 1});
    scene.pod("alone", 12, running("n2")).pod("theirs", 13, {.scheduler = "volcano"});
    const auto works = all_work(scene.read, kNow);
    CHECK(work_table(works, Namespaces::One, kNow).render(kPlain) ==
          "NAME       PROJECT  GPUS  STATE    WHERE  RUN/WAIT  WHY / PROGRESS\n"
          "job/train  vision   8     QUEUED   -           10m  vision holds 8\n"
          "pod/alone  vision   4     RUNNING  n2           2m\n");
    CHECK(name_in(works.front(), Namespaces::Many) == "ml/job/train");
    for (const Work& work : works) {
        const int number = work.name == "job/train" ? 1 : 12;
        CHECK(work_json(work, "") == work_json(scene.work(number), ""));
    }
}

TEST_CASE("a row of ls fits a terminal of 80 columns, and most of it is the name") {
    const std::string name = R"(,"labels":{"berth.dev/project":"a-project-of-a-long-name"})";
    Scene scene(name);
    scene.job().pod("train-0", 10, waiting(1)).pod("train-1", 11, {.job = 1});
    scene.pod("a-pod-of-quite-a-long-name-too", 12, running("a-node-of-a-long-name"));
    cli::Style narrow;
    narrow.width = 80;
    const auto works = all_work(scene.read, kNow);
    CHECK(work_table(works, Namespaces::Many, kNow).render(narrow) ==
          "NAME                   PROJECT  GPUS  STATE    WHERE    RUN/WAIT  WHY / PROGRESS\n"
          "ml/job/train           a-pr...  8     QUEUED   -             10m  vision holds 8\n"
          "ml/pod/a-pod-of-qu...  a-pr...  4     RUNNING  a-no...        2m\n");
}

TEST_CASE("a Job without pods is in ls where they would be Berth's") {
    CHECK(all_work(Scene().job().read, kNow).size() == 1);
    CHECK(all_work(Scene("").job().read, kNow).empty());
    CHECK(all_work(Scene().job("", R"("active":2)").read, kNow).empty());
}

TEST_CASE("a project is known by the namespace's label, or by a Project that lists it") {
    Scene scene("");
    scene.pod("p", 10, waiting());
    CHECK(scene.work(10).job.spec.project.empty());
    REQUIRE(add_projects(scene.read, R"({"metadata":{"name":"nlp","uid":")" + uid(800) +
                                         R"("},"spec":{"namespaces":["ml"]}})"));
    CHECK(scene.work(10).job.spec.project == "nlp");
}

TEST_CASE("a pod that names the Job of another namespace is one by itself, whether that is read") {
    for (const bool is_read : {true, false}) {
        CAPTURE(is_read);
        Scene scene;
        if (is_read) scene.job();
        scene.pod("train-0", 10, running("n1", 1));
        scene.pod("foreign", 11, {.job = 1, .name_space = "other"});
        CHECK(scene.work(1).name == "job/train");
        CHECK(scene.work(1).pods_there == 1);
        CHECK(scene.work(11).name == "pod/foreign");
    }
}
