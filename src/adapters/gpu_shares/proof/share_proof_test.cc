// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/proof/share_proof.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace berth::gpu_shares {
namespace {

namespace fs = std::filesystem;

// A folder with the programs and the libraries of shares in it, gone afterwards.
class Parts {
  public:
    Parts() {
        fs::create_directories(folder());
        std::ofstream(arbiter()) << "a program";
    }
    ~Parts() { fs::remove_all(folder()); }
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    fs::path folder() const {
        return fs::temp_directory_path() / ("berth-parts-" + std::to_string(::getpid()));
    }
    fs::path arbiter() const { return folder() / "berth-arbiter"; }
    std::string subject() const { return proof_subject({{folder(), folder(), ""}, ""}); }
};

TEST_CASE("Shares are tried again once a part was written, replaced, or may no longer be run") {
    const Parts parts;
    const std::string first = parts.subject();
    std::ofstream(parts.arbiter()) << "another program";
    const std::string written = parts.subject();
    CHECK(written != first);
    fs::permissions(parts.arbiter(), fs::perms::none);
    CHECK(parts.subject() != written);
    fs::remove(parts.arbiter());
    CHECK(parts.subject() != written);
}

TEST_CASE("Another name for a part, as a backup gives it, changes nothing") {
    const Parts parts;
    const std::string first = parts.subject();
    fs::create_hard_link(parts.arbiter(), parts.folder() / "backup");
    CHECK(parts.subject() == first);
}

}  // namespace
}  // namespace berth::gpu_shares
