// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/configuration.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

using namespace berth::vgpu::device;

TEST_CASE("only the state must be named, the rest has defaults") {
    const auto read = parse("state = /dev/shm/x");
    REQUIRE(read);
    CHECK(read->state_path == "/dev/shm/x");
    CHECK(read->description.gpus == 1);
    CHECK(read->description.memory_bytes == 16ULL << 30U);
    CHECK(read->description.driver_version == 12080);
}

TEST_CASE("pairs stand on lines or between semicolons, and comments do not count") {
    const auto read =
        parse("state=/x; gpus = 3 # three\nmemory = 80GiB\n# gpus = 9\n;;slice_us=500");
    REQUIRE(read);
    CHECK(read->description.gpus == 3);
    CHECK(read->description.memory_bytes == 80ULL << 30U);
    CHECK(read->description.slice_ns == 500'000);
}

TEST_CASE("amounts are rounded up to whole pages of 2 MiB") {
    const auto read = parse("state=/x; memory=1025MiB; context=3MiB");
    REQUIRE(read);
    CHECK(read->description.memory_bytes == 1026ULL << 20U);
    CHECK(read->description.context_bytes == 4ULL << 20U);
}

TEST_CASE("UUIDs are those given, or made so that they differ") {
    const auto made = parse("state=/x; gpus=2");
    REQUIRE(made);
    CHECK(uuid_text(made->description.uuids[0]) != uuid_text(made->description.uuids[1]));
    const auto given = parse("state=/x; uuids=GPU-8a7b3c00-1111-2222-3333-444455556666");
    REQUIRE(given);
    CHECK(uuid_text(given->description.uuids[0]) == "GPU-8a7b3c00-1111-2222-3333-444455556666");
}

TEST_CASE("what is wrong is said with key, value and what is wanted") {
    CHECK(parse("gpus=2").error() == "there is no `state = /path`, the file that processes share");
    CHECK(parse("state=/x; gpus=17").error() == R"(key "gpus": "17" is not 1 to 16)");
    CHECK(parse("state=/x; memory=lots").error() ==
          R"(key "memory": "lots" is not an amount such as 80GiB)");
    CHECK(parse("state=/x; driver=11.0").error() ==
          R"(key "driver": "11.0" is not 12.2, 12.8, 13.0 or 13.4)");
    CHECK(parse("state=/x; gpu=1").error().starts_with(R"(there is no key "gpu"; there are)"));
    CHECK(parse("state=/x; gpus").error() == R"("gpus" is not `key = value`)");
    CHECK(parse("state=/x; memory=600MiB").error() ==
          R"(key "memory": no room beside "reserved" and one "context")");
    CHECK(parse("state=/x; gpus=2; uuids=00000000-0000-0000-0000-000000000001").error() ==
          R"(key "uuids": 1 for 2 GPUs)");
}

TEST_CASE("the environment names a file or holds the text") {
    ::unsetenv("BERTH_SOFTWARE_GPU");
    CHECK(from_environment().error().starts_with("BERTH_SOFTWARE_GPU is not set"));
    ::setenv("BERTH_SOFTWARE_GPU", "state=/dev/shm/y", 1);
    CHECK(from_environment()->state_path == "/dev/shm/y");
    ::setenv("BERTH_SOFTWARE_GPU", "/no/such/file", 1);
    CHECK(from_environment().error() ==
          R"(BERTH_SOFTWARE_GPU: cannot read the file "/no/such/file")");
    const std::string path = "/tmp/configuration=test." + std::to_string(::getpid());
    std::ofstream(path) << "state = /dev/shm/z\ngpus = 4\n";
    ::setenv("BERTH_SOFTWARE_GPU", path.c_str(), 1);
    CHECK(from_environment()->description.gpus == 4);
    std::remove(path.c_str());
}
