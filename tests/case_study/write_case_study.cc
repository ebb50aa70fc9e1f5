// SPDX-License-Identifier: Apache-2.0
//
// Writes what docs/case-study.md shows: its tables to standard output, its pictures, the stream of
// each seed and both clusters, for berth simulate, into the folder named by the only argument.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

#include "case_study/study.h"
#include "codec/files/state_writer.h"
#include "codec/words/words.h"
#include "simulation/report/chart_file.h"

namespace berth::case_study {
namespace {

constexpr std::uint64_t kSeeds = 5;

std::string name(Assignment assignment) {
    return assignment == Assignment::Static ? "static" : "shared";
}

void print_head(const char* first) {
    std::printf(
        "\n| %s | | used | to train | experiments | for each GPU | JCT, training | JCT, "
        "others | worst rho | pauses | longest wait in quota |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|\n",
        first);
}

void print(const std::string& label, Assignment assignment, const Figures& figures) {
    std::printf("| %s | %s | %.1f %% | %.1f %% | %d | %.0f | %.1f h | %.1f h ", label.c_str(),
                name(assignment).c_str(), 100 * figures.used, 100 * figures.used_to_train,
                figures.experiments, figures.experiments_per_gpu, figures.avg_jct_training_h,
                figures.avg_jct_others_h);
    std::printf("| %.1f | %d | %.0f s |\n", figures.worst_rho, static_cast<int>(figures.pauses),
                figures.longest_in_quota_wait_s);
}

std::string csv(const simulation::Trace& trace) {
    std::string text = "submit_s,duration_s,gpus,project,kind,pool\n";
    for (const simulation::TraceJob& job : trace) {
        text += std::to_string(base::to_ms(job.submitted) / 1000) + "," +
                std::to_string(job.work / std::chrono::seconds(1)) + "," +
                std::to_string(job.gpus) + "," + job.project + "," +
                std::string(codec::word(job.kind)) + "," + job.pool + "\n";
    }
    return text;
}

class Folder {
  public:
    explicit Folder(std::string path) : path_(std::move(path)) {}

    void write(const std::string& name, const std::string& text) {
        std::ofstream file(path_ + "/" + name, std::ios::binary);
        file << text;
        if (!file.flush()) {
            std::fprintf(stderr, "case_study: %s/%s cannot be written\n", path_.c_str(),
                         name.c_str());
            std::exit(1);
        }
    }

  private:
    std::string path_;
};

void write_inputs(Folder& folder) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        folder.write("jobs-" + std::to_string(seed) + ".csv", csv(stream(Site{}, seed)));
    }
    for (const Assignment assignment : {Assignment::Static, Assignment::Shared}) {
        folder.write(name(assignment) + ".json", codec::state_json(cluster(assignment)));
    }
}

void write_charts(Folder& folder, const simulation::Trace& trace,
                  const std::vector<simulation::Run>& runs) {
    const model::Description hardware = cluster(Assignment::Shared);
    const simulation::Experiment experiment{trace, simulation::machines_of(hardware)};
    const double window_s = std::chrono::duration<double>(kWindow).count();
    folder.write("gpus-in-use.svg",
                 simulation::chart_file(simulation::use_chart(experiment, runs, {0, window_s})));
    folder.write("jobs-waiting.svg",
                 simulation::chart_file(simulation::waiting_chart(runs, {0, window_s})));
    folder.write("completion.svg",
                 simulation::chart_file(simulation::completion_chart(experiment, runs)));
}

void run(Folder folder) {
    write_inputs(folder);
    print_head("seed");
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const simulation::Trace trace = stream(Site{}, seed);
        std::vector<simulation::Run> runs;
        for (const Assignment assignment : {Assignment::Static, Assignment::Shared}) {
            Result result = replay(Site{}, trace, assignment);
            print(std::to_string(seed), assignment, result.figures);
            runs.push_back(std::move(result.run));
        }
        if (seed == 1) write_charts(folder, trace, runs);
    }
    print_head("training, GPUs asked");
    for (const Site site : {Site{4, 105}, Site{8, 60}, Site{8, 85}, Site{8, 105}, Site{8, 130},
                            Site{15, 105}, Site{30, 105}}) {
        const simulation::Trace trace = stream(site, 1);
        for (const Assignment assignment : {Assignment::Static, Assignment::Shared}) {
            print(std::to_string(site.training) + ", " + std::to_string(site.sweeps_gpus),
                  assignment, replay(site, trace, assignment).figures);
        }
    }
}

}  // namespace
}  // namespace berth::case_study

int main(int count, char** words) {
    if (count != 2) {
        std::fprintf(stderr, "usage: case_study FOLDER\n");
        return 2;
    }
    berth::case_study::run(berth::case_study::Folder(words[1]));
}
