// SPDX-License-Identifier: Apache-2.0
#include "app/berth/demo_jobs.h"

#include <unistd.h>

#include <filesystem>

#include "api/http/access.h"

namespace berth::app {
namespace {

struct DemoProject {
    const char* name;
    int quota;
};
constexpr DemoProject kProjects[] = {{"vision", 2}, {"nlp", 4}, {"lab", 0}};

struct DemoJob {
    const char* name;
    const char* project;
    int gpus;
    int steps;
};
// lab uses over-quota GPUs; vision and nlp use a part of their own.
constexpr DemoJob kJobs[] = {{"resnet", "vision", 1, 600},
                             {"bert", "nlp", 2, 900},
                             {"sweep-a", "lab", 2, 1200},
                             {"sweep-b", "lab", 2, 1200},
                             {"sweep-c", "lab", 2, 1200}};

}  // namespace

void submit_demo(control::Controller& controller, const std::string& program) {
    const std::string user = api::user_name(::geteuid());
    for (const DemoProject& demo : kProjects) {
        model::Project project;
        project.name = demo.name;
        project.rights.quota = base::gpus(demo.quota);
        controller.set_project(std::move(project), user, [](const base::Status&) {});
    }
    const std::string trainer =
        (std::filesystem::path(program).parent_path() / "berth-trainer").string();
    for (const DemoJob& demo : kJobs) {
        model::Submission submission;
        submission.spec.name = demo.name;
        submission.spec.project = demo.project;
        submission.spec.request.gpus = demo.gpus;
        submission.launch.command = {trainer, "--steps", std::to_string(demo.steps)};
        submission.launch.workdir = "/tmp";
        submission.launch.user = user;
        submission.key = std::string("berth-demo-") + demo.name;
        controller.submit(std::move(submission), [](const auto&) {});
    }
}

}  // namespace berth::app
