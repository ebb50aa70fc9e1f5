// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/freezers.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/gpu_shares/first_line.h"
#include "supervision/address.h"

extern char** environ;

namespace berth::gpu_shares {
namespace {

constexpr int kFirstLineMs = 10'000;  // a driver that is loaded first takes seconds

// What this process was started with, but for what `more` says.
std::vector<std::string> with_environment(const std::vector<std::string>& more) {
    std::vector<std::string> all = more;
    for (char** own = environ; *own != nullptr; ++own) {
        const std::string assignment(*own);
        const std::string name = assignment.substr(0, assignment.find('=') + 1);
        bool is_replaced = false;
        for (const std::string& other : more) is_replaced |= other.starts_with(name);
        if (!is_replaced) all.push_back(assignment);
    }
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
    std::vector<char*> all;
    for (std::string& word : words) all.push_back(word.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace

// What it has begun it brings to its end.
Freezers::~Freezers() = default;

Freezers::Freezer& Freezers::living(const std::string& node,
                                    const std::vector<std::string>& environment,
                                    const std::vector<std::string>& options) {
    Freezer& freezer = freezers_[node];
    if (freezer.pid > 0 && ::waitpid(freezer.pid, nullptr, WNOHANG) == 0) return freezer;
    freezer = {};
    int input[2] = {};
    int output[2] = {};
    if (::pipe2(input, O_CLOEXEC) != 0) return freezer;
    const supervision::Descriptor its_input(input[0]);
    freezer.input.reset(input[1]);
    if (::pipe2(output, O_CLOEXEC) != 0) return freezer;
    const supervision::Descriptor its_output(output[1]);
    freezer.output.reset(output[0]);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, its_input.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&files, its_output.get(), STDOUT_FILENO);
    // The terminal's signals are for the server, which takes its time to end.
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<std::string> words = {program_, "--socket", socket_of(node)};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<std::string> all = with_environment(environment);
    if (::posix_spawn(&freezer.pid, program_.c_str(), &files, &attributes, pointers(words).data(),
                      pointers(all).data()) != 0)
        freezer.pid = -1;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return freezer;
}

void Freezers::start(const std::string& node, const std::vector<std::string>& environment,
                     const std::vector<std::string>& options) {
    living(node, environment, options);
}

NodeAbility Freezers::ability(const std::string& node, const std::vector<std::string>& environment,
                              const std::vector<std::string>& options) {
    Freezer& known = freezers_[node];
    if (known.said.empty()) {
        Freezer& freezer = living(node, environment, options);
        freezer.said = first_line(freezer.output.get(), kFirstLineMs);
        if (freezer.said.empty()) freezer.said = "unable berth-freezer does not start";
    }
    const std::string& said = known.said;
    const std::string unable = "unable ";
    return {said.starts_with(unable) ? said.substr(unable.size()) : "", "", "",
            said == "ready moves", 0};
}

std::string Freezers::socket_of(const std::string& node) const {
    return runtime_ + '/' + supervision::freezer_socket(node);
}

}  // namespace berth::gpu_shares
