// SPDX-License-Identifier: Apache-2.0
//
// Which programs are refused where they should keep to a share of a GPU?
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "vgpu/loading/program.h"

namespace fs = std::filesystem;
using berth::vgpu::loading::why_not_loadable;

namespace {

constexpr const char* k32Bit = BERTH_FOREIGN "_32";
constexpr const char* kMusl = BERTH_FOREIGN "_musl";
constexpr const char* kStatic = BERTH_FOREIGN "_static";

struct Folder {
    Folder() { REQUIRE(::mkdtemp(name) != nullptr); }
    ~Folder() { fs::remove_all(name); }

    std::string script(const std::string& file, const std::string& text) const {
        const std::string path = std::string(name) + '/' + file;
        std::ofstream(path) << text;
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }

    char name[32] = "/tmp/berth-loading-XXXXXX";
};

std::string why(const std::string& program) { return why_not_loadable({program, "", "/"}); }

}  // namespace

TEST_CASE("a 32-bit program is refused") {
    CHECK(why(k32Bit) == '"' + std::string(k32Bit) +
                             "\" is a 32-bit program and would run without this job's share of its "
                             "GPUs; start one built for this machine's glibc, or ask for whole "
                             "GPUs");
}

TEST_CASE("a program of musl is refused") {
    CHECK(why(kMusl) ==
          '"' + std::string(kMusl) +
              "\" is linked with musl (/lib/ld-musl-x86_64.so.1), under which nothing "
              "keeps this job to its share of its GPUs; start one built for this "
              "machine's glibc, or ask for whole GPUs");
}

TEST_CASE("a program of this machine is not refused, nor one that has no loader") {
    CHECK(why("/proc/self/exe").empty());
    CHECK(why(kStatic).empty());
}

TEST_CASE("a script is refused as its interpreter is") {
    const Folder folder;
    const std::string script = folder.script("script", "#! " + std::string(k32Bit) + " -x\n");
    CHECK(why(script) == why(k32Bit));
    CHECK(why(folder.script("script-of-script", "#!" + script + "\n")) == why(k32Bit));
    CHECK(why(folder.script("shell", "#!/bin/sh\n")).empty());
    const std::string itself = std::string(folder.name) + "/itself";
    CHECK(why(folder.script("itself", "#!" + itself + "\n")).empty());
}

TEST_CASE("a program is found as execvpe finds it") {
    const Folder folder;
    fs::create_directories(std::string(folder.name) + "/first/program");
    fs::create_directories(std::string(folder.name) + "/second");
    fs::create_symlink(kMusl, std::string(folder.name) + "/second/program");
    const std::string path = std::string(folder.name) + "/first:second:/bin";
    CHECK_FALSE(why_not_loadable({"program", path, folder.name}).empty());
    CHECK_FALSE(why_not_loadable({"second/program", "", folder.name}).empty());
    CHECK(why_not_loadable({"program", "/bin", folder.name}).empty());
    CHECK(why_not_loadable({"sh", path, folder.name}).empty());
    CHECK(why_not_loadable({"", path, folder.name}).empty());
}

TEST_CASE("what cannot be read or is cut short is left to who starts it") {
    const Folder folder;
    std::ifstream whole(k32Bit, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(whole), {}};
    for (const std::size_t size : {0U, 4U, 5U, 20U, 60U, 200U}) {
        CAPTURE(size);
        (void)why(folder.script("cut", bytes.substr(0, size)));
    }
    CHECK(why(folder.script("head", bytes.substr(0, 20))).empty());
    CHECK(why("/nowhere").empty());
    CHECK(why(folder.name).empty());
}
