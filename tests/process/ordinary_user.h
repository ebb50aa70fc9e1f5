// SPDX-License-Identifier: Apache-2.0
//
// Limits of processes hold for everybody but root. Here root is another user for a while, each time
// another one, who has no other process: how many may be made is then known exactly.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace berth::process_test {

class OrdinaryUser {
  public:
    explicit OrdinaryUser(const std::string& folder) {
        ::getrlimit(RLIMIT_NPROC, &before_);
        const uid_t user = next_user();
        is_it_ = ::chown(folder.c_str(), user, 0) == 0 && ::setresuid(user, user, 0) == 0;
    }
    ~OrdinaryUser() {
        ::setrlimit(RLIMIT_NPROC, &before_);
        if (is_it_) is_it_ = ::setresuid(0, 0, 0) != 0;
    }
    OrdinaryUser(const OrdinaryUser&) = delete;
    OrdinaryUser& operator=(const OrdinaryUser&) = delete;

    // Whether this process can be one.
    static bool is_possible() { return ::geteuid() == 0; }

    // The program where such a user reaches it: a clone may lie below a folder that is root's
    // alone.
    static std::string within_reach(const std::string& folder, const char* program) {
        const std::filesystem::path copy = std::filesystem::path(folder) / "program";
        std::filesystem::copy_file(program, copy);
        return copy;
    }

    // The number of processes of this user, this one included, from which on `process` can make no
    // more; 0 = this one. Those that it makes later have its limit.
    static void allow(rlim_t processes, pid_t process = 0) {
        rlimit limit{};
        ::prlimit(process, RLIMIT_NPROC, nullptr, &limit);
        limit.rlim_cur = processes;
        ::prlimit(process, RLIMIT_NPROC, &limit, nullptr);
    }

    // The last process that this one has made.
    static pid_t youngest_child() {
        const std::string self = std::to_string(::getpid());
        pid_t child = -1;
        std::ifstream children("/proc/" + self + "/task/" + self + "/children");
        while (children >> child) continue;
        return child;
    }

  private:
    static uid_t next_user() {
        static int used = 0;
        return static_cast<uid_t>(20'000 + (::getpid() + 997 * ++used) % 40'000);
    }

    rlimit before_{};
    bool is_it_ = false;
};

}  // namespace berth::process_test
