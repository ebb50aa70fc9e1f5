// SPDX-License-Identifier: Apache-2.0
//
// What can who means harm do to others through the arbiter?
#include <doctest/doctest.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "vgpu/arbiter/node.h"
#include "vgpu/arbiter/talk/send_order.h"
#include "vgpu/ledger/gate.h"
#include "vgpu/ledger/stay.h"

using namespace berth::vgpu::ledger;
using vgpu::eventually;
using vgpu::Node;

namespace {

constexpr uid_t kNobody = 65534;
constexpr int kIntruderPatienceMs = vgpu::kPatience / 1'000'000;

std::string tenant(const std::string& name, const std::string& memory) {
    return "tenant " + name + " gpus=" + vgpu::kGpu + ":" + memory;
}

// Says nothing; -1 when no process listens.
int intrude_on(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::memcpy(address.sun_path, path.data(), path.size());
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
        return fd;
    ::close(fd);
    return -1;
}

// Ends them when the test does.
class Intruders {
  public:
    explicit Intruders(int count, const std::function<void()>& life) {
        for (int number = 0; number < count; ++number)
            children_.push_back(vgpu::start([&] {
                life();
                return 0;
            }));
    }
    ~Intruders() {
        for (const pid_t child : children_) ::kill(child, SIGKILL);
        for (const pid_t child : children_) vgpu::end_of(child);
    }
    Intruders(const Intruders&) = delete;
    Intruders& operator=(const Intruders&) = delete;

  private:
    std::vector<pid_t> children_;
};

// Time on a CPU, ms.
long used_ms(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/stat");
    std::string text(std::istreambuf_iterator<char>(file), {});
    std::istringstream words(text.substr(text.rfind(')') + 2));
    std::string word;
    for (int skipped = 0; skipped < 11; ++skipped) words >> word;
    long user = 0;
    long system = 0;
    words >> user >> system;
    return (user + system) * 1000 / ::sysconf(_SC_CLK_TCK);
}

// Part of one CPU that a process uses, over about this time.
double part_used(pid_t process, long ms) {
    const std::int64_t began = vgpu::now_ns();
    const long before = used_ms(process);
    vgpu::pause_ms(ms);
    return static_cast<double>(used_ms(process) - before) * 1e6 /
           static_cast<double>(vgpu::now_ns() - began);
}

}  // namespace

