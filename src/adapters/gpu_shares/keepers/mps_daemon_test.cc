// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/mps_daemon.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace berth::gpu_shares {
namespace {

namespace fs = std::filesystem;

// In the place of nvidia-cuda-mps-control: notes how it was called, and "runs" until it gets the
// command to quit, by the number of a process that does run.
constexpr const char* kControl = R"(#!/bin/sh
echo "$CUDA_MPS_PIPE_DIRECTORY: $*" >> "$CUDA_MPS_PIPE_DIRECTORY/calls"
case "$1" in
-d) echo $PPID > "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid" ;;
-q) rm "$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid" ;;
esac
)";

class Folder {
  public:
    explicit Folder(const std::string& control) {
        REQUIRE(::mkdtemp(path_) != nullptr);
        std::ofstream(program()) << control;
        ::chmod(program().c_str(), 0755);
    }
    ~Folder() { fs::remove_all(path_); }

    std::string program() const { return std::string(path_) + "/nvidia-cuda-mps-control"; }
    std::string pipes() const { return std::string(path_) + "/mps"; }
    std::string read(const std::string& file) const {
        std::ostringstream text;
        text << std::ifstream(pipes() + "/" + file).rdbuf();
        return text.str();
    }

  private:
    char path_[32] = "/tmp/berth-mps-XXXXXX";
};

}  // namespace

TEST_CASE("the daemon is started once, with version 3 and its memory accounted, and it quits") {
    const Folder folder(kControl);
    MpsDaemon mps(folder.program(), folder.pipes());
    REQUIRE(mps.start());
    REQUIRE(mps.start());
    mps.stop();
    mps.stop();
    const std::string pipes = folder.pipes();
    CHECK(folder.read("calls") ==
          pipes + ": -d -p 3 -a " + pipes + "/mps.toml\n" + pipes + ": -q\n");
    CHECK(folder.read("mps.toml").find("[features.memacct]\nenabled = true") != std::string::npos);
}

TEST_CASE("a daemon that does not start is an error with its words") {
    const Folder folder("#!/bin/sh\necho \"no GPU is here\"; exit 1\n");
    MpsDaemon mps(folder.program(), folder.pipes());
    const auto started = mps.start();
    REQUIRE_FALSE(started);
    CHECK(started.error().message == folder.program() + " does not start: no GPU is here");
}

TEST_CASE("a process gets the directory, its part in percent and whether it goes first") {
    const MpsDaemon mps("/usr/bin/nvidia-cuda-mps-control", "/run/mps");
    CHECK(mps.environment(base::MilliGpu{250}, model::JobKind::Train) ==
          std::vector<std::string>{
              "CUDA_MPS_PIPE_DIRECTORY=/run/mps", "CUDA_MPS_LOG_DIRECTORY=/run/mps/log",
              "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=25", "CUDA_MPS_CLIENT_PRIORITY=1"});
    const auto least = mps.environment(base::MilliGpu{4}, model::JobKind::Build);
    CHECK(least[2] == "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=1");
    CHECK(least[3] == "CUDA_MPS_CLIENT_PRIORITY=0");
}

}  // namespace berth::gpu_shares
