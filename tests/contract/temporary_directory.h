// SPDX-License-Identifier: Apache-2.0
//
// A directory that is gone with its content when the test ends.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "base/check.h"

namespace berth::tests {

class TemporaryDirectory {
  public:
    explicit TemporaryDirectory(
        const std::filesystem::path& place = std::filesystem::temp_directory_path())
        : path_(place / "berth-test-XXXXXX") {
        BERTH_CHECK(::mkdtemp(path_.data()) != nullptr, "a temporary directory can be made");
    }
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace berth::tests
