// SPDX-License-Identifier: Apache-2.0
//
// What is seen of files and processes from outside, and a place for them.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

namespace berth::process_test {

// Before what hangs is given up. No test depends on how fast the machine is otherwise.
inline constexpr std::chrono::minutes kPatience{2};

// A directory that is removed at the end.
class ScratchDirectory {
  public:
    ScratchDirectory() {
        char name[] = "/tmp/berth-test-XXXXXX";
        path_ = ::mkdtemp(name);
    }
    ~ScratchDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    const std::string& path() const { return path_; }

  private:
    std::string path_;
};

inline std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Waits for something that no event tells, such as a file that a job writes.
inline bool wait_for(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) return false;
        ::usleep(2'000);
    }
    return true;
}

inline bool is_living(int pid) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return !stat.empty() && stat.find(") Z ") == std::string::npos;
}

inline int parent_of(int pid) {
    const std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
    return std::stoi(stat.substr(stat.rfind(')') + 4));
}

}  // namespace berth::process_test