TEST_CASE("connections of another user take no places of a tenant's processes") {
    if (::geteuid() != 0) return;  // only root can be another user
    const Node node;
    node.order(tenant("job-7", "1000"));
    const Intruders strangers(4, [&] {
        if (::setuid(kNobody) != 0) return;
        for (int count = 0; count < 400; ++count) intrude_on(node.socket_of("job-7"));
        vgpu::pause_ms(60'000);
    });
    for (int round = 0; round < 20; ++round) {
        Membership honest = node.join("job-7");
        leave(honest);
        vgpu::pause_ms(20);
    }
}

TEST_CASE("who connects to a tenant without end holds up no other tenant, nor the owner") {
    const Node node;
    node.order(tenant("job-7", "1000"));
    node.order(tenant("other", "1000"));
    const Intruders intruders(3, [&] {
        std::vector<int> open(900, -1);
        for (std::size_t next = 0;; next = (next + 1) % open.size()) {
            ::close(open[next]);
            open[next] = intrude_on(node.socket_of("job-7"));
        }
    });
    vgpu::pause_ms(100);
    CHECK(part_used(node.arbiter(), 1000) < 0.3);
    for (int round = 0; round < 10; ++round) {
        Membership other = node.join("other");
        CHECK(node.status("other", "processes") == "1");
        leave(other);
    }
}

TEST_CASE("who rings without end takes little of the arbiter's time, and is heard again") {
    const Node node;
    node.order(tenant("job-7", "1000"));
    node.order(tenant("other", "1000"));
    Membership other = node.join("other");
    const pid_t flooder = vgpu::start([&] {
        const Membership mine = node.join("job-7");
        const std::int64_t end = vgpu::now_ns() + 1'500'000'000;
        while (vgpu::now_ns() < end) ring(mine, 0);
        return wait_at_gate(mine, 0, kIntruderPatienceMs) != Gate::closed ? 0 : 1;
    });
    REQUIRE(eventually([&] { return node.status("job-7", "processes") == "1"; }));
    CHECK(wait_at_gate(other, 0, kIntruderPatienceMs) != Gate::closed);
    CHECK(part_used(node.arbiter(), 1000) < 0.15);
    CHECK(vgpu::end_of(flooder) == 0);
    leave(other);
}

TEST_CASE("who has connected and says nothing does not keep a tenant from being dropped") {
    const Node node;
    node.order(tenant("job-7", "1000"));
    const int silent = intrude_on(node.socket_of("job-7"));
    REQUIRE(silent >= 0);
    vgpu::pause_ms(50);
    CHECK(node.order("drop job-7") == "ok");
    ::close(silent);
    CHECK(node.is_arbiter_alive());
}

TEST_CASE("without a file left the arbiter turns newcomers away, and goes on for who is there") {
    for (const rlim_t files : {rlim_t{40}, rlim_t{41}}) {  // a process takes two
        CAPTURE(files);
        const Node node;
        node.order(tenant("job-7", "1000"));
        Membership honest = node.join("job-7");
        const rlimit few{files, files};
        REQUIRE(::prlimit(node.arbiter(), RLIMIT_NOFILE, &few, nullptr) == 0);
        std::vector<int> crowd;
        for (int count = 0; count < 60; ++count)
            crowd.push_back(intrude_on(node.socket_of("job-7")));
        char byte = 0;  // hung up on, not left to wait
        CHECK(eventually([&] { return ::recv(crowd.back(), &byte, 1, MSG_DONTWAIT) == 0; }));
        CHECK(part_used(node.arbiter(), 500) < 0.2);
        CHECK(ring(honest, 0));
        for (const int socket : crowd) ::close(socket);
        CHECK(eventually([&] { return node.order("status job-7").starts_with("ok"); }));
        CHECK(node.status("job-7", "processes") == "1");
        leave(honest);
    }
}

TEST_CASE("a tenant's supervisor is of the arbiter's user: a process does not take its place") {
    if (::geteuid() != 0) return;  // only root can be another user
    const Node node;
    node.order(tenant("job-7", "1000") + " uid=" + std::to_string(kNobody));
    const int supervisor = connect_supervisor(node.socket_of("job-7"));
    REQUIRE(supervisor >= 0);
    REQUIRE(report_stay(supervisor, {static_cast<std::uint32_t>(Stay::away), 0, 0}));
    REQUIRE(eventually([&] { return node.status("job-7", "where") == "away"; }));
    const pid_t process = vgpu::start([&] {
        if (::setuid(kNobody) != 0) return 1;
        const int usurper = connect_supervisor(node.socket_of("job-7"));
        if (usurper < 0) return 2;
        report_stay(usurper, {static_cast<std::uint32_t>(Stay::here), 0, 0});
        vgpu::pause_ms(200);
        return 0;
    });
    CHECK(vgpu::end_of(process) == 0);
    CHECK(node.status("job-7", "where") == "away");
    REQUIRE(report_stay(supervisor, {static_cast<std::uint32_t>(Stay::here), 0, 0}));
    CHECK(eventually([&] { return node.status("job-7", "where") == "here"; }));
    ::close(supervisor);
}

// Runs `life` in a job's process, of the arbiter's own user, below a supervisor that attends that
// tenant; what it returns.
int below_supervisor(const Node& node, const std::string& tenant,
                     const std::function<int()>& life) {
    return vgpu::end_of(vgpu::start([&] {
        ::prctl(PR_SET_NAME, kSupervisorName);
        const int supervisor = connect_supervisor(node.socket_of(tenant));
        report_stay(supervisor, {static_cast<std::uint32_t>(Stay::here), 0, 0});
        return vgpu::end_of(vgpu::start([&] {
            ::prctl(PR_SET_NAME, "program");
            return vgpu::end_of(vgpu::start(life));
        }));
    }));
}

TEST_CASE("a job gives no orders, of the arbiter's own user or not") {
    const Node node;
    node.order(tenant("job-7", "1000"));
    node.order(tenant("other", "1000"));
    const int ended = below_supervisor(node, "job-7", [&] {
        for (const char* order :
             {"set other memory=1M", "set job-7 memory=80G", "status other", "drop other"}) {
            const auto answer = berth::vgpu::arbiter::send_order(node.directory(), order);
            if (!answer || !answer->starts_with("error: a job gives no orders")) return 1;
        }
        return 0;
    });
    CHECK(ended == 0);
    CHECK(node.status("other", "limit") == "1000");
    CHECK(node.status("job-7", "limit") == "1000");
}

TEST_CASE("a job joins its own tenant, and no other one that has a supervisor") {
    const Node node;
    node.order(tenant("job-7", "1000"));
    node.order(tenant("other", "1000"));
    const int supervisor = connect_supervisor(node.socket_of("other"));
    for (const auto& [stay, where] : {std::pair{Stay::away, "away"}, {Stay::here, "here"}}) {
        REQUIRE(report_stay(supervisor, {static_cast<std::uint32_t>(stay), 0, 0}));
        REQUIRE(eventually([&] { return node.status("other", "where") == where; }));
    }
    const int ended = below_supervisor(node, "job-7", [&] {
        Membership own;
        Membership foreign;
        Reason reason;
        if (!join(node.socket_of("job-7"), kIntruderPatienceMs, own, reason)) return 1;
        if (join(node.socket_of("other"), kIntruderPatienceMs, foreign, reason)) return 2;
        if (std::string_view(reason.text).find("another job") == std::string::npos) return 3;
        // Nor does it take the place of the one who takes the other off its GPUs.
        const int usurper = connect_supervisor(node.socket_of("other"));
        report_stay(usurper, {static_cast<std::uint32_t>(Stay::away), 0, 0});
        vgpu::pause_ms(100);
        leave(own);
        return 0;
    });
    CHECK(ended == 0);
    CHECK(node.status("other", "processes") == "0");
    CHECK(node.status("other", "where") == "here");
    ::close(supervisor);
}

TEST_CASE("what a process says it holds beyond its tenant's limit takes no other's memory") {
    const Node node;
    node.order(tenant("job-7", "6000..6000/24000"));
    node.order(tenant("other", "12000"));
    Membership liar = node.join("job-7");
    Membership other = node.join("other");
    for (Slot& slot : liar.account->lines[0].slots) slot.charged = std::uint64_t{1} << 50;
    ring(liar, 0);
    vgpu::pause_ms(50);
    CHECK(charge(other.place(0), 12000));
    leave(liar);
    leave(other);
}
