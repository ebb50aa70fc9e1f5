// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/arbiter_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

#include "adapters/gpu_shares/programs/first_line.h"
#include "runtime/folder.h"
#include "supervision/shortage.h"
#include "vgpu/arbiter/talk/send_order.h"

extern char** environ;

namespace berth::gpu_shares {
namespace {

constexpr int kStartPatienceMs = 5'000;
constexpr int kLooksAtTheEnd = 20;
constexpr int kWakeAfterMs = 300;
constexpr int kEndAfterMs = 5'000;
constexpr std::chrono::seconds kStartPause{10};

tl::unexpected<base::Error> no_arbiter(const std::string& what) {
    return base::fail(base::ErrorCode::Unavailable, what);
}

// Until it has ended, also where a server before this one started it: its successor cannot begin.
void end(pid_t arbiter) {
    ::kill(arbiter, SIGKILL);
    ::waitpid(arbiter, nullptr, 0);
    for (int i = 0; i < kLooksAtTheEnd && ::kill(arbiter, 0) == 0; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
}

std::string last_line(const std::string& path) {
    std::string last;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) last = line;
    return last;
}

// Its first word: " gpus=UUID:12288M".
std::string memory_in(const std::string& terms) { return terms.substr(0, terms.find(' ', 1)); }

// "error: tenant "7.1.0" uses 123 bytes of GPU "GPU-1"", for people.
tl::unexpected<base::Error> in_use(std::string_view answer) {
    constexpr std::string_view kUses = " uses ";
    const std::size_t at = answer.find(kUses);
    base::Bytes used{0};
    if (at != std::string_view::npos) {
        const std::string_view number = answer.substr(at + kUses.size());
        std::from_chars(number.data(), number.data() + number.size(), used.value);
    }
    return base::fail(base::ErrorCode::Conflict,
                      "it uses " + base::format(used) + " of the memory of a GPU now");
}

}  // namespace

ArbiterProcess::ArbiterProcess(std::string program, std::string directory,
                               std::vector<std::string> options)
    : program_(std::move(program)),
      directory_(std::move(directory)),
      options_(std::move(options)),
      book_(directory_ + "/terms") {}

base::Status ArbiterProcess::start() {
    if (pid_ > 0) ::waitpid(std::exchange(pid_, 0), nullptr, WNOHANG);
    BERTH_TRY(folder, runtime::Folder::make(directory_, runtime::Openness::Passable));
    BERTH_TRY_VOID(folder.make_below("terms", runtime::Openness::Passable));
    const std::string log = directory_ + "/arbiter.log";
    std::vector<std::string> words{program_, "--dir", directory_};
    words.insert(words.end(), options_.begin(), options_.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return no_arbiter("no pipe");
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, pipe[1], STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
    // Else it would keep the sockets of a dead server open, and clients would wait there.
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    posix_spawnattr_t manner;
    ::posix_spawnattr_init(&manner);
    ::posix_spawnattr_setflags(&manner, POSIX_SPAWN_SETSID);
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, program_.c_str(), &files, &manner, arguments.data(), environ);
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&manner);
    ::close(pipe[1]);
    const bool is_ready = failed == 0 && first_line(pipe[0], kStartPatienceMs).starts_with("ready");
    ::close(pipe[0]);
    if (supervision::is_shortage(failed))
        return base::fail(base::ErrorCode::Exhausted, supervision::no_process(failed));
    if (failed != 0) return no_arbiter("\"" + program_ + "\" cannot be run: " + ::strerror(failed));
    if (!is_ready) {
        ::kill(pid, SIGKILL);
        ::waitpid(pid, nullptr, 0);
        const std::string said = last_line(log);
        return no_arbiter("\"" + program_ + "\" does not start" +
                          (said.empty() ? "" : ": " + said));
    }
    pid_ = pid;
    std::ofstream(directory_ + "/pid") << pid << '\n';
    rotations_.clear();
    fit_rotations(book_.tenants());  // before those that are in them
    for (const auto& [name, terms] : book_.tenants()) {
        (void)tell(terms.order);
    }
    return {};
}

base::Result<std::string> ArbiterProcess::ask(const std::string& order) {
    auto answer = tell(order);
    if (answer) return answer;
    const auto now = std::chrono::steady_clock::now();
    if (start_failure_ && now < next_start_) return tl::unexpected(*start_failure_);
    start_failure_.reset();
    if (const base::Status started = start(); !started) {
        if (started.error().code == base::ErrorCode::Exhausted)
            return tl::unexpected(started.error());
        start_failure_ = started.error();
        next_start_ = std::chrono::steady_clock::now() + kStartPause;
        return tl::unexpected(started.error());
    }
    return tell(order);
}

// It must not be stopped, for the server waits for its answers.
base::Result<std::string> ArbiterProcess::tell(const std::string& order) {
    return vgpu::arbiter::send_order(directory_, order, [this](pid_t arbiter, int waited_ms) {
        if (waited_ms == 0) return kWakeAfterMs;
        if (arbiter <= 1) return 0;
        if (waited_ms >= kEndAfterMs) {
            end(arbiter);
            return 0;
        }
        ::kill(arbiter, SIGCONT);
        return kEndAfterMs - waited_ms;
    });
}

