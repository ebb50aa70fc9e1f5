// SPDX-License-Identifier: Apache-2.0
#include "runtime/drawn_folder.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

using namespace berth;
using runtime::DrawnFolder;

namespace {

namespace fs = std::filesystem;

struct DrawnStage {
    DrawnStage() {
        char name[] = "/tmp/berth-drawn-XXXXXX";
        REQUIRE(::mkdtemp(name) != nullptr);
        root = name;
        drawn.place = root + "/everybody";
        fs::create_directory(drawn.place);
        ::chmod(drawn.place.c_str(), 01777);
        folder.emplace(runtime::Folder::make(root + "/ours", runtime::Openness::Private).value());
    }
    ~DrawnStage() {
        std::error_code ignored;
        fs::remove_all(root, ignored);
    }
    std::string open() { return runtime::open_drawn(*folder, drawn).value(); }

    std::string root;
    DrawnFolder drawn{"", "memory"};
    std::optional<runtime::Folder> folder;
};

}  // namespace

TEST_CASE("a drawn folder is private, found again by its link, and removed with what it holds") {
    DrawnStage it;
    const std::string path = it.open();
    CHECK(path.starts_with(it.drawn.place + "/berth-"));
    CHECK((fs::status(path).permissions() & fs::perms::all) == fs::perms::owner_all);
    fs::create_directory(path + "/node");
    CHECK(it.open() == path);
    runtime::remove_drawn(*it.folder, it.drawn);
    CHECK_FALSE(fs::exists(path));
    CHECK(fs::is_empty(it.folder->path()));
    CHECK(fs::is_empty(it.drawn.place));
}

TEST_CASE("a drawn folder that has gone is drawn anew, also where its name was taken since") {
    DrawnStage it;
    const std::string path = it.open();
    fs::remove(path);
    CHECK(it.open() != path);

    const std::string taken = it.open();
    fs::remove(taken);
    fs::create_directory_symlink("/etc", taken);
    const std::string next = it.open();
    CHECK(next != taken);
    runtime::remove_drawn(*it.folder, it.drawn);
    CHECK(fs::is_symlink(taken));
    CHECK(fs::exists("/etc/passwd"));
}

TEST_CASE("a link that leads out of its place is not believed") {
    DrawnStage it;
    fs::create_directory(it.root + "/berth-mine");
    fs::create_directory_symlink(it.root + "/berth-mine", it.folder->path() + "/memory");
    CHECK(it.open().starts_with(it.drawn.place + "/berth-"));
    CHECK(fs::exists(it.root + "/berth-mine"));
}
