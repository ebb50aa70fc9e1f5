// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "base/quantity.h"
#include "vgpu/arbiter/arbiter.h"
#include "vgpu/arbiter/precedence.h"
#include "vgpu/arbiter/talk/send_order.h"

using namespace berth;

namespace {

constexpr const char* kUsage =
    "usage: berth-arbiter --dir DIR [--nvml LIBRARY] [--free-after 2s] [--settle 1s]\n"
    "       berth-arbiter --dir DIR order WORDS...\n"
    "\n"
    "Serves the tenants of this node's GPUs from DIR until it gets SIGTERM, or gives the arbiter\n"
    "that does so an order and prints its answer: tenant, set, drop, status (README.md).\n";

int complain(const std::string& message) {
    std::fprintf(stderr, "berth-arbiter: %s\n", message.c_str());
    return 2;
}

struct Arguments {
    vgpu::arbiter::Options options;
    std::string order;  // empty: serve
};

base::Result<std::int64_t> read_ns(const std::string& text) {
    BERTH_TRY(duration, base::parse_duration(text));
    return duration.count() * 1'000'000;
}

base::Result<Arguments> read_arguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t index = 0; index < words.size(); ++index) {
        const std::string& word = words[index];
        if (word == "order") {
            for (++index; index < words.size(); ++index) arguments.order += words[index] + " ";
            if (arguments.order.empty()) return base::invalid("order needs words");
            break;
        }
        if (index + 1 == words.size()) return base::invalid("\"" + word + "\" needs a value");
        const std::string& value = words[++index];
        if (word == "--dir") {
            arguments.options.directory = value;
        } else if (word == "--nvml") {
            arguments.options.nvml = value;
        } else if (word == "--free-after") {
            BERTH_TRY(ns, read_ns(value));
            arguments.options.free_after_ns = ns;
        } else if (word == "--settle") {
            BERTH_TRY(ns, read_ns(value));
            arguments.options.settle_ns = ns;
        } else {
            return base::invalid("\"" + word + "\" is no option; see --help");
        }
    }
    if (arguments.options.directory.empty()) return base::invalid("--dir DIR is missing");
    return arguments;
}

// Two files for each process of each tenant.
void allow_many_files() {
    rlimit files{};
    if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
}

int serve(const vgpu::arbiter::Options& options) {
    allow_many_files();
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGTERM);
    ::sigaddset(&signals, SIGINT);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    const vgpu::arbiter::Descriptor stop(::signalfd(-1, &signals, SFD_CLOEXEC));
    vgpu::arbiter::Arbiter arbiter(options);
    if (const auto opened = arbiter.open(); !opened) return complain(opened.error().message);
    std::printf("ready %s/control\n", options.directory.c_str());
    std::fflush(stdout);
    if (const std::string lack = vgpu::arbiter::take_precedence(); !lack.empty()) complain(lack);
    arbiter.run(stop.get());
    return 0;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> words(values + 1, values + count);
    if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    const auto arguments = read_arguments(words);
    if (!arguments) return complain(arguments.error().message);
    if (arguments->order.empty()) return serve(arguments->options);
    const auto answer = vgpu::arbiter::send_order(arguments->options.directory, arguments->order);
    if (!answer) return complain(answer.error().message);
    std::printf("%s\n", answer->c_str());
    return answer->starts_with("ok") ? 0 : 1;
}
