// SPDX-License-Identifier: Apache-2.0
//
// Which ways of asking for the driver does each way of being in front of it catch?
#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>

namespace fs = std::filesystem;

namespace {

const std::string kLibraries = BERTH_LIBRARIES;
const std::string kDriver = BERTH_DRIVER;  // the real one: here, the software driver

std::string run(const std::string& command) {
    std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    std::string said;
    std::array<char, 256> some{};
    while (std::fgets(some.data(), some.size(), pipe) != nullptr) said += some.data();
    ::pclose(pipe);
    while (said.ends_with('\n')) said.pop_back();
    return said;
}

// What everybody has: the driver is in the path, and the process belongs to a tenant.
std::string environment() {
    return "env LD_LIBRARY_PATH=" + fs::path(kDriver).parent_path().string() +
           " BERTH_SOFTWARE_GPU='state=/dev/shm/unused' BERTH_VGPU_SOCKET=/nowhere "
           "BERTH_VGPU_DRIVER=" +
           kDriver + " ";
}

std::string preload() {
    return environment() + "LD_PRELOAD=" + kLibraries + "/libberth-cuda.so:" + kLibraries +
           "/libberth-cuda-alias.so ";
}

std::string audit() { return environment() + "LD_AUDIT=" + kLibraries + "/libberth-audit.so "; }

// The program that mounts, and a folder for the real driver.
class Mount {
  public:
    Mount() { REQUIRE(::mkdtemp(keep_) != nullptr); }
    ~Mount() { fs::remove_all(keep_); }

    std::string command() const {
        return environment() + "env -u BERTH_VGPU_DRIVER " + BERTH_DRIVER_MOUNT + " --keep " +
               keep_ + " --cuda " + kDriver + " -- ";
    }
    // Where the kernel allows no user a namespace there is nothing to be tested.
    bool is_allowed() const { return run(command() + "true").empty(); }

  private:
    char keep_[32] = "/tmp/berth-keep-XXXXXX";
};

std::string way(const std::string& name) {
    return std::string(BERTH_OPENER) + " " + name + " " + kDriver;
}

const std::string kOurs = "ours";
const std::string kPast = "the driver";

}  // namespace

TEST_CASE("without any of it, programs get the driver") {
    for (const std::string name : {"soname", "path", "deepbind", "namespace"}) {
        CAPTURE(name);
        CHECK(run(environment() + way(name)) == kPast);
    }
    CHECK(run(environment() + BERTH_LINKED_OPENER) == kPast);
}

TEST_CASE("preloading catches who asks the loader for the driver by its name") {
    for (const std::string name : {"soname", "plain", "deepbind"}) {
        CAPTURE(name);
        CHECK(run(preload() + way(name)) == kOurs);
    }
    CHECK(run(preload() + BERTH_LINKED_OPENER) == kOurs);
}

TEST_CASE("preloading does not catch a path or a namespace of one's own") {
    for (const std::string name : {"path", "namespace", "namespace-path"}) {
        CAPTURE(name);
        CHECK(run(preload() + way(name)) == kPast);
    }
}

TEST_CASE("the auditor catches paths, RTLD_DEEPBIND and names in a namespace of one's own") {
    for (const std::string name :
         {"soname", "plain", "path", "deepbind", "namespace", "path-after-use"}) {
        CAPTURE(name);
        CHECK(run(audit() + way(name)) == kOurs);
    }
    CHECK(run(audit() + BERTH_LINKED_OPENER) == kOurs);
}

TEST_CASE("the loader asks no auditor about a path for a new namespace") {
    CHECK(run(audit() + way("namespace-path")) == kPast);
}

TEST_CASE("the auditor is in the way of no process without a tenant") {
    const std::string alone =
        "env -u BERTH_VGPU_SOCKET LD_LIBRARY_PATH=" + fs::path(kDriver).parent_path().string() +
        " BERTH_SOFTWARE_GPU='state=/dev/shm/unused' LD_AUDIT=" + kLibraries +
        "/libberth-audit.so ";
    CHECK(run(alone + way("soname")) == kPast);
    CHECK(run(alone + "echo well") == "well");
}

TEST_CASE("a mount catches every way, also of who clears the loader's variables") {
    const Mount mount;
    if (!mount.is_allowed()) {
        MESSAGE("no mount namespaces here: " << run(mount.command() + "true"));
        return;
    }
    for (const std::string name :
         {"soname", "path", "deepbind", "namespace", "namespace-path", "path-after-use"}) {
        CAPTURE(name);
        CHECK(run(mount.command() + way(name)) == kOurs);
        CHECK(run(mount.command() + "env -u LD_PRELOAD -u LD_AUDIT " + way(name)) == kOurs);
    }
    CHECK(run(mount.command() + BERTH_LINKED_OPENER) == kOurs);
    // Outside nothing has changed.
    CHECK(run(environment() + way("path")) == kPast);
}

TEST_CASE("under a mount, who clears all of its environment gets no GPU instead of all of it") {
    const Mount mount;
    if (!mount.is_allowed()) return;
    const std::string said = run(mount.command() + "env -i " + way("path"));
    CHECK(said.find("a library that does not work") != std::string::npos);
}

TEST_CASE("a process led to this library instead of the driver gets an error and no endless loop") {
    const Mount mount;
    if (!mount.is_allowed()) return;
    const std::string said =
        run(mount.command() + "env BERTH_VGPU_DRIVER=" + kDriver + " " + way("path"));
    CHECK(said.find(kDriver + " is this library, in the place of the driver") != std::string::npos);
    CHECK(said.find("a library that does not work") != std::string::npos);
}

#ifdef BERTH_FOREIGN_PROGRAM
TEST_CASE("a mount refuses a program that would open another driver") {
    const Mount mount;
    CHECK(run(mount.command() + BERTH_FOREIGN_PROGRAM)
              .find("is a 32-bit program and would run without this job's share") !=
          std::string::npos);
}
#endif

TEST_CASE("what cannot be mounted is said") {
    const std::string program = BERTH_DRIVER_MOUNT;
    CHECK(run(program) ==
          "berth-driver-mount: wanted --keep DIR [--cuda FILE] [--nvml FILE] -- COMMAND...");
    CHECK(run(program + " --keep /tmp/berth-unused --cuda /nowhere/libcuda.so.1 -- true") ==
          "berth-driver-mount: no libcuda.so.1 is to be found; say where with --cuda");
}
