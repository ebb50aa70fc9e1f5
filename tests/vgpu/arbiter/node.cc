// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/node.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "vgpu/arbiter/talk/send_order.h"

namespace vgpu {

Node::Node(std::vector<std::string> options) : options_(std::move(options)) {
    char name[] = "/tmp/berth-arbiter-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    directory_ = std::string(name) + "/arbiter";  // as open as the arbiter makes it
    ::chmod(name, 0711);
    start_arbiter();
}

Node::~Node() {
    if (arbiter_ > 0) {
        ::kill(arbiter_, SIGTERM);
        CHECK(end_of(arbiter_) == 0);
    }
    std::error_code ignored;
    std::filesystem::remove_all(std::filesystem::path(directory_).parent_path(), ignored);
}

void Node::start_arbiter() {
    arbiter_ = ::fork();
    REQUIRE(arbiter_ >= 0);
    if (arbiter_ == 0) {
        ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
        std::vector<std::string> words = {BERTH_ARBITER, "--dir", directory_};
        words.insert(words.end(), options_.begin(), options_.end());
        std::vector<char*> arguments;
        for (std::string& word : words) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        ::execv(BERTH_ARBITER, arguments.data());
        ::_exit(127);
    }
    REQUIRE(eventually(
        [this] { return berth::vgpu::arbiter::send_order(directory_, "status").has_value(); }));
}

void Node::kill_arbiter() {
    ::kill(arbiter_, SIGKILL);
    CHECK(end_of(arbiter_) == 128 + SIGKILL);
    arbiter_ = 0;
}

bool Node::is_arbiter_alive() const {
    return arbiter_ > 0 && ::waitpid(arbiter_, nullptr, WNOHANG) == 0;
}

std::string Node::order(const std::string& words) const {
    const auto answer = berth::vgpu::arbiter::send_order(directory_, words);
    REQUIRE(answer);
    CAPTURE(*answer);
    REQUIRE(answer->starts_with("ok"));
    return *answer;
}

std::string Node::refused(const std::string& words) const {
    const auto answer = berth::vgpu::arbiter::send_order(directory_, words);
    REQUIRE(answer);
    REQUIRE(answer->starts_with("error: "));
    return *answer;
}

std::string Node::status(const std::string& tenant, const std::string& key) const {
    const std::string text = order("status " + tenant);
    const std::size_t start = text.find(" " + key + "=");
    REQUIRE(start != std::string::npos);
    const std::size_t value = start + key.size() + 2;
    return text.substr(value, text.find_first_of(" \n", value) - value);
}

std::string Node::socket_of(const std::string& tenant) const {
    return directory_ + "/tenants/" + tenant;
}

berth::vgpu::ledger::Membership Node::join(const std::string& tenant) const {
    berth::vgpu::ledger::Membership membership;
    berth::vgpu::ledger::Reason reason;
    const bool joined =
        berth::vgpu::ledger::join(socket_of(tenant), kPatience / 1'000'000, membership, reason);
    CAPTURE(std::string(reason.text));
    REQUIRE(joined);
    return membership;
}

pid_t start(const std::function<int()>& life) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) ::_exit(life());
    return child;
}

int end_of(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool eventually(const std::function<bool()>& holds) {
    const std::int64_t end = now_ns() + kPatience;
    while (!holds()) {
        if (now_ns() > end) return false;
        pause_ms(10);
    }
    return true;
}

void pause_ms(long ms) {
    const timespec pause{ms / 1000, ms % 1000 * 1'000'000};
    ::nanosleep(&pause, nullptr);
}

std::int64_t starved_ns(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
    std::int64_t ran = 0;
    std::int64_t starved = 0;
    REQUIRE((file >> ran >> starved));
    return starved;
}

bool is_too_busy(std::int64_t starved_ns, std::int64_t ns) { return starved_ns > ns / 20; }

std::int64_t now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace vgpu
