// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/programs/loadable.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

using berth::gpu_shares::loadable;
namespace fs = std::filesystem;

TEST_CASE("a folder whose path the loader would cut gets a link that it does not cut") {
    char name[] = "/tmp/berth-loadable-XXXXXX";
    const std::string root = ::mkdtemp(name);
    const std::string link = root + "/lib";
    CHECK(*loadable(root, link) == root);
    for (const char* odd : {"a b", "a:b", "a;b", "a$b", "a\tb"}) {
        const std::string folder = root + '/' + odd;
        fs::create_directory(folder);
        std::ofstream(folder + "/file") << odd;
        for (int times = 0; times < 2; ++times) {
            CHECK(*loadable(folder, link) == link);
            CHECK(fs::equivalent(link + "/file", folder + "/file"));
        }
        const auto refused = loadable(folder, folder + "/lib");
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().message.find("'" + std::string(1, odd[1]) + "'") !=
              std::string::npos);
    }
    fs::remove_all(root);
}