// A tenant can be added only when its rotation is there, and only after others have made room.
void ArbiterProcess::fit_rotations(const std::map<std::string, TenantTerms>& tenants) {
    for (const std::string& order : rotation_orders(tenants, rotations_)) {
        (void)tell(order);
    }
}

base::Status ArbiterProcess::add(const Tenant& tenant) {
    drop_leaving();
    const TenantTerms terms{tenant.order, tenant.rotation, tenant.rotation_memory, tenant.node,
                            tenant.may_leave};
    BERTH_TRY_VOID(ask("status"));  // it is there, with its rotations
    auto others = book_.tenants();
    others[tenant.name] = terms;
    fit_rotations(others);
    auto answer = ask(tenant.order);
    if (answer && !answer->starts_with("ok")) answer = no_arbiter("berth-arbiter: " + *answer);
    if (!answer) {
        fit_rotations(book_.tenants());
        return tl::unexpected(answer.error());
    }
    book_.put(tenant.name, terms);
    return {};
}

base::Status ArbiterProcess::narrow(const std::string& prefix,
                                    const std::map<std::string, std::string>& terms) {
    std::vector<std::string> orders;
    for (const auto& [name, known] : book_.of(prefix)) {
        const auto wanted = terms.find(known.node);
        if (wanted != terms.end() && known.rotation.empty())
            orders.push_back("narrow " + name + memory_in(wanted->second));
    }
    if (orders.size() < terms.size()) {
        return base::fail(base::ErrorCode::Conflict,
                          "it was started with whole GPUs, and nothing holds it to a part");
    }
    for (const std::string& order : orders) {
        BERTH_TRY(answer, ask(order));
        if (!answer.starts_with("ok")) return in_use(answer);
    }
    return {};
}

// Those in rotations have what others leave them.
void ArbiterProcess::change(const std::string& prefix,
                            const std::map<std::string, std::string>& terms) {
    std::vector<std::string> orders;
    for (auto& [name, known] : book_.of(prefix)) {
        const auto wanted = terms.find(known.node);
        if (wanted == terms.end() || !known.rotation.empty()) continue;
        known.order = with_terms(known.order, wanted->second);
        known.may_leave |= known.order.find("..") != std::string::npos;
        orders.push_back(known.order);
        book_.put(name, std::move(known));
    }
    fit_rotations(book_.tenants());
    for (const std::string& order : orders) (void)ask(order);
}

std::string ArbiterProcess::status(const std::string& prefix) {
    std::string text;
    for (const auto& [name, terms] : book_.of(prefix))
        if (const auto answer = tell("status " + name)) text += *answer + "\n";
    return text;
}

std::string ArbiterProcess::status_of_all() {
    if (book_.tenants().empty()) return {};
    return tell("status").value_or("");
}

std::string ArbiterProcess::status_of_rotations() {
    drop_leaving();
    if (!book_.tenants().empty()) (void)ask("status");
    std::string text;
    for (const auto& [name, terms] : book_.tenants()) {
        const bool leaves = std::ranges::find(leaving_, name) != leaving_.end();
        if (terms.rotation.empty() || leaves) continue;
        const auto answer = ask("status " + name);
        text += answer.value_or("tenant=" + name + " rotation=" + terms.rotation) + "\n";
    }
    return text;
}

void ArbiterProcess::charge(const std::string& tenant,
                            const std::map<std::string, base::Bytes>& held) {
    std::string list;
    for (const auto& [gpu, bytes] : held)
        list += (list.empty() ? "" : ",") + gpu + ":" + std::to_string(bytes.value);
    (void)tell("set " + tenant + " escaped=" + list);
}

void ArbiterProcess::drop(const std::string& prefix) {
    for (const auto& [name, terms] : book_.of(prefix)) leaving_.push_back(name);
    drop_leaving();
}

void ArbiterProcess::drop_leaving() {
    std::erase_if(leaving_, [&](const std::string& name) {
        const auto answer = tell("drop " + name);
        if (answer && !answer->starts_with("ok")) return false;
        book_.erase(name);
        return true;
    });
    fit_rotations(book_.tenants());
}

bool ArbiterProcess::stop_if_idle() {
    // It learns of the last processes' end a moment after us.
    for (int i = 0; i < kLooksAtTheEnd && !leaving_.empty(); ++i) {
        drop_leaving();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!book_.tenants().empty()) return false;
    pid_t pid = pid_;  // else a server before this one started it
    const bool is_known = pid > 0 || (std::ifstream(directory_ + "/pid") >> pid && pid > 1);
    if (!is_known || !tell("status")) return true;
    ::kill(pid, SIGTERM);
    ::waitpid(pid, nullptr, 0);  // at once where a server before this one started it
    return true;
}

std::string ArbiterProcess::socket_of(const Tenant& tenant) const {
    return directory_ + "/tenants/" + tenant.name;
}

}  // namespace berth::gpu_shares
