// SPDX-License-Identifier: Apache-2.0
//
// The freezer checkpoints a job's GPU memory, so that the job leaves its GPUs alive.
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "base/quantity.h"
#include "runtime/sockets.h"
#include "vgpu/freezer/serve.h"

using namespace berth;

namespace {

constexpr const char* kUsage =
    "usage: berth-freezer --socket PATH [--driver LIBRARY] [--nvml LIBRARY] [--host-memory 64GiB]\n"
    "\n"
    "Takes the jobs of this node off their GPUs with their processes alive, and puts them back.\n"
    "Is started by the berth server and ends with its standard input; it prints \"ready\" and "
    "what\n"
    "the driver can do, or \"unable\" and why not.\n";

struct Arguments {
    std::string socket;
    std::string driver = "libcuda.so.1";
    std::string nvml = "libnvidia-ml.so.1";
    std::optional<std::int64_t> host_memory;
};

base::Result<Arguments> read_arguments(const std::vector<std::string>& words) {
    Arguments arguments;
    for (std::size_t index = 0; index + 1 < words.size(); index += 2) {
        const std::string& value = words[index + 1];
        if (words[index] == "--socket") {
            arguments.socket = value;
        } else if (words[index] == "--driver") {
            arguments.driver = value;
        } else if (words[index] == "--nvml") {
            arguments.nvml = value;
        } else if (words[index] == "--host-memory") {
            BERTH_TRY(bytes, base::parse_bytes(value));
            arguments.host_memory = bytes.value;
        } else {
            return base::invalid("\"" + words[index] + "\" is no option; see --help");
        }
    }
    if (arguments.socket.empty() || words.size() % 2 != 0)
        return base::invalid("--socket PATH is missing; see --help");
    return arguments;
}

// The one before may still bring back what it has begun.
base::Result<supervision::Descriptor> listen(const std::string& socket) {
    constexpr int kTriesMax = 600;
    const std::size_t slash = socket.rfind('/');
    if (slash == std::string::npos) return base::invalid("--socket wants a path with a folder");
    BERTH_TRY(folder, runtime::Folder::make(socket.substr(0, slash), runtime::Openness::Private));
    for (int tries = 1;; ++tries) {
        auto listener =
            runtime::listen_at(folder, socket.substr(slash + 1), runtime::SocketKind::Stream, 0600);
        if (listener) return std::move(listener->socket);
        if (listener.error().code != base::ErrorCode::Exists || tries == kTriesMax)
            return tl::unexpected(listener.error());
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

int unable(const std::string& reason) {
    std::printf("unable %s\n", reason.c_str());
    return 1;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> words(values + 1, values + count);
    if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
        std::fputs(kUsage, stdout);
        return 0;
    }
    const auto arguments = read_arguments(words);
    if (!arguments) {
        std::fprintf(stderr, "berth-freezer: %s\n", arguments.error().message.c_str());
        return 2;
    }
    // All GPUs of the node, numbered as the server numbers them.
    ::unsetenv("CUDA_VISIBLE_DEVICES");
    ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    const auto driver = vgpu::freezer::Driver::open(arguments->driver);
    if (!driver) return unable(driver.error().message);
    const vgpu::freezer::GpuUse use(arguments->nvml);
    if (use.is_any_sliced()) return unable("GPUs are divided into slices (MIG)");
    const auto listener = listen(arguments->socket);
    if (!listener) return unable(listener.error().message);
    std::printf("ready %s\n", (*driver)->can_move() ? "moves" : "stays");
    std::fflush(stdout);
    vgpu::freezer::serve({**driver, use, arguments->host_memory}, *listener, STDIN_FILENO);
    return 0;
}
