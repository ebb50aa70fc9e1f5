// SPDX-License-Identifier: Apache-2.0
#include "vgpu/freezer/node.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "runtime/sockets.h"
#include "supervision/frame.h"
#include "supervision/processes.h"

namespace berth::test_vgpu {

using supervision::Descriptor;
using supervision::FrameType;
using supervision::FreezerAnswer;

namespace {

constexpr std::size_t kWords = 200'000;

std::string unique() {
    static std::atomic<int> count = 0;
    return std::to_string(::getpid()) + "." + std::to_string(++count);
}

}  // namespace

Node::Node(const std::string& more, std::vector<std::string> options)
    : state_("/dev/shm/berth_freezer_test." + unique()),
      description_("state=" + state_ +
                   "; gpus=2; memory=2GiB; reserved=64MiB; context=32MiB; contents=512MiB; " +
                   (more.empty() ? "driver=13.0" : more)),
      options_(std::move(options)) {
    char folder[] = "/tmp/berth-freezer-XXXXXX";
    REQUIRE(::mkdtemp(folder) != nullptr);
    folder_ = folder;
    socket_path_ = folder_ + "/socket";
    CHECK(start_freezer().starts_with("ready"));
}

Node::~Node() {
    kill_freezer();
    ::unlink(state_.c_str());
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

// Two forks: it is not below this process, whose descendants are the job.
std::string Node::start_freezer() {
    int input[2] = {};
    int output[2] = {};
    REQUIRE(::pipe2(input, O_CLOEXEC) == 0);
    REQUIRE(::pipe2(output, O_CLOEXEC) == 0);
    const pid_t between = ::fork();
    if (between == 0) {
        if (::fork() != 0) ::_exit(0);
        const pid_t own = ::getpid();
        if (::write(output[1], &own, sizeof own) != sizeof own) ::_exit(1);
        ::dup2(input[0], STDIN_FILENO);
        ::dup2(output[1], STDOUT_FILENO);
        ::setenv("BERTH_SOFTWARE_GPU", description_.c_str(), 1);
        std::vector<char*> words = {const_cast<char*>(BERTH_FREEZER), const_cast<char*>("--socket"),
                                    socket_path_.data()};
        for (std::string& option : options_) words.push_back(option.data());
        words.push_back(nullptr);
        ::execv(BERTH_FREEZER, words.data());
        ::_exit(127);
    }
    ::waitpid(between, nullptr, 0);
    ::close(output[1]);
    ::close(input[0]);
    input_ = Descriptor(input[1]);
    const Descriptor from(output[0]);
    REQUIRE(::read(from.get(), &freezer_, sizeof freezer_) == sizeof freezer_);
    std::string line;
    for (char letter = 0; ::read(from.get(), &letter, 1) == 1 && letter != '\n';) line += letter;
    socket_.reset();
    return line;
}

void Node::kill_freezer() {
    if (freezer_ > 1) ::kill(freezer_, SIGKILL);
    while (freezer_ > 1 && supervision::is_living(freezer_))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    freezer_ = 0;
    socket_.reset();
}

void Node::send(const std::string& frame) {
    if (!socket_.is_open()) {
        auto connected = runtime::connect_to(socket_path_, runtime::SocketKind::Stream);
        REQUIRE(connected);
        socket_ = std::move(*connected);
    }
    REQUIRE(::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(frame.size()));
}

void Node::tell_freeze(int timeout_ms) {
    std::string frame;
    supervision::append_frame(frame, FrameType::Freeze,
                              pack(supervision::FreezeRequest{timeout_ms}));
    send(frame);
}

void Node::tell_thaw(std::vector<supervision::GpuMove> moves, int timeout_ms) {
    std::string frame;
    supervision::append_frame(frame, FrameType::Thaw,
                              pack(supervision::ThawRequest{timeout_ms, std::move(moves)}));
    send(frame);
}

std::optional<FreezerAnswer> Node::hear() {
    supervision::FrameReader reader;
    while (true) {
        pollfd wait = {socket_.get(), POLLIN, 0};
        ::poll(&wait, 1, 120'000);
        char buffer[4096];
        const ssize_t size = ::recv(socket_.get(), buffer, sizeof buffer, 0);
        if (size <= 0) return {};
        reader.feed({buffer, static_cast<std::size_t>(size)});
        if (const auto frame = reader.next()) return supervision::unpack_answer(frame->payload);
    }
}

FreezerAnswer Node::freeze(int timeout_ms) {
    tell_freeze(timeout_ms);
    return hear().value_or(FreezerAnswer{supervision::FreezerOutcome::Lost, "gone", -1, 0});
}

FreezerAnswer Node::thaw(std::vector<supervision::GpuMove> moves, int timeout_ms) {
    tell_thaw(std::move(moves), timeout_ms);
    return hear().value_or(FreezerAnswer{supervision::FreezerOutcome::Lost, "gone", -1, 0});
}

Worker::Worker(const Node& node, std::size_t mebibytes, unsigned int seed)
    : tenant_(node.description()) {
    CHECK(tenant_.ask("context") == "0");
    const std::string answer = tenant_.ask("alloc " + std::to_string(mebibytes * kMebibyte));
    REQUIRE(answer.starts_with("0 "));
    pointer_ = answer.substr(2);
    CHECK(tenant_.ask("put " + pointer_ + " " + std::to_string(seed) + " " +
                      std::to_string(kWords)) == "0");
    // Not all alike: the second half has another value.
    const auto half = std::stoull(pointer_) + kWords * 2;
    CHECK(tenant_.ask("put " + std::to_string(half) + " " + std::to_string(seed * 7 + 1) + " " +
                      std::to_string(kWords / 2)) == "0");
    filled_ = sum();
}

std::string Worker::sum() const {
    return tenant_.ask("sum " + pointer_ + " " + std::to_string(kWords));
}

bool Worker::is_halted() const { return supervision::is_stopped(tenant_.pid()); }

}  // namespace berth::test_vgpu
